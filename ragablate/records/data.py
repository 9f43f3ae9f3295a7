"""Questions, gold, documents and passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Scalar = str | int | float | bool | None
"""A metadata value."""
Condition = Scalar | tuple[Scalar, ...] | Mapping[str, Scalar]
"""What a metadata value must be: a value, one of several, or in a range ``{least, most}``."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier utterance of a conversation."""

    speaker: str
    """``user`` or ``agent`` (other names are passed on unchanged)."""
    text: str
    """What was said."""


@dataclass(frozen=True, slots=True)
class Question:
    """One item of the question set. It holds no gold, so no stage can see any."""

    qid: str
    """Unique id within the question set."""
    text: str
    """The question as the user asked it."""
    history: tuple[Turn, ...] = ()
    """Earlier turns, oldest first."""
    filter: Mapping[str, Condition] = field(default_factory=dict)
    """Metadata a passage must carry to be searched for this question."""
    slices: Mapping[str, str] = field(default_factory=dict)
    """Named strata the question belongs to, for per-slice results."""
    pool: tuple[str, ...] | None = None
    """Pids the search is restricted to; ``None`` searches the whole corpus."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Unknown fields of the source, kept untouched. Never gold: readers of gold fields
    (answers, evidence, gold ids) take them out before this record is built."""


@dataclass(frozen=True, slots=True)
class Document:
    """What passages are cut from."""

    doc_id: str
    """Unique id."""
    text: str
    """Full text; character offsets of spans refer to it."""
    title: str = ""
    """Title, empty where the source has none."""
    meta: Mapping[str, Scalar] = field(default_factory=dict)
    """Effective date, product, status and the like."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit of retrieval."""

    pid: str
    """Unique id within the corpus."""
    text: str
    """The passage's own text, without its title."""
    title: str = ""
    """Title of the passage or of its document."""
    doc_id: str = ""
    """Document it was cut from; the passage's own pid where it was not cut."""
    start: int = 0
    """Offset of ``text`` in the document, in characters."""
    meta: Mapping[str, Scalar] = field(default_factory=dict)
    """Metadata, inherited from the document."""


@dataclass(frozen=True, slots=True)
class SearchedPassage(Passage):
    """A passage that is searched by another text than its own."""

    preface: str = ""
    """Searched in front of the passage's text; no part of it, and not shown to the reader."""
    pieces: tuple[tuple[int, int], ...] = ()
    """Stretches of ``text``, in characters, that are searched apart; the best one ranks the
    passage. Empty searches the text whole."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to cover a part of the gold. Exactly one of ``pid``, ``doc_id`` and ``text``
    says where the evidence is; ``start``/``end`` or ``quote`` narrow it down.
    """

    pid: str = ""
    """A passage."""
    doc_id: str = ""
    """A document: present when any of its passages is (document-level)."""
    text: str = ""
    """A text of its own, for gold that is in no corpus."""
    start: int | None = None
    """First character of the evidence, in the passage's (or document's) text."""
    end: int | None = None
    """One past the last character of the evidence."""
    quotes: tuple[str, ...] = ()
    """Verbatim sentences of the passage or document that carry the evidence; all needed."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing a correct answer needs; any one alternative covers it."""

    alternatives: tuple[Alternative, ...]
    """Equivalent pieces of evidence."""


@dataclass(frozen=True, slots=True)
class Gold:
    """What a correct answer needs, and what it says."""

    qid: str
    """The question it belongs to."""
    parts: tuple[Part, ...] = ()
    """Every part is needed. Empty with ``answerable`` true is an eval gap."""
    answers: tuple[str, ...] = ()
    """Reference answers; any one is right."""
    answerable: bool = True
    """Whether the corpus can answer it; where false the right answer is an abstention."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions, gold and what is searched."""

    name: str
    """Short name for titles and tables."""
    documents: tuple[Document, ...]
    """What a chunker cuts; empty where the source ships passages."""
    passages: tuple[Passage, ...]
    """What is searched as it is; empty where the source ships documents."""
    questions: tuple[Question, ...]
    """In file order."""
    gold: Mapping[str, Gold]
    """By qid; one entry for every question."""
    attribution: str = ""
    """Who made the data and under which licence."""


class Corpus:
    """What is searched: passages in a fixed order, with their digest.

    Args:
        passages: Unique by pid.
        digest: sha256 over all passages; adapters key their indexes by it.
    """

    __slots__ = ("by_pid", "digest", "passages")

    def __init__(self, passages: tuple[Passage, ...], digest: str) -> None:
        self.passages = passages
        self.digest = digest
        self.by_pid: Mapping[str, Passage] = {p.pid: p for p in passages}
