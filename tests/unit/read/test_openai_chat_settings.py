from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="the reader openai_chat needs aiohttp: ragablate[chat]")

from ragablate.errors import AdapterError
from ragablate.read.openai_chat import OpenAIChat
from ragablate.records import Prompt, ReadRequest, Segment

URL = "http://127.0.0.1:9/v1"
KEY = "sk-Secret0123456789"


def problems(**knobs: Any) -> list[str]:
    return OpenAIChat(**{"base_url": URL, "model": "m", **knobs}).problems()


def test_nothing_is_wrong_with_the_defaults_and_nothing_is_asked() -> None:
    assert problems() == []


@pytest.mark.parametrize(
    "url",
    ["http://h:8000/v1", "https://api.example.com/v1", "http://[::1]:8080/v1", "http://localhost"],
)
def test_an_address_is_taken(url: str) -> None:
    assert problems(base_url=url) == []


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:8000/v1", "ftp://h/v1", "http://", "http:///v1", "http://h:99999/v1",
     "http://h:x/v1", "http://a b/v1", "http://[::1/v1", None, 7],
)  # fmt: skip
def test_an_address_that_is_none_is_told(url: Any) -> None:
    (problem,) = problems(base_url=url)
    assert problem.startswith("base_url is ")
    assert "such as http://127.0.0.1:8000/v1" in problem


@pytest.mark.parametrize("url", [f"http://user:{KEY}@h/v1", f"http://{KEY}@h/v1"])
def test_a_key_in_the_address_is_refused_and_not_repeated(url: str) -> None:
    (problem,) = problems(base_url=url)
    assert "api_key_env" in problem
    assert KEY not in problem


@pytest.mark.parametrize("url", [f"http://h/v1?key={KEY}", f"http://h/v1#{KEY}"])
def test_what_follows_the_address_is_refused_and_not_repeated(url: str) -> None:
    (problem,) = problems(base_url=url)
    assert problem == "base_url has a part after ? or #: take it out"


@pytest.mark.parametrize("model", ["", "  ", None])
def test_a_missing_model_is_told(model: Any) -> None:
    assert problems(model=model) == [
        "model is blank: give the name the endpoint knows the model by"
    ]


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_a_key_that_is_not_set_is_told(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHAT_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("CHAT_KEY", value)
    (problem,) = problems(api_key_env="CHAT_KEY")
    assert problem.startswith("the environment variable CHAT_KEY that api_key_env names is not set")


@pytest.mark.parametrize("value", ["sk-1\nsk-2", "sk é", "two words", "sk-\x07"])
def test_a_key_no_header_can_carry_is_told_and_not_repeated(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAT_KEY", value)
    (problem,) = problems(api_key_env="CHAT_KEY")
    assert "stands in no API key" in problem
    assert value not in problem


@pytest.mark.parametrize("key", [KEY, "secretkey0123", 7, ""])
def test_a_key_in_the_place_of_its_variables_name_is_not_repeated(key: Any) -> None:
    (problem,) = problems(api_key_env=key)
    assert "api_key_env" in problem
    assert not key or str(key) not in problem


@pytest.mark.parametrize(
    ("knobs", "problem"),
    [
        ({"temperature": -1}, "temperature is -1: give a number from 0 to 100, or null"),
        ({"top_p": 1.1}, "top_p is 1.1: give a number from 0 to 1, or null"),
        ({"max_tokens": 0}, "max_tokens is 0: give a whole number from 1 to 10000000, or null"),
        ({"stop": "END"}, "stop is 'END': give a list of texts, none of them empty"),
        ({"extra_body": [1]}, "extra_body is [1]: give names and values, such as {top_k: 40}"),
        ({"extra_body": {"seed": 1}}, "extra_body.seed: give reader.send_seed instead"),
        ({"extra_body": {"messages": []}}, "extra_body.messages: give reader.prompt instead"),
        ({"extra_body": {"top_p": 1}}, "extra_body.top_p: give reader.top_p instead"),
        (
            {"extra_body": {"stream": True}},
            "extra_body.stream: one whole answer is read at a time, leave it out",
        ),
        (
            {"extra_body": {"n": 2}},
            "extra_body.n: one whole answer is read at a time, leave it out",
        ),
        ({"sentinel": " "}, "sentinel is blank, but prompt 'plain' shows it"),
        (
            {"runtime": {"max_concurrency": 0}},
            "runtime.max_concurrency is 0: give a whole number from 1 to 1024",
        ),
        (
            {"runtime": {"requests_per_minute": 0}},
            "runtime.requests_per_minute is 0: give a number from 0.001 to 1000000000, or null",
        ),
        (
            {"runtime": {"retries": 1.5}},
            "runtime.retries is 1.5: give a whole number from 0 to 100",
        ),
    ],
)
def test_a_setting_that_makes_no_sense_is_told(knobs: dict[str, Any], problem: str) -> None:
    assert problems(**knobs) == [problem]


def test_an_unknown_runtime_knob_is_told_with_the_known_ones() -> None:
    (problem,) = problems(runtime={"concurrency": 3})
    assert problem.startswith("runtime.concurrency is unknown; known: max_concurrency, ")
    assert problems(runtime={"timeout_s": 5, "prices": None}) == []


def test_prices_that_are_none_are_told() -> None:
    (problem,) = problems(runtime={"prices": {"m": 3}})
    assert problem.startswith("runtime.prices: the price of 'm' is 3: give {MODEL:")


def test_everything_that_is_wrong_is_told_at_once() -> None:
    assert len(problems(base_url="x", model="", top_p=7, prompt="plian", max_tokens=-1)) == 5


def test_reading_with_a_wrong_setting_ends_with_its_sentence() -> None:
    asked = ReadRequest("q", Prompt("q", "?", (Segment("user", "?"),)), 1, 0)
    with pytest.raises(AdapterError, match=r"^reader: top_p is 7"):
        list(OpenAIChat(URL, "m", top_p=7).read([asked]))


def test_the_key_stands_in_nothing_a_reader_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_KEY", KEY)
    each = OpenAIChat(URL, "m", api_key_env="CHAT_KEY")
    shown = f"{each!r} {each} {vars(each)} {each.identity()} {each.problems()}"
    assert KEY not in shown
