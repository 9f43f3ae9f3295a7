"""The reader ``litellm`` against the server of faults: the same table as ``openai_chat``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import pytest

# Not imported here: where it is loaded is part of what is tested.
if find_spec("litellm") is None:
    pytest.skip("the reader litellm needs litellm: ragablate[litellm]", allow_module_level=True)

from chat_server import (
    BROKEN_JSON,
    CUT,
    DRIP,
    HANG,
    NO_CHOICES,
    NOT_JSON,
    ChatServer,
    Reply,
    busy,
    by_question,
    completion,
    crash,
    refusal,
)

from ragablate.errors import AdapterError
from ragablate.read.litellm import LiteLLM
from ragablate.read.openai_chat import seed_31
from ragablate.records import Answer, Failure, Item, Prompt, ReadRequest, Segment

QUICK = {"timeout_s": 20, "backoff_s": 0.01, "retries": 2, "max_concurrency": 4}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as each:
        yield each


def reader(server: ChatServer, **knobs: Any) -> LiteLLM:
    runtime = {**QUICK, **knobs.pop("runtime", {})}
    return LiteLLM("openai/scripted", server.url, runtime=runtime, **knobs)


def requests(count: int) -> list[ReadRequest]:
    return [
        ReadRequest(name, Prompt(name, f"{name}?", (Segment("user", f"Question: {name}?"),)), 1, i)
        for i, name in enumerate(f"q{i:03}" for i in range(count))
    ]


def read(each: LiteLLM, asked: Sequence[ReadRequest]) -> dict[str, Item[Answer]]:
    items = list(each.read(asked))
    assert sorted(i.id for i in items) == sorted(r.id for r in asked)
    return {item.id: item for item in items}


def failure(item: Item[Answer]) -> Failure:
    assert item.failure is not None
    return item.failure


def test_a_request_holds_what_was_configured(server: ChatServer) -> None:
    each = reader(
        server, temperature=0.5, top_p=0.9, max_tokens=7, stop=["\n"], send_seed=True,
        extra_body={"top_k": 3},
    )  # fmt: skip
    read(each, requests(2))
    asked = next(a for a in server.asked if a.asks("q001"))
    assert asked.path == "/v1/chat/completions"
    assert asked.body == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "Question: q001?"}],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 7,
        "stop": ["\n"],
        "seed": seed_31(1),
        "top_k": 3,
    }


def test_no_key_of_the_environment_goes_to_an_address_that_needs_none(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else-1234")
    read(reader(server), requests(1))
    assert "somebody" not in str(server.asked[0].headers)
    monkeypatch.setenv("CHAT_KEY", " sk-1234567890123456\n")
    read(reader(server, api_key_env="CHAT_KEY"), requests(1))
    assert server.asked[1].headers["authorization"] == "Bearer sk-1234567890123456"


def test_an_answer_has_what_the_provider_reports(server: ChatServer) -> None:
    server.script = lambda asked: completion("NO ANSWER", "length", "served", "fp_1")
    got = read(reader(server), requests(1))["q000"].value
    assert got is not None
    assert (got.text, got.abstained, got.finish_reason) == ("NO ANSWER", True, "length")
    assert got.model == "served@fp_1"
    assert got.usage == {"prompt_tokens": 50, "completion_tokens": 5}
    assert got.latency_s is not None
    assert got.latency_s > 0


def test_a_fingerprint_that_changes_half_way_shows(server: ChatServer) -> None:
    server.script = lambda asked: completion("a", fingerprint="a" if asked.number < 3 else "b")
    found = read(reader(server, runtime={"max_concurrency": 1}), requests(4))
    assert [i.value.model[-2:] for i in found.values() if i.value] == ["@a", "@a", "@b", "@b"]


PASSING: dict[str, tuple[Reply, str]] = {
    "429": (busy(), "429: litellm.RateLimitError: RateLimitError: OpenAIException - rate limit"),
    "500": (crash(), "500: litellm.InternalServerError"),
    "503": (crash(503), "503: litellm.ServiceUnavailableError"),
    "hang": (HANG, "no whole reply within runtime.timeout_s=1"),
    "drip": (DRIP, "no whole reply within runtime.timeout_s=1"),
    "cut": (CUT, "no reply: "),
    "broken json": (BROKEN_JSON, "no reply: "),
    "no json": (NOT_JSON, "no reply: "),
    "no choices": (NO_CHOICES, "no chat completion"),
}


@pytest.mark.parametrize("fault", PASSING)
def test_a_passing_fault_is_asked_again_by_us_alone(server: ChatServer, fault: str) -> None:
    reply, message = PASSING[fault]
    server.script = by_question({"q000?": [reply] * 2, "q001?": [reply] * 9})
    patience = {"timeout_s": 1.0} if fault in ("hang", "drip") else {}
    found = read(reader(server, runtime=patience), requests(3))
    assert found["q000"].value is not None
    assert failure(found["q001"]).kind == "infrastructure"
    assert message in failure(found["q001"]).message
    assert "attempt 3" in failure(found["q001"]).message
    assert len(server.asked) == 7


@pytest.mark.parametrize("finish", ["length", "content_filter", "stop"])
@pytest.mark.parametrize("text", ["", "Ada"])
def test_what_was_said_is_never_asked_for_again(server: ChatServer, finish: str, text: str) -> None:
    server.script = lambda asked: completion(text, finish)
    found = read(reader(server), requests(1))["q000"].value
    assert found is not None
    assert (found.text, found.finish_reason) == (text, finish)
    assert len(server.asked) == 1


def test_nothing_starts_before_the_provider_allows_it(server: ChatServer) -> None:
    server.script = by_question({"q000?": [busy("0.6")]})
    read(reader(server, runtime={"max_concurrency": 1}), requests(3))
    first, *later = [asked.at for asked in server.asked]
    assert min(later) - first >= 0.6


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (refusal(400, "This model's maximum context length is 10 tokens"), "exceeds the context"),
        (refusal(400, "flagged", code="content_policy_violation"), "a content filter refused"),
    ],
)
def test_what_a_prompt_brought_about_is_an_outcome(
    server: ChatServer, reply: Reply, said: str
) -> None:
    server.script = by_question({"q000?": [reply] * 9})
    found = read(reader(server), requests(3))
    assert failure(found["q000"]).kind == "pipeline"
    assert said in failure(found["q000"]).message
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_no_prompt_can_mend_ends_reading(server: ChatServer, status: int) -> None:
    server.script = lambda asked: refusal(status, "no")
    with pytest.raises(AdapterError, match=f"answers {status}"):
        list(reader(server).read(requests(50)))
    assert len(server.asked) <= 8


def test_a_quota_that_is_used_up_ends_reading(server: ChatServer) -> None:
    server.script = lambda asked: refusal(429, "You exceeded it", code="insufficient_quota")
    with pytest.raises(AdapterError, match="no quota is left"):
        list(reader(server).read(requests(5)))


def test_a_setting_the_provider_never_takes_ends_it_too(server: ChatServer) -> None:
    server.script = lambda asked: refusal(400, "Unsupported parameter: 'seed'")
    with pytest.raises(AdapterError, match="refuses every request, so a setting must be"):
        list(reader(server).read(requests(3)))


def test_a_provider_litellm_does_not_know_ends_it(server: ChatServer) -> None:
    each = LiteLLM("nobody-knows/it", runtime=QUICK)
    with pytest.raises(AdapterError, match="refuses every request"):
        list(each.read(requests(3)))


def test_as_many_are_open_at_once_as_allowed(server: ChatServer) -> None:
    server.script = lambda asked: completion("a", delay_s=0.1)
    read(reader(server), requests(12))
    assert server.at_once == 4


def test_a_second_batch_is_read_on_a_loop_of_its_own(server: ChatServer) -> None:
    each = reader(server)
    for _ in range(3):
        assert all(item.value for item in read(each, requests(2)).values())


def test_problems_name_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_THERE", raising=False)
    found = LiteLLM(" ", "ftp://x", "NOT_THERE", extra_body={"mock_response": "Ada"}).problems()
    for part in ("model is blank", "base_url is", "NOT_THERE", "extra_body.mock_response"):
        assert any(part in text for text in found), part
    assert LiteLLM("mistral/small").problems() == []


def test_the_adapter_loads_no_library_before_it_asks() -> None:
    import subprocess

    code = "import sys, ragablate.read.litellm as m; m.LiteLLM('a/b').problems(); " \
           "print(any(n in sys.modules for n in ('litellm', 'openai')))"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
