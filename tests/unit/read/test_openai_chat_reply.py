from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.codec import encode
from ragablate.errors import AdapterError
from ragablate.read.http_reply import Reading, Transient, Unexplained
from ragablate.records import Answer, Failure

READING = Reading("asked-for", "NO ANSWER", "sk-0123456789abcdef")
KEY = READING.key


def meaning(status: int, content: Any, headers: dict[str, str] | None = None) -> Any:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return READING.meaning(status, headers or {}, body, 0.25)


def completion(**change: Any) -> dict[str, Any]:
    choice = {"message": {"content": "Ada Lind"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    return {"model": "served", "choices": [choice], "usage": usage, **change}


def chosen(content: Any, finish: Any = "stop", **message: Any) -> dict[str, Any]:
    return completion(
        choices=[{"message": {"content": content, **message}, "finish_reason": finish}]
    )


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


# ── answers ─────────────────────────────────────────────────────────────────────────────


def test_an_answer_has_text_model_usage_finish_reason_and_latency() -> None:
    assert meaning(200, completion()) == Answer(
        "Ada Lind",
        finish_reason="stop",
        model="served",
        usage={"prompt_tokens": 7, "completion_tokens": 2},
        latency_s=0.25,
    )


def test_the_fingerprint_stands_behind_the_served_model() -> None:
    assert meaning(200, completion(system_fingerprint="fp_1")).model == "served@fp_1"
    assert meaning(200, completion(system_fingerprint=None)).model == "served"
    assert meaning(200, completion(system_fingerprint="")).model == "served"


@pytest.mark.parametrize("model", [None, "", "  ", 7])
def test_a_reply_that_names_no_model_counts_for_the_one_asked_for(model: Any) -> None:
    assert meaning(200, completion(model=model)).model == "asked-for"


@pytest.mark.parametrize("content", [None, "", []])
def test_an_empty_answer_is_an_answer(content: Any) -> None:
    got = meaning(200, chosen(content))
    assert isinstance(got, Answer)
    assert (got.text, got.abstained) == ("", False)


@pytest.mark.parametrize("finish", ["stop", "length", "content_filter", "tool_calls"])
def test_how_an_answer_ended_is_kept(finish: str) -> None:
    assert meaning(200, chosen("Ada", finish)).finish_reason == finish
    assert meaning(200, chosen(None, finish)).finish_reason == finish


def test_an_answer_that_does_not_tell_how_it_ended_did_not_stop_for_sure() -> None:
    assert meaning(200, chosen("Ada", None)).finish_reason == "unknown"


def test_a_refusal_beside_the_content_is_what_the_user_reads() -> None:
    assert meaning(200, chosen(None, refusal="I'm sorry.")).text == "I'm sorry."


def test_an_answer_in_parts_is_put_together() -> None:
    parts = [{"type": "text", "text": "Ada "}, {"type": "image"}, {"type": "text", "text": "Lind"}]
    assert meaning(200, chosen(parts)).text == "Ada Lind"


def test_the_sentinel_is_an_abstention() -> None:
    assert meaning(200, chosen("no answer.")).abstained
    assert not meaning(200, chosen("Ada")).abstained


@pytest.mark.parametrize(
    "usage", [None, 3, {}, {"prompt_tokens": "7"}, {"prompt_tokens": True}, {"other": 1}]
)
def test_usage_that_is_not_told_is_left_out_and_never_zero(usage: Any) -> None:
    assert meaning(200, completion(usage=usage)).usage == {}


def test_half_a_surrogate_pair_can_be_stored() -> None:
    got = meaning(200, b'{"choices": [{"message": {"content": "a\\ud800b"}}], "model": "\\udfff"}')
    assert got.text == "a�b"
    assert encode(got)


# ── replies that are none ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'"text"',
        b"7",
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": "no"}',
        b'{"choices": [null]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b'{"choices": [{"message": {"content": [7]}}]}',
        b'{"choices": [{"message": {"content": [{"type": "text"}]}}]}',
        b'{"choices": [{"text": "a completion, no chat"}]}',
        b'{"choices": [{"message": {"content": "cut',
        b"<html>Bad gateway</html>",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"error": {"message": "no code"}}',
        b'{"error": "text"}',
    ],
)
def test_what_is_no_chat_completion_is_infrastructure(body: bytes) -> None:
    got = meaning(200, body)
    assert got == Transient("the endpoint sent a reply that is no chat completion")


def test_an_answer_that_ended_in_an_error_is_infrastructure() -> None:
    assert isinstance(meaning(200, chosen("Ada Li", "error")), Transient)


def test_a_status_hidden_in_a_reply_of_200_counts() -> None:
    assert isinstance(meaning(200, error("upstream", code=502)), Transient)
    with pytest.raises(AdapterError, match="401"):
        meaning(200, error("who are you", code=401))


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529, 599])
def test_passing_states_of_the_endpoint_are_infrastructure(status: int) -> None:
    got = meaning(status, error("busy"), {"retry-after": "3"})
    assert got == Transient(f"the endpoint answered {status}: busy", 3.0)


# ── requests that are wrong ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [401, 402, 403, 404, 405])
def test_what_no_prompt_can_mend_ends_reading_with_one_sentence(status: int) -> None:
    with pytest.raises(AdapterError) as raised:
        meaning(status, error("not\nso"))
    text = str(raised.value)
    assert text.startswith(f"reader: the endpoint of model 'asked-for' answers {status}, ")
    assert text.endswith(": not so")


def test_an_account_without_quota_is_not_asked_again() -> None:
    with pytest.raises(AdapterError, match="no quota is left: pay first"):
        meaning(429, error("pay first", code="insufficient_quota"))


def test_a_redirect_is_not_followed_but_told() -> None:
    with pytest.raises(AdapterError, match=r"points to 'https://b/v1': check reader\.base_url"):
        meaning(301, b"", {"location": "https://b/v1"})


@pytest.mark.parametrize(
    "content",
    [
        error("too long", code="context_length_exceeded"),
        error("the request exceeds the available context size", type="exceed_context_size_error"),
        error(
            "This model's maximum context length is 4096 tokens. However, you requested 5000 "
            "tokens (4900 in the messages, 100 in the completion)."
        ),
        {"object": "error", "message": "Input length (530) exceeds model's maximum context length"},
        error("prompt is too long: 210000 tokens > 200000 maximum"),
        {"error": "the input length exceeds the context length"},
        {"detail": "The context window was exceeded"},
    ],
)
def test_a_prompt_that_exceeds_the_context_is_an_outcome_of_the_pipeline(content: Any) -> None:
    got = meaning(400, content)
    assert isinstance(got, Failure)
    assert got.kind == "pipeline"
    assert got.message.startswith("the prompt exceeds the context of the model")


def test_an_answer_longer_than_the_context_is_not_the_prompts_fault() -> None:
    text = "max_tokens is too large: 9000. This model's maximum context length is 4096 tokens"
    assert isinstance(meaning(400, error(text)), Unexplained)


@pytest.mark.parametrize("status", [400, 403])
def test_a_filtered_prompt_is_an_outcome_of_the_pipeline(status: int) -> None:
    inner = {"code": "ResponsibleAIPolicyViolation"}
    got = meaning(status, error("filtered", code="content_filter", innererror=inner))
    assert got == Failure("pipeline", "a content filter refused the prompt: filtered")


@pytest.mark.parametrize("status", [400, 413, 415, 422, 451])
def test_another_refusal_is_left_unexplained(status: int) -> None:
    got = meaning(status, error("Unsupported parameter: 'seed'"))
    assert got == Unexplained(f"the endpoint answers {status}: Unsupported parameter: 'seed'")


# ── what an endpoint says ───────────────────────────────────────────────────────────────


def test_what_an_endpoint_says_is_one_short_line_without_markup() -> None:
    page = b"<html>\n<h1>Bad\tgateway</h1>" + b"x" * 5000
    message = meaning(502, page).message
    assert message.startswith("the endpoint answered 502: Bad gateway xxx")
    assert len(message) < 400
    assert "\n" not in message


@pytest.mark.parametrize("status", [200, 400, 401, 429, 302])
def test_a_key_that_is_quoted_back_is_kept_nowhere(status: int) -> None:
    quoted = chosen(f"your key is {KEY}", finish=KEY)
    quoted |= {"model": KEY, "system_fingerprint": KEY, **error(f"bad key {KEY}", code=KEY)}
    try:
        told = str(meaning(status, quoted, {"location": f"https://b/?key={KEY}"}))
    except AdapterError as problem:
        told = str(problem)
    assert KEY not in told
    assert "[API key]" in told


def test_a_placeholder_for_a_key_stays_an_ordinary_word_of_answers() -> None:
    body = json.dumps(chosen("The box is EMPTY")).encode()
    got = Reading("m", "N", "EMPTY").meaning(200, {}, body, 0.0)
    assert isinstance(got, Answer)
    assert got.text == "The box is EMPTY"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 600) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "message", "content", "error", "code", "usage", "model", "finish_reason",
             "detail", "type", "text", "prompt_tokens", "system_fingerprint"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.integers(200, 599), JSON)
def test_any_reply_means_something_that_can_be_stored(status: int, content: Any) -> None:
    try:
        got = meaning(status, content)
    except AdapterError:
        return
    assert isinstance(got, Answer | Failure | Transient | Unexplained)
    assert encode(got)
    if isinstance(got, Answer):
        assert 200 <= status < 300
        assert content["choices"]
