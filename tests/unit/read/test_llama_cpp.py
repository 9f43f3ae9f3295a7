"""The real reader with the real SmolLM2; skipped where they are not installed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragablate.errors import AdapterError
from ragablate.read.llama_cpp import LlamaCpp
from ragablate.records import (
    Answer,
    Context,
    ContextPassage,
    Failure,
    Item,
    Question,
    ReadRequest,
)

LACKING = [problem for problem in LlamaCpp().problems() if "pip install" in problem]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(LACKING), reason=" ".join(LACKING)),
]

BRIDGE = "The Zorbat bridge was opened by Ada Lind in 1887. It spans 340 metres."
TOWER = "The Quillon tower was built by Bo Karr. It has nine floors."
TRAMS = "Trams crossed the Zorbat bridge until 1951."


def reader(**settings: object) -> LlamaCpp:
    small: dict[str, object] = {
        "prompt": "question_last",
        "max_tokens": 16,
        "n_ctx": 512,
        "runtime": {"servers": 2, "threads": 1},
    }
    return LlamaCpp(**{**small, **settings})  # type: ignore[arg-type]


def asked(by: LlamaCpp, request_id: str, question: str, *texts: str, seed: int = 7) -> ReadRequest:
    context = Context(tuple(ContextPassage(f"p{i}", t, t) for i, t in enumerate(texts)))
    return ReadRequest(request_id, by.prompt(Question(request_id, question), context), 1, seed)


def batch(by: LlamaCpp) -> list[ReadRequest]:
    return [
        asked(by, "bridge", "Who opened the Zorbat bridge?", BRIDGE, TOWER, TRAMS),
        asked(by, "length", "How long is the Zorbat bridge?", BRIDGE),
        asked(by, "tower", "How many floors has the Quillon tower?", TRAMS, TOWER),
        asked(by, "nothing", "Who opened the Zorbat bridge?"),
    ]


def texts(items: Iterator[Item[Answer]]) -> dict[str, str]:
    return {item.id: item.value.text if item.value else str(item.failure) for item in items}


def gone(pid: int) -> bool:
    """Whether a process has ended, whether or not anybody took note of it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] in ("Z", "X")


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


@pytest.fixture(scope="module")
def greedy() -> Iterator[LlamaCpp]:
    made = reader()
    yield made
    made.close()


def pids(by: LlamaCpp) -> list[int]:
    assert by._fleet is not None
    return by._fleet.pids


# ── answers ─────────────────────────────────────────────────────────────────────────────


def test_a_question_is_answered_from_the_context(greedy: LlamaCpp) -> None:
    items = {item.id: item for item in greedy.read(batch(greedy))}
    assert items.keys() == {"bridge", "length", "tower", "nothing"}
    bridge = items["bridge"].value
    assert bridge is not None
    assert "Ada Lind" in bridge.text
    assert bridge.model == "SmolLM2-135M-Instruct.Q4_1@b179c9523d0e"
    assert bridge.usage["completion_tokens"] <= 16 < bridge.usage["prompt_tokens"]
    assert bridge.latency_s is not None
    nothing = items["nothing"].value
    assert nothing is not None
    assert "Ada Lind" not in nothing.text


def test_equal_prompts_get_equal_answers_in_any_order_and_company(greedy: LlamaCpp) -> None:
    requests = batch(greedy)
    first = texts(greedy.read(requests))
    assert not greedy.stochastic
    assert texts(greedy.read(requests[::-1])) == first
    assert texts(greedy.read(requests[1:2])) == {"length": first["length"]}
    other_seed = [asked(greedy, "bridge", "Who opened the Zorbat bridge?", BRIDGE, TOWER, TRAMS,
                        seed=8)]  # fmt: skip
    assert texts(greedy.read(other_seed)) == {"bridge": first["bridge"]}


def test_servers_and_threads_change_no_answer(greedy: LlamaCpp) -> None:
    requests = batch(greedy)
    other = reader(runtime={"servers": 1, "threads": 2})
    try:
        assert texts(other.read(requests)) == texts(greedy.read(requests))
        assert len(pids(other)) == 1
    finally:
        other.close()


def test_a_sampled_answer_is_repeated_by_its_seed() -> None:
    warm = reader(temperature=1.5, runtime={"servers": 1, "threads": 1})
    try:
        made = [
            asked(warm, str(seed), "Tell me of a bridge.", seed=seed << 40) for seed in range(4)
        ]
        first = texts(warm.read(made))
        assert texts(warm.read(made)) == first
        assert len(set(first.values())) > 1
        assert warm.stochastic
    finally:
        warm.close()


def test_an_answer_cut_off_says_so() -> None:
    short = reader(max_tokens=3, runtime={"servers": 1, "threads": 1})
    try:
        (item,) = short.read([asked(short, "bridge", "Who opened the Zorbat bridge?", BRIDGE)])
    finally:
        short.close()
    assert item.value is not None
    assert item.value.finish_reason == "length"
    assert item.value.usage["completion_tokens"] == 3


# ── failures ────────────────────────────────────────────────────────────────────────────


def test_a_prompt_that_does_not_fit_is_a_failure_and_the_others_are_answered(
    greedy: LlamaCpp,
) -> None:
    requests = [
        asked(greedy, "long", "Who opened it?", "bridge " * 600),
        asked(greedy, "bridge", "Who opened the Zorbat bridge?", BRIDGE),
    ]
    items = {item.id: item for item in greedy.read(requests)}
    assert items["bridge"].value is not None
    failure = items["long"].failure
    assert failure is not None
    assert failure.kind == "pipeline"
    head, _, tail = failure.message.partition(" tokens exceeds the context of 512: ")
    assert tail == "raise reader.n_ctx, as far as the model goes, or shorten the context"
    assert int(head.removeprefix("prompt of ")) > 600


def test_a_slow_answer_is_unmeasured() -> None:
    hasty = reader(runtime={"servers": 1, "threads": 1, "timeout_s": 0.001})
    try:
        (item,) = hasty.read([asked(hasty, "bridge", "Who opened it?", BRIDGE)])
    finally:
        hasty.close()
    assert item.failure == Failure(
        "infrastructure", "the model did not answer within runtime.timeout_s"
    )


def test_a_server_that_died_is_started_again() -> None:
    mortal = reader(max_tokens=8, runtime={"servers": 1, "threads": 1})
    try:
        requests = batch(mortal)[:1]
        first = texts(mortal.read(requests))
        (before,) = pids(mortal)
        os.kill(before, signal.SIGKILL)
        assert mortal._fleet is not None
        (server,) = mortal._fleet._servers
        assert server is not None
        assert eventually(lambda: not server.alive)
        assert texts(mortal.read(requests)) == first
        assert pids(mortal) != [before]
    finally:
        mortal.close()


def test_a_server_that_dies_while_it_answers_leaves_the_answer_unmeasured() -> None:
    mortal = reader(n_ctx=4096, runtime={"servers": 1, "threads": 1})
    try:
        list(mortal.read(batch(mortal)[:1]))
        (before,) = pids(mortal)
        # Some seconds of reading alone.
        request = asked(mortal, "tale", "Tell me all.", f"{BRIDGE} {TOWER} {TRAMS} " * 25)
        threading.Timer(0.2, os.kill, (before, signal.SIGKILL)).start()
        (item,) = mortal.read([request])
    finally:
        mortal.close()
    assert item.failure is not None
    assert item.failure.kind == "infrastructure"
    assert "llama.cpp server" in item.failure.message


def test_a_file_that_llama_cpp_cannot_load_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + b"\x03\x00\x00\x00" + b"\xff" * 64)
    broken = reader(model=str(path))
    assert broken.problems() == []
    with pytest.raises(AdapterError) as caught:
        list(broken.read(batch(broken)[:1]))
    said = str(caught.value)
    assert said.startswith(f"llama.cpp cannot serve {path}: ")
    assert "\n" not in said
    assert len(said.removeprefix(f"llama.cpp cannot serve {path}: ")) > 10


def test_a_model_that_takes_too_long_to_load_is_given_up() -> None:
    hasty = reader(runtime={"start_timeout_s": 0.001})
    with pytest.raises(AdapterError, match=r"not ready after 0.001 s, raise runtime.start_time"):
        list(hasty.read(batch(hasty)[:1]))


# ── the child process ───────────────────────────────────────────────────────────────────


def test_closing_ends_the_servers_and_reading_starts_new_ones() -> None:
    made = reader(max_tokens=2)
    requests = batch(made)[:2]
    first = texts(made.read(requests))
    before = pids(made)
    made.close()
    made.close()
    assert all(gone(pid) for pid in before)
    assert texts(made.read(requests)) == first
    made.close()


def test_leaving_a_batch_early_ends_what_is_in_flight() -> None:
    made = reader(max_tokens=400)
    items = made.read([*batch(made), asked(made, "tale", "Tell a long tale of many bridges.")])
    next(items)
    before = pids(made)
    items.close()  # type: ignore[attr-defined]
    assert before
    assert all(gone(pid) for pid in before)


def test_a_server_outlives_the_thread_that_started_it() -> None:
    made = reader(max_tokens=2, runtime={"servers": 1, "threads": 1})
    try:
        starter = threading.Thread(target=lambda: list(made.read(batch(made)[:1])))
        starter.start()
        starter.join()
        before = pids(made)
        time.sleep(1)
        assert not gone(before[0])
        list(made.read(batch(made)[:1]))
        assert pids(made) == before
    finally:
        made.close()


def test_nobody_else_can_ask_the_server(greedy: LlamaCpp) -> None:
    import httpx

    list(greedy.read(batch(greedy)[:1]))
    assert greedy._fleet is not None
    server = next(s for s in greedy._fleet._servers if s is not None)
    assert server.url.startswith("http://127.0.0.1:")
    body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}
    reply = httpx.post(server.url + "/v1/chat/completions", json=body, trust_env=False)
    assert reply.status_code == 401


PARENT = """
import sys
from ragablate.read.llama_cpp import LlamaCpp
from ragablate.records import Context, Question, ReadRequest

reader = LlamaCpp(max_tokens=2, n_ctx=512, runtime={"servers": 1, "threads": 1})
prompt = reader.prompt(Question("q", "Hello?"), Context())
for item in reader.read([ReadRequest("q", prompt, 1, 0)]):
    print("answered", flush=True)
sys.stdin.read()
"""


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("moment", ["while it starts", "while it serves"])
def test_no_server_survives_a_parent_that_is_killed(moment: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with parent:
        assert parent.stdout is not None
        if moment == "while it serves":
            assert parent.stdout.readline() == b"answered\n"
        assert eventually(lambda: bool(children(parent.pid)))
        found = children(parent.pid)
        parent.kill()
    assert all(eventually(lambda pid=pid: gone(pid)) for pid in found)  # type: ignore[misc]
