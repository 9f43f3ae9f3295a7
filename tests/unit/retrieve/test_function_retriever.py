import sys

import pytest

from ragablate.errors import AdapterError
from ragablate.protocols import Retriever, SearchRequest
from ragablate.records import Corpus, Passage, Question
from ragablate.retrieve.function import FunctionRetriever

CORPUS = Corpus(
    tuple(Passage(p, t, meta={"year": y}) for p, t, y in [("b", "two", 1), ("a", "one", 2)]),
    "digest",
)

SOURCE = """
from ragablate.records import Hit

calls = []

def by_length(question, passages, depth, bonus=0):
    calls.append((question, [p.pid for p in passages], depth, id(passages)))
    for passage in passages:
        yield passage.pid, len(passage.text) + bonus

def as_mapping(question, passages, depth):
    return {"a": 1, "b": 2}

def as_hits(question, passages, depth):
    return [Hit("a", 0.5)]

def nothing(question, passages, depth):
    return []

def sometimes(question, passages, depth):
    yield "a", 1.0
    if question == "bad":
        raise ValueError("cannot\\nparse this")

def away(question, passages, depth):
    raise ConnectionResetError("peer")

def unknown(question, passages, depth):
    return [("nowhere", 1.0)]

def nan(question, passages, depth):
    return [("a", float("nan"))]

def huge(question, passages, depth):
    return [("a", 10**400)]

def words(question, passages, depth):
    return [("a", "high")]

def bare_pids(question, passages, depth):
    return ["a1", "b2"]

def number_pids(question, passages, depth):
    return [(1, 1.0)]

def twice(question, passages, depth):
    return [("a", 1.0), ("a", 2.0)]

def none(question, passages, depth):
    return None

def a_number(question, passages, depth):
    return 3

not_callable = 3
"""


@pytest.fixture(autouse=True)
def functions(tmp_path, monkeypatch):
    (tmp_path / "my_search.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("my_search", None)


def items(name, *texts, **knobs):
    question = knobs.pop("question", Question("q", "unseen"))
    requests = [SearchRequest(f"r{i}", text, question) for i, text in enumerate(texts)]
    return list(FunctionRetriever(f"my_search:{name}", **knobs).retrieve(CORPUS, requests))


def ranking(name, **knobs):
    (item,) = items(name, "what", **knobs)
    return [(hit.pid, hit.score) for hit in item.value]


def test_it_is_a_retriever():
    assert isinstance(FunctionRetriever("a:b"), Retriever)


def test_scores_become_a_ranking_with_ties_by_pid():
    assert ranking("by_length") == [("a", 3.0), ("b", 3.0)]
    assert ranking("as_mapping") == [("b", 2.0), ("a", 1.0)]
    assert ranking("as_hits") == [("a", 0.5)]
    assert ranking("nothing") == []


def test_the_ranking_is_cut_to_its_depth_after_sorting():
    assert ranking("as_mapping", depth=1) == [("b", 2.0)]


def test_it_is_given_the_search_the_passages_by_pid_and_the_depth():
    items("by_length", "one search", "another", depth=7)
    calls = sys.modules["my_search"].calls
    assert [call[:3] for call in calls] == [
        ("one search", ["a", "b"], 7),
        ("another", ["a", "b"], 7),
    ]
    assert calls[0][3] == calls[1][3]


def test_arguments_are_passed_by_keyword():
    assert ranking("by_length", args={"bonus": 10})[0] == ("a", 13.0)


def test_pool_and_filter_restrict_only_where_the_knobs_say_so():
    question = Question("q", "", pool=("b",), filter={"year": 2})
    assert len(ranking("by_length", question=question)) == 2
    assert ranking("by_length", question=question, pool=True) == [("b", 3.0)]
    assert ranking("by_length", question=question, apply_filter=True) == [("a", 3.0)]


def test_a_passage_outside_the_pool_is_not_accepted():
    with pytest.raises(AdapterError, match="'a', which is none of the passages"):
        ranking("as_mapping", question=Question("q", "", pool=("b",)), pool=True)


def test_an_exception_fails_that_search_only_in_one_sentence():
    good, bad, also_good = items("sometimes", "good", "bad", "good")
    assert good.failure is None
    assert also_good.failure is None
    assert bad.value is None
    assert bad.failure.kind == "pipeline"
    assert bad.failure.message == (
        "retriever.function my_search:sometimes raised ValueError: cannot parse this"
    )


def test_what_cannot_be_listed_fails_the_search():
    (item,) = items("a_number", "what")
    assert "TypeError: 'int' object is not iterable" in item.failure.message


def test_a_lost_connection_is_infrastructure():
    (item,) = items("away", "what")
    assert item.failure.kind == "infrastructure"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("unknown", "returned the pid 'nowhere', which is none of the passages it was given"),
        ("nan", "a score a finite number"),
        ("huge", "return pairs of pid and score"),
        ("words", "return pairs of pid and score"),
        ("bare_pids", "return pairs of pid and score"),
        ("number_pids", "a pid is a string"),
        ("twice", "returned the pid 'a' twice"),
        ("none", "returned None"),
    ],
)
def test_what_is_no_ranking_is_an_error_that_names_function_and_question(name, sentence):
    with pytest.raises(AdapterError) as caught:
        items(name, "what", question=Question("q9", ""))
    assert sentence in str(caught.value)
    assert f"my_search:{name} (question 'q9')" in str(caught.value)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        ("my_search", "write it as package.module:name"),
        ("no_such_module:f", "there is no module 'no_such_module'"),
    ],
)
def test_a_function_that_cannot_be_found_is_a_problem_and_an_error(function, problem):
    retriever = FunctionRetriever(function)
    (found,) = retriever.problems()
    assert problem in found
    with pytest.raises(AdapterError, match=r"retriever.function"):
        list(retriever.retrieve(CORPUS, []))


@pytest.mark.parametrize("name", ["by_lenght", "not_callable"])
def test_a_name_that_is_no_function_is_an_error(name):
    with pytest.raises(AdapterError, match=r"did you mean 'by_length'|name something that can be"):
        items(name, "what")


def test_the_identity_is_the_declared_version_or_the_source(tmp_path):
    assert FunctionRetriever("my_search:nan", version="3").identity() == {"version": "3"}
    before = FunctionRetriever("my_search:nan").identity()
    assert before != FunctionRetriever("my_search:twice").identity()
    assert len(before["version"]) == 64


def test_checking_does_not_run_the_module():
    FunctionRetriever("my_search:nan").problems()
    assert "my_search" not in sys.modules
