"""Digests move with what they identify."""

from dataclasses import replace

import pytest

from ragablate.dataset.digests import corpus_digest, gold_digest, question_digest, set_digest
from ragablate.records import Alternative, Dataset, Document, Gold, Part, Passage, Question, Turn

PASSAGES = (Passage("p1", "one", "t", "d", 3, {"a": 1}), Passage("p2", "two"))
QUESTION = Question("q1", "why?", (Turn("user", "hi"),), {"a": 1}, {"s": "x"}, ("p1",), {"m": 1})
GOLD = Gold("q1", (Part((Alternative(pid="p1"),)),), ("one",))
DATASET = Dataset(
    "n",
    (),
    PASSAGES,
    (QUESTION, Question("q2", "how?")),
    {
        "q1": GOLD,
        "q2": Gold("q2"),
    },
)


@pytest.mark.parametrize(
    "change",
    [
        {"pid": "p3"},
        {"text": "on"},
        {"title": "u"},
        {"doc_id": "e"},
        {"start": 4},
        {"meta": {"a": 2}},
    ],
)
def test_every_field_of_a_passage_moves_the_corpus(change: dict[str, object]) -> None:
    changed = (replace(PASSAGES[0], **change), PASSAGES[1])
    assert corpus_digest(changed) != corpus_digest(PASSAGES)


def test_corpus_digest_follows_order_and_borders() -> None:
    assert corpus_digest(PASSAGES) == corpus_digest(list(PASSAGES))
    assert corpus_digest(PASSAGES) != corpus_digest(PASSAGES[::-1])
    assert corpus_digest(PASSAGES) != corpus_digest(PASSAGES[:1])


@pytest.mark.parametrize(
    "change",
    [
        {"qid": "q"},
        {"text": "Why?"},
        {"history": ()},
        {"filter": {}},
        {"slices": {}},
        {"pool": None},
        {"meta": {}},
    ],
)
def test_every_field_moves_a_question(change: dict[str, object]) -> None:
    assert question_digest(replace(QUESTION, **change)) != question_digest(QUESTION)


@pytest.mark.parametrize("change", [{"parts": ()}, {"answers": ()}, {"answerable": False}])
def test_every_field_moves_gold(change: dict[str, object]) -> None:
    assert gold_digest(replace(GOLD, **change)) != gold_digest(GOLD)


def test_order_of_questions_and_name_do_not_move_the_set() -> None:
    same = replace(DATASET, name="m", attribution="x", questions=DATASET.questions[::-1])
    assert set_digest(same) == set_digest(DATASET)


@pytest.mark.parametrize(
    "change",
    [
        {"passages": PASSAGES[:1]},
        {"documents": (Document("d", "one"),)},
        {"questions": DATASET.questions[:1]},
        {"gold": {**DATASET.gold, "q2": Gold("q2", answers=("x",))}},
    ],
)
def test_content_moves_the_set(change: dict[str, object]) -> None:
    assert set_digest(replace(DATASET, **change)) != set_digest(DATASET)
