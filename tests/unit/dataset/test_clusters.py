"""Which questions are dependent."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.dataset.clusters import cluster_keys
from ragablate.errors import DatasetError
from ragablate.records import Alternative, Dataset, Gold, Part, Passage, Question, Turn


def dataset(*items: tuple[Question, list[Alternative]]) -> Dataset:
    passages = tuple(Passage(f"p{i}", "x", doc_id=f"d{i // 2}") for i in range(8))
    return Dataset(
        "n",
        (),
        passages,
        tuple(question for question, _ in items),
        {q.qid: Gold(q.qid, tuple(Part((a,)) for a in alternatives)) for q, alternatives in items},
    )


def ask(qid: str, *pids: str, **fields: object) -> tuple[Question, list[Alternative]]:
    question = replace(Question(qid, f"{qid}?"), **fields)
    return question, [Alternative(pid=pid) for pid in pids]


def test_questions_of_one_gold_document_are_one_cluster() -> None:
    data = dataset(ask("q1", "p0"), ask("q2", "p1"), ask("q3", "p2"))
    assert cluster_keys(data) == {"q1": "q1", "q2": "q1", "q3": "q3"}


def test_chains_of_shared_documents_are_one_cluster_named_by_the_smallest_qid() -> None:
    data = dataset(ask("q3", "p0", "p2"), ask("q2", "p4"), ask("q1", "p3", "p5"), ask("q0"))
    assert cluster_keys(data) == {"q3": "q1", "q2": "q1", "q1": "q1", "q0": "q0"}


def test_document_level_gold_and_passages_meet_in_the_document() -> None:
    by_document = (Question("q2", "b?"), [Alternative(doc_id="d0")])
    assert set(cluster_keys(dataset(ask("q1", "p1"), by_document)).values()) == {"q1"}


def test_gold_texts_of_their_own_are_documents() -> None:
    own = [(Question(q, f"{q}?"), [Alternative(text=t)]) for q, t in ("aT", "bT", "cU")]
    assert cluster_keys(dataset(*own)) == {"a": "a", "b": "a", "c": "c"}


def test_passages_without_a_document_are_their_own() -> None:
    data = replace(
        dataset(ask("q1", "a"), ask("q2", "b")), passages=(Passage("a", "x"), Passage("b", "x"))
    )
    assert cluster_keys(data) == {"q1": "q1", "q2": "q2"}


def test_turns_of_a_conversation_are_one_cluster_whatever_their_documents() -> None:
    opening = Turn("user", "Tell me of  Oslo")
    data = dataset(
        ask("q1", "p0", text="Tell me of Oslo"),
        ask("q2", "p2", history=(opening, Turn("agent", "A city."))),
        ask("q3", "p2"),
        ask("q4", "p2", history=(opening,), meta={"conversation": 7}),
        ask("q5", "p4", meta={"conversation": 7}),
    )
    keys = cluster_keys(data)
    assert keys == {"q1": "q1", "q2": "q1", "q3": "q3", "q4": "q4", "q5": "q4"}


def test_same_wording_is_one_cluster() -> None:
    data = dataset(ask("q1", "p0", text="Who?"), ask("q2", "p2", text="Who?"))
    assert cluster_keys(data) == {"q1": "q1", "q2": "q1"}


def test_a_slice_can_make_the_clusters() -> None:
    data = dataset(
        ask("q1", "p0", slices={"topic": "a"}),
        ask("q2", "p0", slices={"topic": "b"}),
        ask("q3", "p4", slices={"topic": "a"}),
        ask("q4", "p0"),
        ask("q5", "p6"),
    )
    keys = cluster_keys(data, "slices.topic")
    assert keys == {"q1": "q1", "q2": "q2", "q3": "q1", "q4": "q4", "q5": "q5"}


def test_none_leaves_every_question_alone() -> None:
    data = dataset(ask("q1", "p0", text="Who?"), ask("q2", "p0", text="Who?"))
    assert cluster_keys(data, None) == {"q1": "q1", "q2": "q2"}


@pytest.mark.parametrize("name", ["slices.nothing", "doc", "slices.", ""])
def test_unknown_names_are_refused_with_the_choices(name: str) -> None:
    data = dataset(ask("q1", "p0", slices={"topic": "a"}))
    with pytest.raises(DatasetError, match=r"document, slices\.topic, null"):
        cluster_keys(data, name)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from([f"p{i}" for i in range(8)]), max_size=2), max_size=8),
    st.randoms(use_true_random=False),
)
def test_clusters_are_the_connected_components_in_any_order(
    golds: list[list[str]], rng: random.Random
) -> None:
    items = [ask(f"q{i}", *gold) for i, gold in enumerate(golds)]
    keys = cluster_keys(dataset(*items))
    reached = {f"q{i}": {f"q{i}"} for i in range(len(golds))}
    documents = [{int(pid[1]) // 2 for pid in gold} for gold in golds]
    for _ in golds:
        for i, mine in enumerate(documents):
            for j, theirs in enumerate(documents):
                if mine & theirs:
                    reached[f"q{i}"] |= reached[f"q{j}"]
    assert keys == {qid: min(others) for qid, others in reached.items()}
    rng.shuffle(items)
    assert cluster_keys(dataset(*items)) == keys
