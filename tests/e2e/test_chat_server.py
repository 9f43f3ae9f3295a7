"""Whole executions against a real HTTP server that fails as a script says.

The rule that every test comes back to: what the infrastructure does is never a wrong answer.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests_support import ask, write_dataset

pytest.importorskip("aiohttp", reason="the reader openai_chat needs aiohttp: ragablate[chat]")

from chat_server import (
    BROKEN_JSON,
    CUT,
    DRIP,
    HANG,
    NO_CHOICES,
    NOT_JSON,
    PASSAGE,
    Asked,
    ChatServer,
    Reply,
    busy,
    completion,
    crash,
    first_passage,
    refusal,
)

from ragablate import session
from ragablate.errors import AdapterError, BudgetError
from ragablate.sentinel import ASKED_AGAIN
from ragablate.session import Outcome
from ragablate.traces import TraceLine

pytestmark = pytest.mark.usefixtures("hydra")

NAMES = (
    "Zorbat", "Mirrin", "Tollow", "Vellis", "Ostram", "Sundal", "Krallen", "Brandt", "Quorin",
    "Fennick", "Gralbo", "Hestal", "Ivory", "Jandel", "Koppel", "Lurden", "Mosker", "Nalvik",
    "Orbish", "Pendra", "Rastun", "Selwick", "Tarvos", "Ulmen",
)  # fmt: skip
QUESTIONS = {name: f"When was the {name} Bridge opened?" for name in NAMES}
UNIQUE = 2 * len(NAMES)
"""Calls of a plan with two arms that share no prompt."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One passage a question; the answer is in it."""
    passages, questions = [], []
    for i, (name, text) in enumerate(QUESTIONS.items()):
        passages.append((f"p{i}", f"{name} Bridge", f"The {name} Bridge was opened in {1800 + i}."))
        questions.append(ask(name, text, str(1800 + i), f"p{i}"))
    return write_dataset(tmp_path / "bridges", passages, questions)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as each:
        yield each


def overrides(server: ChatServer, data: Path, *more: str) -> list[str]:
    return [
        "dataset=jsonl",
        f"dataset.path={data}",
        f"outputs={data.parent / 'outputs'}",
        "reader=openai_chat",
        f"reader.base_url={server.url}",
        "reader.model=scripted",
        "reader.runtime.backoff_s=0.02",
        "experiment=closed_book",
        "judge=[correct,abstention]",
        *more,
    ]


@pytest.fixture
def run(server: ChatServer, data: Path) -> Callable[..., Outcome]:
    return lambda *more: session.run(overrides(server, data, *more))


def correct(outcome: Outcome, arm: str = "control") -> dict[str, float | None]:
    return {qid: v[0] for qid, v in outcome.bundle.study().scores[arm]["correct"].items()}


def traces(outcome: Outcome, arm: str = "control") -> dict[str, TraceLine]:
    return {line.qid: line for line in outcome.bundle.traces[arm]}


def labels(outcome: Outcome) -> set[str]:
    return {conclusion.label for conclusion in outcome.comparison.conclusions}


def proof(outcome: Outcome, contrast: str, invariant: str) -> Any:
    return next(p for p in outcome.bundle.proofs[contrast] if p.invariant == invariant)


def named(asked: Asked) -> str:
    return next(name for name, text in QUESTIONS.items() if asked.asks(text))


def to_control(replies: Mapping[str, Sequence[Reply]]) -> Callable[[Asked], Reply]:
    """These replies, one an attempt, to the prompts that show passages."""

    def script(asked: Asked) -> Reply:
        some = replies.get(named(asked), ()) if PASSAGE.search(asked.prompt) else ()
        return some[asked.attempt - 1] if asked.attempt <= len(some) else first_passage(asked)

    return script


# ── every fault, once ───────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Fault:
    """What is sent to every attempt, and what must come of it."""

    replies: Sequence[Reply]
    attempts: int
    kind: str | None
    """Kind of the failure; None for an answer."""
    value: float | None
    """Whether it is a correct answer; None for unmeasured."""
    finish: str = ""


LASTING = 99
HALF = completion("The year in", "length")
WHOLE = completion("It was 1810, so", "length")
FAULTS: dict[str, Fault] = {
    "429 with Retry-After, then an answer": Fault([busy("0.5")], 2, None, 1.0, "stop"),
    "429 for ever": Fault([busy()] * LASTING, 2, "infrastructure", None),
    "500, then an answer": Fault([crash()], 2, None, 1.0, "stop"),
    "500 for ever": Fault([crash()] * LASTING, 2, "infrastructure", None),
    "hang": Fault([HANG] * LASTING, 2, "infrastructure", None),
    "slow body": Fault([DRIP] * LASTING, 2, "infrastructure", None),
    "broken JSON": Fault([BROKEN_JSON] * LASTING, 2, "infrastructure", None),
    "a page instead of JSON": Fault([NOT_JSON] * LASTING, 2, "infrastructure", None),
    "empty choices": Fault([NO_CHOICES] * LASTING, 2, "infrastructure", None),
    "reset in the middle": Fault([CUT] * LASTING, 2, "infrastructure", None),
    "cut off, the answer is there": Fault([WHOLE], 1, None, 1.0, "length"),
    "cut off before the answer": Fault([HALF], 1, None, 0.0, "length"),
    "filtered answer": Fault([completion("", "content_filter")], 1, None, 0.0, "content_filter"),
    "filtered prompt": Fault([refusal(400, "no", code="content_filter")], 1, "pipeline", 0.0),
    "empty answer": Fault([completion("")], 1, None, 0.0, "stop"),
    "no content": Fault([completion(None)], 1, None, 0.0, "stop"),
    "too long": Fault([refusal(400, "no", code="context_length_exceeded")], 1, "pipeline", 0.0),
    "unexplained refusal": Fault([refusal(422, "no")], 1, "pipeline", 0.0),
    "another model answers": Fault([completion("1818", model="other")], 1, None, 1.0, "stop"),
}  # fmt: skip
BY_NAME = dict(zip(NAMES, FAULTS.values(), strict=False))


def test_every_fault_is_counted_and_judged_as_what_it_is(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    server.script = to_control({name: fault.replies for name, fault in BY_NAME.items()})
    patience = ("reader.runtime.retries=1", "reader.runtime.timeout_s=2.5")
    outcome = run(*patience)

    control = traces(outcome)
    found = {
        name: (
            sum(named(a) == name and bool(PASSAGE.search(a.prompt)) for a in server.asked),
            line.error.kind if (line := control[name]).error is not None else None,
            correct(outcome)[name],
            line.finish_reason,
        )
        for name in NAMES
    }
    healthy = Fault((), 1, None, 1.0, "stop")
    wanted = {name: BY_NAME.get(name, healthy) for name in NAMES}
    assert found == {n: (f.attempts, f.kind, f.value, f.finish) for n, f in wanted.items()}
    # The other arm was never touched: one attempt a prompt.
    assert len(server.asked) == sum(f.attempts for f in wanted.values()) + len(NAMES)
    lost = [name for name, fault in wanted.items() if fault.kind == "infrastructure"]
    effect = next(e for e in outcome.comparison.effects if e.role == "primary")
    assert effect.unmeasured == len(lost)
    assert control["Orbish"].model == "other"

    # The next execution asks again for what was lost, and for nothing else.
    server.asked.clear()
    server.script = first_passage
    again = run(*patience)
    assert Counter(map(named, server.asked)) == Counter(lost)
    assert {correct(again)[name] for name in lost} == {1.0}
    kept = {name: correct(outcome)[name] for name in NAMES if name not in lost}
    assert {name: correct(again)[name] for name in kept} == kept


PASSING = [busy(), busy("0"), crash(), crash(503), CUT, BROKEN_JSON, NOT_JSON, NO_CHOICES]


@pytest.mark.parametrize("seed", range(2))
def test_random_faults_lose_answers_and_never_change_one(
    server: ChatServer, run: Callable[..., Outcome], seed: int
) -> None:
    random_ = random.Random(seed)
    scripted: dict[str, list[Reply]] = {
        name: random_.choices(PASSING, k=random_.choice([0, 0, 1, 2, 3, 5])) for name in NAMES
    }
    server.script = to_control(scripted)
    outcome = run("reader.runtime.retries=2")
    attempts = Counter(named(a) for a in server.asked if PASSAGE.search(a.prompt))
    assert attempts == {name: min(len(faults) + 1, 3) for name, faults in scripted.items()}
    expected = {name: None if len(faults) > 2 else 1.0 for name, faults in scripted.items()}
    assert correct(outcome) == expected
    assert set(correct(outcome, "context=closed_book").values()) == {0.0}


# ── wrong requests, interrupts, budgets ─────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (refusal(401, "bad key"), "answers 401, it does not accept the API key"),
        (refusal(404, "no model 'scripted'"), "answers 404, it knows no such address or model"),
        (refusal(400, "no temperature here"), "refuses every request, so a setting must be"),
    ],
)
def test_a_wrong_request_stops_at_once_and_resumes_once_it_is_right(
    server: ChatServer, run: Callable[..., Outcome], reply: Reply, told: str
) -> None:
    server.script = lambda asked: reply
    with pytest.raises(AdapterError, match=told):
        run()
    assert len(server.asked) < UNIQUE
    server.script = first_passage
    assert run().calls == UNIQUE


def test_an_endpoint_that_dies_half_way_keeps_what_it_answered(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    server.script = lambda asked: first_passage(asked) if asked.number <= 20 else crash()
    with pytest.raises(AdapterError, match="20 requests in a row got no answer"):
        run("reader.runtime.retries=0", "reader.runtime.max_concurrency=4")
    server.script = first_passage
    assert run().calls == UNIQUE - 20


def test_a_budget_of_calls_stops_and_the_same_command_resumes(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    for spent in (20, 40):
        with pytest.raises(BudgetError, match=r"budget reached \(budget\.max_calls=20\)"):
            run("budget.max_calls=20")
        assert len(server.asked) == spent
    assert run("budget.max_calls=20").calls == UNIQUE - 40
    assert len(server.asked) == len({json.dumps(a.body) for a in server.asked}) == UNIQUE


def test_a_budget_of_money_is_never_passed(server: ChatServer, run: Callable[..., Outcome]) -> None:
    # A reply is 50 tokens for 5 and costs 70 millionths of a dollar; by its bytes and its longest
    # answer, no call can cost more than 1500.
    priced = (
        "reader.runtime.prices={scripted: {prompt: 1, completion: 4}}",
        "reader.max_tokens=20",
    )
    with pytest.raises(BudgetError, match=r"budget reached \(budget\.max_usd=0\.003\)"):
        run(*priced, "budget.max_usd=0.003")
    assert 0.003 - 1500e-6 < len(server.asked) * 70e-6 <= 0.003
    run(*priced, "budget.max_usd=1")
    assert len(server.asked) == UNIQUE


def test_a_budget_of_money_needs_prices(server: ChatServer, run: Callable[..., Outcome]) -> None:
    with pytest.raises(Exception, match=r"give the price of the model in reader\.runtime\.prices"):
        run("budget.max_usd=1")
    assert server.asked == []


JUDGE = (
    "reader=extractive",
    "judge=[correct_llm,abstention]",
    "judge.correct_llm.endpoint.model=scripted",
    "judge.correct_llm.endpoint.runtime.backoff_s=0.02",
)


def judged(server: ChatServer, data: Path, *more: str) -> list[str]:
    own = [o for o in overrides(server, data) if not o.startswith(("reader", "judge"))]
    return [*own, *JUDGE, f"judge.correct_llm.endpoint.base_url={server.url}", *more]


def test_calls_of_a_judge_count_in_the_budget_and_none_is_paid_for_twice(
    server: ChatServer, data: Path
) -> None:
    server.script = lambda asked: completion("right")
    unlimited = session.run(judged(server, data, f"outputs={data.parent / 'once'}"))
    needed = len(server.asked)
    assert needed > 15
    server.asked.clear()
    spent = unlimited.calls - needed  # the extractive reader's own
    for asked in (7, 14):
        limit = 7 + (spent if asked == 7 else 0)
        with pytest.raises(BudgetError, match=r"budget reached \(budget\.max_calls="):
            session.run(judged(server, data, f"budget.max_calls={limit}"))
        assert len(server.asked) == asked
    resumed = session.run(judged(server, data))
    assert len(server.asked) == needed
    assert resumed.calls == needed - 14
    assert correct(resumed) == correct(unlimited)


def test_the_money_of_a_judge_is_limited_too(server: ChatServer, data: Path) -> None:
    server.script = lambda asked: completion("right")
    with pytest.raises(Exception, match=r"models? that judges in the same places of its endpoint"):
        session.run(judged(server, data, "budget.max_usd=1"))
    assert server.asked == []
    priced = (
        "judge.correct_llm.endpoint.runtime.prices={scripted: {prompt: 1, completion: 4}}",
        "judge.correct_llm.endpoint.max_tokens=20",
    )
    with pytest.raises(BudgetError, match=r"budget reached \(budget\.max_usd=0\.002\)"):
        session.run(judged(server, data, *priced, "budget.max_usd=0.002"))
    assert 0 < len(server.asked) * 70e-6 <= 0.002
    session.run(judged(server, data, *priced, "budget.max_usd=1"))
    again = [json.dumps(a.body) for a in server.asked]
    assert len(again) == len(set(again))


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "ragablate.cli", *arguments]


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_an_interrupt_ends_promptly_and_the_same_command_resumes(
    server: ChatServer, data: Path
) -> None:
    server.script = lambda asked: first_passage(asked) if asked.number <= 10 else HANG
    child = subprocess.Popen(
        command("run", *overrides(server, data)),
        cwd=data.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while len(server.asked) < 18 and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    start = time.monotonic()
    _, complaint = child.communicate(timeout=60)
    assert time.monotonic() - start < 10
    assert child.returncode == 130
    assert "interrupted; finished work is kept" in complaint
    assert "Traceback" not in complaint
    server.script = first_passage
    assert session.run(overrides(server, data)).calls == UNIQUE - 10


# ── drift, caches, order ────────────────────────────────────────────────────────────────


def test_a_fingerprint_that_changes_half_way_confounds(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    server.script = lambda asked: first_passage(
        asked, fingerprint="fp_a" if asked.number <= UNIQUE // 2 else "fp_b"
    )
    outcome = run()
    assert labels(outcome) == {"confounded"}
    found = proof(outcome, "closed_book/closed_book", "INV-15")
    assert "scripted@fp_a, scripted@fp_b" in found.text
    assert "confounded" in (outcome.folder / "report.md").read_text(encoding="utf-8").lower()


def test_a_model_that_is_replaced_between_two_executions_of_a_plan_confounds_it(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    server.script = lambda asked: first_passage(asked, model="old")
    with pytest.raises(BudgetError):
        run("budget.max_calls=20")
    server.script = lambda asked: first_passage(asked, model="new")
    assert labels(run()) == {"confounded"}


WIDER = (
    "experiment=[closed_book,swap_reader]",
    "experiment.swap_reader.variable=reader.prompt",
    "experiment.swap_reader.treatments=[strict]",
)


def test_stored_answers_are_asked_for_again_where_another_plan_takes_them(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    run()
    server.asked.clear()
    outcome = run(*WIDER)
    assert len(server.asked) == outcome.calls == len(NAMES) + ASKED_AGAIN
    found = proof(outcome, "closed_book/closed_book", "INV-15")
    assert found.status == "pass"
    assert f"{ASKED_AGAIN} stored ones came out the same again" in found.text
    # The same plan once more asks nothing, and says the same.
    effects = (outcome.folder / "effects.json").read_bytes()
    server.asked.clear()
    again = run(*WIDER)
    assert server.asked == []
    assert (again.folder / "effects.json").read_bytes() == effects


def test_a_model_that_drifts_between_two_plans_lowers_the_label(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    run()
    server.script = lambda asked: completion("1999")
    outcome = run(*WIDER)
    found = proof(outcome, "closed_book/closed_book", "INV-15")
    assert found.status == "warn"
    assert f"{ASKED_AGAIN} of {ASKED_AGAIN} answers" in found.text
    assert "came out differently" in found.text
    assert "causal" not in labels(outcome)


def test_a_model_that_another_plan_knew_by_another_name_confounds(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    server.script = lambda asked: first_passage(asked, fingerprint="fp_a")
    run()
    server.script = lambda asked: first_passage(asked, fingerprint="fp_b")
    outcome = run("experiment=[closed_book]", "limit=22")
    found = proof(outcome, "closed_book/closed_book", "INV-15")
    assert "of another model: scripted@fp_a, scripted@fp_b" in found.text
    assert labels(outcome) == {"confounded"}


def test_one_model_throughout_confounds_nothing(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    server.script = lambda asked: first_passage(asked, fingerprint="fp_a")
    outcome = run()
    assert labels(outcome) <= {"causal", "causal with limits"}
    assert {line.model for line in traces(outcome).values()} == {"scripted@fp_a"}
    line = traces(outcome)["Zorbat"]
    assert line.usage == {"prompt_tokens": 50, "completion_tokens": 5}
    assert line.latency_s is not None
    assert line.latency_s > 0


def sampled(asked: Asked) -> Reply:
    """What a server that samples gives: above temperature 0 it depends on the seed."""
    drawn = f" ({asked.body['seed']})" if asked.body["temperature"] else ""
    found = PASSAGE.search(asked.prompt)
    return completion((found[1] if found else "NO ANSWER") + drawn)


def test_a_server_that_caches_across_seeds_and_temperatures_is_found(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    cache: dict[str, Reply] = {}
    server.script = lambda asked: cache.setdefault(asked.prompt, sampled(asked))
    sampling = ("reader.temperature=0.7", "replicates=2")
    outcome = run(*sampling)
    found = proof(outcome, "closed_book/closed_book", "INV-10")
    assert (found.status, found.consequence) == ("fail", "refuse")
    assert "a cache is serving replicates" in found.text
    assert labels(outcome) == {"refused"}


def test_a_cache_between_two_temperatures_is_not_taken_for_no_difference(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    cache: dict[str, Reply] = {}
    server.script = lambda asked: cache.setdefault(asked.prompt, sampled(asked))
    two = (
        "experiment=swap_reader",
        "experiment.swap_reader.variable=reader.temperature",
        "experiment.swap_reader.treatments=[0.7]",
    )
    found = proof(run(*two), "swap_reader/0.7", "INV-10")
    assert found.status == "warn"
    assert "a cache that knows nothing but the prompt looks the same" in found.text
    server.script = sampled
    assert proof(run(*two, "seed=1"), "swap_reader/0.7", "INV-10").status == "pass"


def test_a_server_that_samples_is_not_taken_for_a_cache(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    server.script = sampled
    outcome = run("reader.temperature=0.7", "replicates=2")
    assert proof(outcome, "closed_book/closed_book", "INV-10").status == "pass"
    assert len({a.body["seed"] for a in server.asked}) == 2 * len(NAMES)


def test_two_readers_are_asked_in_one_shuffled_order(
    server: ChatServer, run: Callable[..., Outcome]
) -> None:
    server.script = lambda asked: first_passage(asked, delay_s=0.1)
    outcome = run(
        "experiment=swap_reader",
        "experiment.swap_reader.variable=reader.prompt",
        "experiment.swap_reader.treatments=[strict]",
        "reader.runtime.max_concurrency=6",
    )
    strict = ["from nothing else" in asked.prompt for asked in server.asked]
    assert len(strict) == UNIQUE
    runs = 1 + sum(a != b for a, b in pairwise(strict))
    assert runs > UNIQUE / 4
    assert server.at_once == 6
    assert proof(outcome, "swap_reader/strict", "INV-15").status == "pass"


# ── the API key ─────────────────────────────────────────────────────────────────────────

KEY = "sk-Q7wzSECRET0123456789abcdef"


def test_the_key_is_found_nowhere_after_a_failing_and_a_succeeding_execution(
    server: ChatServer, data: Path
) -> None:
    asked = overrides(server, data, "reader.api_key_env=CHAT_SECRET", "reader.runtime.retries=1")

    def call(verb: str, *more: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command(verb, *asked, *more),
            cwd=data.parent,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "CHAT_SECRET": KEY,
                "HYDRA_FULL_ERROR": "1",
            },
            capture_output=True,
            timeout=300,
            check=False,
        )

    def quoting(status: int) -> Callable[[Asked], Reply]:
        return lambda asked: refusal(status, f"wrong key: {asked.headers['authorization']}")

    # A server that quotes the key in everything it says.
    server.script = quoting(401)
    refused = call("run")
    lost = {name: [quoting(500)(a) for a in server.asked[:1]] * 9 for name in NAMES[:3]}

    def parrot(asked: Asked) -> Reply:
        some = lost.get(named(asked), ())
        if some:
            return some[0]
        found = PASSAGE.search(asked.prompt)
        return completion(f"{found[1] if found else ''} {KEY}", model=KEY, fingerprint=KEY)

    server.script = parrot
    succeeded = call("run")
    shown = [call("check"), call("run", "--cfg", "job"), call("run", "--info", "all")]

    assert refused.returncode == 2
    assert b"[API key]" in refused.stderr
    assert succeeded.returncode == 0, succeeded.stderr
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    for done in (refused, succeeded, *shown):
        assert KEY.encode() not in done.stdout + done.stderr
    assert b"api_key_env: CHAT_SECRET" in shown[1].stdout
    files = [path for path in data.parent.rglob("*") if path.is_file()]
    assert any(path.name == "MANIFEST" for path in files)
    assert any(b"[API key]" in path.read_bytes() for path in files)
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
