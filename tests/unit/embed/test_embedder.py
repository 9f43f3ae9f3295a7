import multiprocessing
import os
import signal
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import embedding_model, needs_extra

from ragablate.embed.embedder import Embedder
from ragablate.errors import AdapterError

pytestmark = needs_extra

TEXTS = ["a river", "a far longer text about a river, a bridge and its builder", "", "17 krall"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(embedding_model(tmp_path_factory.mktemp("models") / "tiny"))


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def made(model, cache=None, **knobs):
    runtime = {"cache": str(cache) if cache else None, "device": "cpu"} | knobs.pop("runtime", {})
    return Embedder(model, runtime=runtime, **knobs)


def embed(embedder, texts=TEXTS, role="passage", prompt=""):
    return embedder.embed(role, prompt, texts)[:]


def written(cache):
    return sorted(cache.glob("*/*.npy"))


@pytest.fixture(scope="module")
def reference(model):
    return embed(made(model))


def test_vectors_are_those_of_sentence_transformers(model, reference):
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(model, device="cpu", local_files_only=True).encode(
        TEXTS, normalize_embeddings=True, show_progress_bar=False
    )
    assert reference.dtype == np.float32
    assert np.allclose(reference, expected, atol=1e-6)
    assert np.allclose(np.linalg.norm(reference, axis=1), 1, atol=1e-6)


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=8))
@settings(deadline=None, max_examples=30)
def test_a_vector_does_not_depend_on_its_company_to_the_last_bit(model, reference, texts):
    expected = reference[[TEXTS.index(text) for text in texts]]
    assert np.array_equal(embed(made(model), texts), expected)


def test_batches_and_threads_move_no_more_than_the_seventh_digit(model, reference):
    other = embed(made(model, runtime={"batch_size": 4, "threads": 2}))
    assert np.allclose(other, reference, rtol=0, atol=5e-7)


def test_the_number_of_threads_is_restored(model):
    import torch

    before = torch.get_num_threads()
    embed(made(model, runtime={"threads": before + 1}))
    assert torch.get_num_threads() == before


def test_what_is_kept_is_not_embedded_again(model, cache, reference):
    assert np.array_equal(embed(made(model, cache)), reference)
    (first,) = written(cache)

    class Refusing(Embedder):
        def _fill(self, *_):
            raise AssertionError("embedded again")

    again = Refusing(model, runtime={"cache": str(cache)})
    assert np.array_equal(embed(again, TEXTS[::-1]), reference[::-1])
    assert again.encoder._loaded is None
    assert written(cache) == [first]


def test_only_what_is_missing_is_embedded(model, cache, reference):
    embed(made(model, cache), TEXTS[:2])
    assert np.array_equal(embed(made(model, cache)), reference)
    assert [len(np.load(path)) for path in written(cache)] == [2, 2]


def test_equal_texts_are_embedded_once(model, cache, reference):
    rows = embed(made(model, cache), [TEXTS[0]] * 5)
    assert np.array_equal(rows, reference[[0] * 5])
    assert [len(np.load(path)) for path in written(cache)] == [1]


@pytest.mark.parametrize(
    "other",
    [
        {"normalize": False},
        {"max_seq_length": 5},
        {"role": "query"},
        {"prompt": "passage: "},
    ],
)
def test_everything_that_changes_a_vector_is_kept_apart(model, cache, other):
    embed(made(model, cache))
    call = {k: other[k] for k in ("role", "prompt") if k in other}
    knobs = {k: other[k] for k in ("normalize", "max_seq_length") if k in other}
    kept = embed(made(model, cache, **knobs), **call)
    assert np.array_equal(kept, embed(made(model, **knobs), **call))
    assert sum(len(np.load(path)) for path in written(cache)) == 2 * len(TEXTS)


def test_another_model_in_the_same_place_is_kept_apart(tmp_path, cache):
    place = tmp_path / "model"
    embedding_model(place, seed=1)
    first = embed(made(str(place), cache))
    embedding_model(place, seed=2)
    second = embed(made(str(place), cache))
    assert not np.allclose(first, second)
    assert len(list(cache.glob("*/model.json"))) == 2


def test_a_prompt_is_put_before_the_text(model):
    prompted = embed(made(model), ["river"], prompt="query: ")
    assert np.array_equal(prompted, embed(made(model), ["query: river"]))


def test_longer_texts_are_cut(model):
    long = made(model, max_seq_length=6)
    assert np.array_equal(embed(long, ["abcdefgh"]), embed(long, ["abcdzzzz"]))
    assert not np.array_equal(embed(made(model), ["abcdefgh"]), embed(made(model), ["abcdzzzz"]))


def test_a_text_no_tokenizer_takes_is_embedded(model):
    assert np.isfinite(embed(made(model), ["a \ud800 b", "\x00", "🌉" * 500])).all()


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        ({"max_seq_length": 65}, "max_seq_length is 65, but the model '.*' takes at most 64"),
        ({"runtime": {"device": "gpu"}}, "cannot be loaded"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(model, knobs, said):
    with pytest.raises(AdapterError, match=said) as error:
        embed(made(model, **knobs))
    assert "\n" not in str(error.value)


def test_a_vector_that_is_not_a_number_is_an_error(tmp_path):
    from safetensors.torch import load_file, save_file

    place = embedding_model(tmp_path / "model")
    weights = load_file(place / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][:] = float("nan")
    save_file(weights, place / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(AdapterError, match="embeds a passage as something that is not a number"):
        embed(made(str(place)))


def test_a_damaged_model_is_one_sentence(tmp_path):
    place = embedding_model(tmp_path / "model")
    (place / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(AdapterError, match="cannot be loaded from"):
        embed(made(str(place)))


MANY = [f"text {number}" for number in range(400)]


def _embed_many(model, cache, started):
    import ragablate.embed.embedder as module

    module._FLUSH_S = 0.0
    embedder = made(model, cache)
    embed(embedder, ["first"])
    started.set()
    embed(embedder, MANY)


@pytest.mark.slow
def test_a_killed_process_loses_no_finished_step_and_the_next_ends_with_the_same_bytes(
    model, cache
):
    context = multiprocessing.get_context("spawn")
    started = context.Event()
    process = context.Process(target=_embed_many, args=(model, cache, started))
    process.start()
    assert started.wait(120)
    while len(written(cache)) < 3:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    kept = sum(len(np.load(path)) for path in written(cache))
    assert 65 <= kept <= len(MANY)

    assert np.array_equal(embed(made(model, cache), MANY), embed(made(model), MANY))
    assert sum(len(np.load(path)) for path in written(cache)) == len(MANY) + 1


@pytest.mark.slow
def test_two_processes_at_a_time_embed_every_text_once(model, cache):
    context = multiprocessing.get_context("spawn")
    events = [context.Event() for _ in range(2)]
    processes = [
        context.Process(target=_embed_many, args=(model, cache, event)) for event in events
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert sum(len(np.load(path)) for path in written(cache)) == len(MANY) + 1
    assert np.array_equal(embed(made(model, cache), MANY), embed(made(model), MANY))
