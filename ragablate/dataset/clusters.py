"""Which questions are dependent, so that a test must not count them one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragablate.codec import digest
from ragablate.errors import DatasetError
from ragablate.records import Dataset, Gold, Question

_SLICE = "slices."


def cluster_keys(dataset: Dataset, cluster_by: str | None = "document") -> dict[str, str]:
    """The cluster of every question, named by the smallest qid in it.

    Args:
        dataset: Questions, gold, and the passages that say which document gold is from.
        cluster_by: What makes questions dependent.

            * ``document``: questions of one conversation (the same ``meta.conversation``,
              or without one the same first utterance), and otherwise questions whose gold
              shares a document; chains of such pairs are one cluster.
            * ``slices.NAME``: the same value of that slice; a question without it is alone.
            * ``None``: every question is alone.

            Except with ``None``, questions of the same wording and history are together.

    Raises:
        DatasetError: The name is none of these, or no question has the slice.
    """
    if cluster_by is None:
        return {question.qid: question.qid for question in dataset.questions}
    _refuse_unknown(dataset, cluster_by)
    documents = {p.pid: p.doc_id or p.pid for p in dataset.passages}
    sets = _Sets()
    for question in dataset.questions:
        sets.join(question.qid, ("words", digest(question.text, question.history)))
        for tie in _ties(question, dataset.gold[question.qid], documents, cluster_by):
            sets.join(question.qid, tie)
    return sets.keys(question.qid for question in dataset.questions)


def _refuse_unknown(dataset: Dataset, cluster_by: str) -> None:
    if cluster_by == "document":
        return
    names = sorted({name for question in dataset.questions for name in question.slices})
    if cluster_by.startswith(_SLICE) and cluster_by.removeprefix(_SLICE) in names:
        return
    choices = ", ".join(["document", *(_SLICE + name for name in names), "null"])
    raise DatasetError([f"cluster_by is '{cluster_by}'. Set it to one of {choices}."])


Tie = tuple[str, str]
"""Something two questions can have in common: its kind and its name."""


def _ties(
    question: Question, gold: Gold, documents: Mapping[str, str], cluster_by: str
) -> Iterator[Tie]:
    if cluster_by != "document":
        value = question.slices.get(cluster_by.removeprefix(_SLICE))
        if value is not None:
            yield "slice", value
        return
    conversation = question.meta.get("conversation")
    if conversation is not None:
        yield "conversation", str(conversation)
        return
    opening = question.history[0].text if question.history else question.text
    yield "opening", " ".join(opening.split())
    if not question.history:
        yield from _documents(gold, documents)


def _documents(gold: Gold, documents: Mapping[str, str]) -> Iterator[Tie]:
    for part in gold.parts:
        for alternative in part.alternatives:
            if alternative.text:
                yield "text", digest(alternative.text)
            else:
                name = alternative.doc_id or documents.get(alternative.pid, alternative.pid)
                yield "document", name


class _Sets:
    """Disjoint sets of questions and of what ties them."""

    def __init__(self) -> None:
        self._above: dict[Tie, Tie] = {}

    def join(self, qid: str, tie: Tie) -> None:
        self._above[self._top(("question", qid))] = self._top(tie)

    def keys(self, qids: Iterator[str]) -> dict[str, str]:
        """By qid the smallest qid of its set."""
        tops = {qid: self._top(("question", qid)) for qid in qids}
        smallest: dict[Tie, str] = {}
        for qid in sorted(tops):
            smallest.setdefault(tops[qid], qid)
        return {qid: smallest[top] for qid, top in tops.items()}

    def _top(self, node: Tie) -> Tie:
        above = self._above.setdefault(node, node)
        while above != node:
            self._above[node] = self._above[above]
            node, above = above, self._above[above]
        return node
