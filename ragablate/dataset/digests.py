"""What identifies questions, gold and corpora by content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from ragablate.codec import digest, encode
from ragablate.records import Dataset, Document, Gold, Passage, Question


def corpus_digest(passages: Iterable[Passage]) -> str:
    """sha256 over all passages with their titles, offsets and metadata, in order."""
    return _stream(passages)


def documents_digest(documents: Iterable[Document]) -> str:
    """sha256 over all documents, in order."""
    return _stream(documents)


def question_digest(question: Question) -> str:
    """sha256 over everything a stage can see of a question, slices included."""
    return digest(question)


def gold_digest(gold: Gold) -> str:
    """sha256 over parts, reference answers and answerability."""
    return digest(gold)


def set_digest(dataset: Dataset) -> str:
    """sha256 over the corpus and over every question with its gold.

    The order of questions, the set's name and its attribution do not count; the order of
    the corpus does.
    """
    items = sorted(
        (q.qid, question_digest(q), gold_digest(dataset.gold[q.qid])) for q in dataset.questions
    )
    return digest(corpus_digest(dataset.passages), documents_digest(dataset.documents), items)


def _stream(records: Iterable[object]) -> str:
    h = hashlib.sha256()
    for record in records:
        data = encode(record)
        h.update(len(data).to_bytes(8, "big"))
        h.update(data)
    return h.hexdigest()
