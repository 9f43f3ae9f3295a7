"""One answered question of a log, and the log as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ragablate.records import Claim, ContextPassage, GateDecision, Turn


@dataclass(frozen=True, slots=True)
class LoggedPassage:
    """One passage of a logged ranking."""

    pid: str
    """The passage; made of its text where the log gives no id."""
    text: str | None = None
    """Its text; ``None`` where the log holds only the id."""
    title: str = ""
    """Its title, where the log has one."""
    score: float | None = None
    """The score it was ranked by; ``None`` where the log holds only the order."""
    doc_id: str = ""
    """Document it was cut from; empty where the log does not say."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Its metadata, such as ``updated_at`` and ``status``, where the log has any."""


@dataclass(frozen=True, slots=True)
class GoldQuote:
    """One way to cover a part of the gold."""

    pid: str = ""
    """A passage; empty for a text that is in no corpus."""
    text: str = ""
    """That text."""
    quotes: tuple[str, ...] = ()
    """Verbatim words of the passage that carry the evidence; empty needs all of it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a log says of one answer. ``None`` is what it does not say."""

    place: str
    """File and line, as messages name it."""
    qid: str
    """The question; made of its text where the log gives no id."""
    question: str
    """Its text."""
    replicate: int = 1
    """Which decode, from 1."""
    answer: str | None = None
    """What was said."""
    retrieved: tuple[LoggedPassage, ...] | None = None
    """The ranking, best first."""
    searches: tuple[str, ...] | None = None
    """What was sent to the retriever."""
    candidates: tuple[str, ...] | None = None
    """Pids the retriever returned, best first, before a reranker."""
    filter: Mapping[str, Any] = field(default_factory=dict)
    """Metadata a passage had to carry to be searched."""
    gate: GateDecision | None = None
    """Whether the question was let through to the reader."""
    shown: tuple[str, ...] | None = None
    """Pids in the prompt, in its order."""
    context: tuple[ContextPassage, ...] | None = None
    """What the reader saw, verbatim; ``None`` where the log lacks the text of any of it."""
    context_digest: str = ""
    """As the log gives it; empty where it does not."""
    frame_digest: str = ""
    """Over the prompt without its evidence; empty where the log does not let it be known."""
    reader: str = ""
    """What identifies the reader's prompt (``prompt_version``)."""
    model: str = ""
    """What answered."""
    decoding: Mapping[str, Any] | None = None
    """Parameters of the decode, its seed apart."""
    abstained: bool | None = None
    """Whether it declined."""
    error: str = ""
    """What went wrong."""
    references: tuple[str, ...] = ()
    """Reference answers."""
    gold: tuple[tuple[str, ...], ...] = ()
    """Pids by part; any of a part's covers it."""
    gold_quotes: tuple[tuple[GoldQuote, ...], ...] = ()
    """The same as ``gold`` with the words that carry the evidence, where the log has them."""
    gold_texts: tuple[str, ...] = ()
    """Texts that carry the gold, where it is not given by pid; all needed."""
    answerable: bool = True
    """Whether the corpus can answer it."""
    verdicts: Mapping[str, float] = field(default_factory=dict)
    """The log's own scores, by name."""
    claims: tuple[Claim, ...] = ()
    """What the answer says, each with the passage it was found to rest on."""
    slices: Mapping[str, str] = field(default_factory=dict)
    """Strata."""
    history: tuple[Turn, ...] = ()
    """Earlier turns."""
    timestamp: str = ""
    """When it was answered, as the log says it."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Every field that is not understood, unchanged."""


@dataclass(frozen=True, slots=True)
class Log:
    """A log as it was read."""

    path: str
    """The file."""
    format: str
    """The format it was read as."""
    entries: tuple[Entry, ...]
    """In file order."""
    texts: Mapping[str, LoggedPassage] = field(default_factory=dict)
    """Every passage whose whole text is known, by pid."""
    notes: tuple[str, ...] = ()
    """What the log does not say, and what follows from that."""


def pid_of(text: str) -> str:
    """An id for a passage that has none: equal texts, equal ids."""
    return "text-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def qid_of(question: str) -> str:
    """An id for a question that has none: equal questions, equal ids."""
    return "q-" + hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def as_shown(pid: str, text: str, *, title: str = "", truncated: bool = False) -> ContextPassage:
    """A logged text as the reader saw it, under its title where that was shown."""
    from ragablate.text.tokens import count_tokens

    whole = f"{title}\n{text}" if title else text
    return ContextPassage(pid, whole, text, truncated, count_tokens(whole, "words"))
