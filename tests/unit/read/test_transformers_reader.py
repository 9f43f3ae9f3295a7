import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tiny_models

from ragablate.read.transformers import Transformers
from ragablate.records import Context, ContextPassage, Prompt, Question, ReadRequest
from ragablate.seeds import decode_seed

needs_model = pytest.mark.skipif(
    not tiny_models.EXTRA, reason="needs pip install 'ragablate[transformers]'"
)
WORDS = ("rivers", "north", "freeze", "late", "thaw", "early", "most", "years", "snow")


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_models.causal_model(tmp_path_factory.mktemp("models") / "causal"))


def asked(reader: Transformers, count: int, longest: int = 40) -> list[ReadRequest]:
    requests = []
    for n in range(count):
        text = " ".join(WORDS[(n * k) % len(WORDS)] for k in range(1 + (n * 7) % longest))
        question = Question(f"q{n}", f"What of {WORDS[n % len(WORDS)]} {n}?")
        prompt = reader.prompt(question, Context((ContextPassage("p", text, text),)))
        requests.append(ReadRequest(f"r{n}", prompt, 1, decode_seed(0, question.qid, 1)))
    return requests


def texts(reader: Transformers, requests: list[ReadRequest]) -> dict[str, Any]:
    found = {}
    for item in reader.read(requests):
        assert item.value is not None, item.failure
        answer = item.value
        found[item.id] = (answer.text, answer.finish_reason, tuple(sorted(answer.usage.items())))
    return found


@needs_model
@pytest.mark.parametrize(("temperature", "top_p"), [(0.0, 1.0), (0.8, 1.0), (1.0, 0.7)])
def test_a_batch_writes_what_each_prompt_alone_does(
    causal: str, temperature: float, top_p: float
) -> None:
    def reader(size: int) -> Transformers:
        return Transformers(
            causal,
            temperature=temperature,
            top_p=top_p,
            max_tokens=24,
            runtime={"batch_size": size, "threads": 1},
        )

    requests = asked(reader(1), 13)
    alone = texts(reader(1), requests)
    assert len({text for text, _, _ in alone.values()}) > 6
    assert texts(reader(5), requests) == alone
    assert texts(reader(13), list(reversed(requests))) == alone


@needs_model
def test_a_text_that_rounding_could_turn_is_written_again_alone(
    causal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragablate.read import choosing, generation

    monkeypatch.setattr(choosing, "_ROUNDING", 10.0)
    batches: list[int] = []
    plain = generation.Model._decode

    def watched(self: Any, batch: Any) -> Any:
        batches.append(len(batch))
        return plain(self, batch)

    monkeypatch.setattr(generation.Model, "_decode", watched)
    reader = Transformers(causal, max_tokens=4, runtime={"batch_size": 3, "threads": 1})
    assert len(texts(reader, asked(reader, 3))) == 3
    assert batches == [3, 1, 1, 1]


@needs_model
def test_draws_depend_on_the_seed_alone(causal: str) -> None:
    reader = Transformers(causal, temperature=1.5, max_tokens=24, runtime={"threads": 1})
    (request,) = asked(reader, 1)
    other = ReadRequest("r1", request.prompt, 2, decode_seed(0, "q0", 2))
    found = texts(reader, [request, other])
    assert found["r0"] != found["r1"]
    assert texts(reader, [request])["r0"] == found["r0"]
    assert reader.stochastic
    assert not Transformers(causal).stochastic


@needs_model
def test_draws_follow_the_softmax() -> None:
    import torch

    from ragablate.read.choosing import Chooser

    logits = torch.tensor([[1.0, 0.0, -1.0, -8.0]])
    counts = torch.zeros(4)
    for seed in range(4000):
        chosen = Chooser([seed], 0.5, 1.0, set())(torch.zeros(1, 1, dtype=torch.long), logits)
        counts[chosen.argmax()] += 1
    expected = (logits[0] / 0.5).softmax(-1)
    assert torch.allclose(counts / 4000, expected, atol=0.025)
    for seed in range(50):
        chosen = Chooser([seed], 0.5, 0.5, set())(torch.zeros(1, 1, dtype=torch.long), logits)
        assert int(chosen.argmax()) == 0


@needs_model
def test_an_answer_cut_off_says_so_and_one_that_ends_does_too(causal: str) -> None:
    reader = Transformers(
        causal, temperature=3.0, max_tokens=400, runtime={"threads": 1, "batch_size": 4}
    )
    items = [item.value for item in reader.read(asked(reader, 8))]
    for answer in items:
        assert answer is not None
        cut = answer.usage["completion_tokens"] == 400
        assert answer.finish_reason == ("length" if cut else "stop")
    assert any(a.finish_reason == "stop" for a in items if a is not None)


@needs_model
def test_a_stop_text_ends_an_answer_and_is_no_part_of_it(causal: str) -> None:
    plain = Transformers(causal, max_tokens=24, runtime={"threads": 1})
    requests = asked(plain, 6)
    whole = texts(plain, requests)
    stop = whole["r0"][0][3]
    cut = texts(Transformers(causal, max_tokens=24, stop=[stop], runtime={"threads": 1}), requests)
    for key, (text, finish, _) in cut.items():
        before, found, _ = whole[key][0].partition(stop)
        assert text == before.strip()
        assert finish == ("stop" if found else whole[key][1])


@needs_model
def test_a_prompt_longer_than_the_context_is_a_failure_of_the_pipeline(tmp_path: Path) -> None:
    small = tiny_models.causal_model(tmp_path / "small", limit=900)
    reader = Transformers(str(small), max_tokens=24, runtime={"threads": 1})
    short, long = asked(reader, 1)[0], asked(reader, 1)[0]
    text = "x" * 2000
    prompt = reader.prompt(Question("q1", "?"), Context((ContextPassage("p", text, text),)))
    long = ReadRequest("long", prompt, 1, 0)
    found = {item.id: item for item in reader.read([long, short])}
    assert found["r0"].value is not None
    failure = found["long"].failure
    assert failure is not None
    assert failure.kind == "pipeline"
    assert "exceeds the model's context of 900" in failure.message


@needs_model
@pytest.mark.parametrize("chat", [True, False])
def test_the_chat_template_puts_messages_together_where_there_is_one(
    causal: str, tmp_path: Path, chat: bool
) -> None:
    from ragablate.read.generation import Decoding, Model

    folder = Path(causal) if chat else tiny_models.causal_model(tmp_path / "bare", chat=False)
    model = Model(folder, "float32", "cpu", Decoding(4, 0.0, 1.0, (), 1, 1))
    said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}]
    text = model._tokenizer.decode(model.tokens(said, chat=True))
    if chat:
        assert text == "<s>system: Be brief.\n<s>user: Who?\n<s>assistant: "
    else:
        assert text == "Be brief.\n\nWho?"


@needs_model
def test_a_sequence_to_sequence_model_answers_alike_alone_and_in_a_batch(tmp_path: Path) -> None:
    model = str(tiny_models.paired_model(tmp_path / "paired"))

    def reader(size: int) -> Transformers:
        return Transformers(model, max_tokens=12, runtime={"batch_size": size, "threads": 1})

    requests = asked(reader(1), 6)
    assert texts(reader(4), requests) == texts(reader(1), requests)


def test_what_is_wrong_is_said_before_anything_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["BertModel"]}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    reader = Transformers(
        str(tmp_path), max_tokens=0, dtype="int8", runtime={"batch_size": 0, "device": 3}
    )
    found = "\n".join(reader.problems())
    for part in ("is a BertModel, which writes no text", "max_tokens is 0", "dtype is 'int8'",
                 "runtime.batch_size is 0", "runtime.device is 3"):  # fmt: skip
        assert part in found
    code = "import sys, ragablate.read.transformers; print('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


@needs_model
def test_half_precision_is_read_one_by_one(causal: str) -> None:
    reader = Transformers(causal, dtype="bfloat16", max_tokens=4, runtime={"threads": 1})
    assert len(texts(reader, asked(reader, 2))) == 2
    assert reader._loaded is not None
    assert reader._loaded._decoding.batch_size == 1


def test_prompts_are_those_of_the_template(tmp_path: Path) -> None:
    reader = Transformers(str(tmp_path))
    prompt = reader.prompt(Question("q", "Who?"), Context())
    assert isinstance(prompt, Prompt)
    assert any("Who?" in segment.text for segment in prompt.segments)
