import pytest

from ragablate.embed.runtime import Runtime, runtime_of, runtime_problems


def test_knobs_that_are_left_out_have_defaults():
    assert runtime_of(None) == runtime_of({}) == Runtime()
    assert runtime_of({"threads": 4}).threads == 4
    assert runtime_problems(None) == runtime_problems({"device": "cuda:1", "cache": "x"}) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"batchsize": 3}, "runtime.batchsize is no knob"),
        ({"batch_size": 0}, "runtime.batch_size is 0"),
        ({"threads": None}, "runtime.threads is None"),
        ({"threads": True}, "runtime.threads is True"),
        ({"search_block": 1.5}, "runtime.search_block is 1.5"),
        ({"device": 0}, "runtime.device is 0"),
        ({"cache": ""}, "runtime.cache is ''"),
    ],
)
def test_a_knob_without_a_meaning_is_a_problem(given, said):
    (problem,) = runtime_problems(given)
    assert problem.startswith(said)


def test_a_knob_that_means_nothing_to_an_adapter_is_a_problem():
    (problem,) = runtime_problems({"search_block": 10}, without=("search_block",))
    assert problem == (
        "runtime.search_block is no knob: the knobs are batch_size, device, threads, cache"
    )
