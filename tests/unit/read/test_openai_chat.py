from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="the reader openai_chat needs aiohttp: ragablate[chat]")

from chat_server import (
    BROKEN_JSON,
    CUT,
    DRIP,
    HANG,
    NO_CHOICES,
    NOT_JSON,
    Asked,
    ChatServer,
    Reply,
    busy,
    by_question,
    completion,
    crash,
    refusal,
)

from ragablate.errors import AdapterError
from ragablate.read.http_settling import EndpointError
from ragablate.read.openai_chat import OpenAIChat, seed_31
from ragablate.records import (
    Answer,
    Context,
    ContextPassage,
    Failure,
    Item,
    Prompt,
    Question,
    ReadRequest,
    Segment,
)

QUICK = {"timeout_s": 20, "backoff_s": 0.01, "retries": 2, "max_concurrency": 4}
TOO_LONG = refusal(400, "This model's maximum context length is 10 tokens")
UNKNOWN = refusal(400, "Unsupported parameter: 'seed'")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as each:
        yield each


def reader(server: ChatServer, **knobs: Any) -> OpenAIChat:
    runtime = {**QUICK, **knobs.pop("runtime", {})}
    return OpenAIChat(server.url, "scripted", runtime=runtime, **knobs)


def request(name: str, seed: int = 0) -> ReadRequest:
    segments = (Segment("system", "Answer."), Segment("user", f"Question: {name}?"))
    return ReadRequest(name, Prompt(name, f"{name}?", segments), 1, seed)


def requests(count: int) -> list[ReadRequest]:
    return [request(f"q{i:03}", i) for i in range(count)]


def read(each: OpenAIChat, asked: Sequence[ReadRequest]) -> dict[str, Item[Answer]]:
    items = list(each.read(asked))
    assert sorted(i.id for i in items) == sorted(r.id for r in asked)
    return {item.id: item for item in items}


def failure(item: Item[Answer]) -> Failure:
    assert item.failure is not None
    return item.failure


# ── what is sent ────────────────────────────────────────────────────────────────────────


def test_a_request_holds_what_was_configured_and_nothing_else(server: ChatServer) -> None:
    each = reader(
        server, temperature=0.5, top_p=0.9, max_tokens=7, stop=["\n"], extra_body={"top_k": 3}
    )
    read(each, [request("q", seed=2**40)])
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.body == {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Answer."},
            {"role": "user", "content": "Question: q?"},
        ],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 7,
        "stop": ["\n"],
        "seed": seed_31(2**40),
        "top_k": 3,
    }
    assert "authorization" not in asked.headers


def test_what_is_null_is_left_to_the_endpoint(server: ChatServer) -> None:
    each = reader(server, temperature=None, top_p=None, max_tokens=None, send_seed=False)
    read(each, [request("q")])
    assert set(server.asked[0].body) == {"model", "messages"}


def test_the_key_is_sent_without_white_space(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAT_KEY", " sk-1234567890123456\n")
    read(reader(server, api_key_env="CHAT_KEY"), [request("q")])
    assert server.asked[0].headers["authorization"] == "Bearer sk-1234567890123456"


def test_seeds_are_31_bits_and_stay_apart() -> None:
    seeds = [seed_31(n * 0x9E3779B97F4A7C15 % 2**63) for n in range(2000)]
    assert len(set(seeds)) == 2000
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert seed_31(5) == 5


def test_a_slash_at_the_end_of_the_address_does_not_matter(server: ChatServer) -> None:
    each = OpenAIChat(server.url + "/", "scripted", runtime=QUICK)
    read(each, [request("q")])
    assert server.asked[0].path == "/v1/chat/completions"


def test_a_proxy_of_the_environment_does_not_stand_before_this_machine(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert read(reader(server), [request("q")])["q"].value is not None


# ── what fails on its way ───────────────────────────────────────────────────────────────


PASSING: dict[str, tuple[Reply, str]] = {
    "429": (busy(), "429: rate limit reached"),
    "500": (crash(), "500: internal error"),
    "503": (crash(503), "503"),
    "hang": (HANG, "no whole reply within runtime.timeout_s=0.7"),
    "drip": (DRIP, "no whole reply within runtime.timeout_s=0.7"),
    "cut": (CUT, "no reply: "),
    "broken json": (BROKEN_JSON, "no chat completion"),
    "no json": (NOT_JSON, "no chat completion"),
    "no choices": (NO_CHOICES, "no chat completion"),
}


def patience(fault: str) -> dict[str, float]:
    return {"timeout_s": 0.7} if fault in ("hang", "drip") else {}


@pytest.mark.parametrize("fault", PASSING)
def test_a_passing_fault_is_asked_again_until_there_is_an_answer(
    server: ChatServer, fault: str
) -> None:
    server.script = by_question({"q000?": [PASSING[fault][0]] * 2})
    found = read(reader(server, runtime=patience(fault)), requests(3))
    assert all(item.value is not None for item in found.values())
    assert len(server.asked) == 5


@pytest.mark.parametrize("fault", PASSING)
def test_a_lasting_fault_is_infrastructure_and_never_an_answer(
    server: ChatServer, fault: str
) -> None:
    reply, message = PASSING[fault]
    server.script = by_question({"q000?": [reply] * 9})
    found = read(reader(server, runtime=patience(fault)), requests(3))
    assert failure(found["q000"]).kind == "infrastructure"
    assert message in failure(found["q000"]).message
    assert "attempt 3" in failure(found["q000"]).message
    assert sum(item.value is not None for item in found.values()) == 2
    assert len(server.asked) == 5


def test_a_refused_connection_is_infrastructure() -> None:
    with ChatServer() as gone:
        pass
    found = read(reader(gone), requests(3))
    assert {failure(item).kind for item in found.values()} == {"infrastructure"}


def test_no_retries_means_one_attempt(server: ChatServer) -> None:
    server.script = lambda asked: crash()
    read(reader(server, runtime={"retries": 0}), [request("q")])
    assert len(server.asked) == 1


@pytest.mark.parametrize("finish", ["length", "content_filter", "stop"])
@pytest.mark.parametrize("text", ["", "Ada"])
def test_an_answer_is_never_asked_for_again(server: ChatServer, finish: str, text: str) -> None:
    server.script = lambda asked: completion(text, finish)
    found = read(reader(server), [request("q")])["q"].value
    assert found is not None
    assert (found.text, found.finish_reason) == (text, finish)
    assert len(server.asked) == 1


def test_nothing_starts_before_the_endpoint_allows_it(server: ChatServer) -> None:
    server.script = by_question({"q000?": [busy("0.6")]})
    read(reader(server, runtime={"max_concurrency": 1}), requests(3))
    first, *later = [asked.at for asked in server.asked]
    assert len(later) == 3
    assert min(later) - first >= 0.6


def test_a_pause_the_endpoint_asks_for_holds_for_every_request(server: ChatServer) -> None:
    server.script = by_question(
        {"q000?": [busy("0.6")]}, lambda asked: completion("a", delay_s=0.2)
    )
    read(reader(server, runtime={"max_concurrency": 2}), requests(4))
    times = [asked.at for asked in server.asked]
    assert not [t for t in times if times[0] + 0.15 < t < times[0] + 0.6]


def test_a_wait_that_is_too_long_is_not_waited_for(server: ChatServer) -> None:
    server.script = by_question({"q000?": [busy("9999")]})
    start = time.monotonic()
    found = read(reader(server, runtime={"longest_wait_s": 5}), requests(2))
    assert time.monotonic() - start < 5
    assert failure(found["q000"]).message.endswith("asks to wait 9999 s (attempt 1, the last)")


# ── what the endpoint does not take ─────────────────────────────────────────────────────


def test_a_prompt_that_is_too_long_is_an_outcome_and_asked_once(server: ChatServer) -> None:
    server.script = by_question({"q000?": [TOO_LONG] * 9})
    found = read(reader(server), requests(3))
    assert failure(found["q000"]).kind == "pipeline"
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_a_wrong_request_ends_reading_at_once(server: ChatServer, status: int) -> None:
    server.script = lambda asked: refusal(status, "no")
    with pytest.raises(AdapterError, match=f"answers {status}"):
        list(reader(server).read(requests(50)))
    assert len(server.asked) <= 8


def test_answers_that_came_before_a_wrong_request_are_given_out(server: ChatServer) -> None:
    server.script = by_question({"q002?": [refusal(401, "key expired")]})
    found = []
    stream = reader(server, runtime={"max_concurrency": 1}).read(requests(5))
    with pytest.raises(AdapterError, match="key expired"):
        found.extend(stream)
    assert [item.id for item in found] == ["q000", "q001"]


def test_an_unexplained_refusal_beside_answers_is_an_outcome(server: ChatServer) -> None:
    server.script = by_question({"q000?": [UNKNOWN] * 9})
    found = read(reader(server), requests(4))
    assert failure(found["q000"]).kind == "pipeline"
    assert "Unsupported parameter" in failure(found["q000"]).message
    assert len(server.asked) == 4


def test_a_setting_the_endpoint_never_takes_ends_reading(server: ChatServer) -> None:
    server.script = lambda asked: UNKNOWN
    with pytest.raises(AdapterError, match="refuses every request, so a setting must be"):
        list(reader(server).read(requests(200)))
    assert len(server.asked) < 40


def test_so_it_does_where_fewer_are_asked_than_would_tell(server: ChatServer) -> None:
    server.script = lambda asked: UNKNOWN
    with pytest.raises(AdapterError, match="refuses every request"):
        list(reader(server).read(requests(3)))


def test_a_lone_refusal_is_unmeasured(server: ChatServer) -> None:
    server.script = lambda asked: UNKNOWN
    found = read(reader(server), requests(2))
    assert {failure(item).kind for item in found.values()} == {"infrastructure"}


def test_an_endpoint_that_answers_nothing_any_more_ends_reading(server: ChatServer) -> None:
    server.script = lambda asked: completion("a") if asked.number < 10 else crash()
    found = []
    stream = reader(server, runtime={"retries": 0}).read(requests(200))
    with pytest.raises(EndpointError, match="20 requests in a row got no answer") as raised:
        found.extend(stream)
    assert raised.value.exit_code == 1
    assert [item.value is not None for item in found] == [True] * 9 + [False] * 20
    assert len(server.asked) < 40


# ── how it is asked ─────────────────────────────────────────────────────────────────────


def test_as_many_are_asked_at_once_as_allowed_and_answers_come_as_they_are_ready(
    server: ChatServer,
) -> None:
    slow = completion("slow", delay_s=0.35)
    server.script = by_question({"q000?": [slow]}, lambda asked: completion("a", delay_s=0.05))
    found = [item.id for item in reader(server).read(requests(12))]
    assert server.at_once == 4
    assert found.index("q000") > 4


def test_requests_begin_in_their_order(server: ChatServer) -> None:
    each = reader(server, runtime={"max_concurrency": 1})
    read(each, requests(6))
    assert [asked.prompt[-5:] for asked in server.asked] == [f"q{i:03}?" for i in range(6)]


def test_rates_are_kept(server: ChatServer) -> None:
    read(reader(server, runtime={"requests_per_minute": 600}), requests(6))
    times = [asked.at for asked in server.asked]
    assert times[-1] - times[0] >= 0.5 - 0.05


def test_token_rates_are_kept_by_what_was_really_used(server: ChatServer) -> None:
    # 55 tokens a reply; the longest answer would have cost ten times as many.
    server.script = lambda asked: completion("a")
    each = reader(
        server, max_tokens=500, runtime={"tokens_per_minute": 33_000, "max_concurrency": 1}
    )
    read(each, requests(6))
    times = [asked.at for asked in server.asked]
    assert 0.4 < times[-1] - times[0] < 3


def test_closing_early_stops_asking_and_leaves_no_thread(server: ChatServer) -> None:
    server.script = lambda asked: completion("a", delay_s=0.0 if asked.number == 1 else 30.0)
    before = threading.active_count()
    with closing(reader(server, runtime={"timeout_s": 60}).read(requests(50))) as stream:  # type: ignore[type-var]
        next(stream)
    asked = len(server.asked)
    assert threading.active_count() == before
    time.sleep(0.2)
    assert len(server.asked) == asked <= 6


def test_an_empty_batch_asks_nothing_and_starts_no_thread() -> None:
    before = threading.active_count()
    assert list(OpenAIChat("http://127.0.0.1:9/v1", "m").read([])) == []
    assert threading.active_count() == before


def test_a_reader_can_be_used_again(server: ChatServer) -> None:
    each = reader(server)
    assert len(read(each, requests(3))) == len(read(each, requests(3))) == 3


def test_several_readers_are_asked_in_one_order_within_shared_places(server: ChatServer) -> None:
    server.script = lambda asked: completion(asked.body["messages"][0]["content"], delay_s=0.03)
    one, two = reader(server), reader(server, prompt="strict", temperature=0.1)
    mixed = [((one, two)[i % 2], request(f"q{i // 2:03}")) for i in range(24)]
    found = list(OpenAIChat.read_together(mixed))
    assert sorted((id(r), i.id) for r, i in found) == sorted((id(r), q.id) for r, q in mixed)
    assert server.at_once == 4
    temperatures = [asked.body["temperature"] for asked in server.asked]
    # Up to the few that are on their way at one time, the order is the given one.
    assert all(abs(temperatures[:n].count(0.0) - n / 2) <= 4 for n in range(25))


def test_a_reader_with_a_wrong_setting_does_not_hide_behind_another(server: ChatServer) -> None:
    def script(asked: Asked) -> Reply:
        return UNKNOWN if asked.body["temperature"] else completion("a")

    server.script = script
    good, bad = reader(server), reader(server, temperature=1.0)
    mixed = [((good, bad)[i % 2], request(f"q{i:03}")) for i in range(12)]
    with pytest.raises(AdapterError, match="refuses every request"):
        list(OpenAIChat.read_together(mixed))


# ── prompts, cost, identity ─────────────────────────────────────────────────────────────


def test_the_prompt_is_the_template_filled_in(server: ChatServer) -> None:
    each = reader(server, prompt="cite")
    context = Context((ContextPassage("p1", "Ada opened it.", "Ada opened it."),))
    prompt = each.prompt(Question("q", "Who?"), context)
    found = read(each, [ReadRequest("q", prompt, 1, 0)])["q"].value
    assert found is not None
    assert found.text == "Ada opened it."
    assert [message["role"] for message in server.asked[0].body["messages"]] == ["system", "user"]


def test_the_fingerprint_follows_the_template_and_not_its_name(tmp_path: Any) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.txt").write_text("user:\n{question} {passages}\n")
    paths = [str(tmp_path / folder / "mine.txt") for folder in ("a", "b")]
    readers = [OpenAIChat("http://h/v1", "m", prompt=path) for path in paths]
    assert readers[0].identity() == readers[1].identity()
    (tmp_path / "b" / "mine.txt").write_text("user:\n{question}\n{passages}\n")
    assert readers[0].identity() != readers[1].identity()


def test_it_samples_above_temperature_0_or_where_the_endpoint_decides() -> None:
    def stochastic(temperature: float | None) -> bool:
        return OpenAIChat("http://h/v1", "m", temperature=temperature).stochastic

    assert [stochastic(t) for t in (0.0, 0.1, None)] == [False, True, True]
    assert OpenAIChat.remote


PRICES = {"prices": {"scripted": {"prompt": 1.0, "completion": 4.0}}}


def test_an_answer_costs_what_its_tokens_do(server: ChatServer) -> None:
    each = reader(server, runtime=PRICES)
    answer = read(each, [request("q")])["q"].value
    assert answer is not None
    assert each.cost_usd(answer) == pytest.approx((50 * 1 + 5 * 4) / 1e6)
    assert each.cost_usd(Answer("no usage")) is None
    assert reader(server).cost_usd(answer) is None


def test_the_most_a_call_can_cost_is_known_with_a_price_and_a_longest_answer(
    server: ChatServer,
) -> None:
    each = reader(server, max_tokens=100, runtime=PRICES)
    most = each.most_usd(request("q"))
    assert most is not None
    assert (len("Answer.Question: q?") + 100 * 4) / 1e6 < most < (1000 + 100 * 4) / 1e6
    assert reader(server).most_usd(request("q")) is None
    assert reader(server, max_tokens=None, runtime=PRICES).most_usd(request("q")) is None
    longer = reader(
        server, max_tokens=None, extra_body={"max_completion_tokens": 900}, runtime=PRICES
    )
    assert (longer.most_usd(request("q")) or 0) > most
