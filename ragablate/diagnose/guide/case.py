"""One failed answer with what is at hand to look at it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ragablate.dataset.digests import corpus_digest
from ragablate.logs import Entry, LoggedPassage
from ragablate.logs.entry import pid_of
from ragablate.records import ContextPassage, Corpus, Passage
from ragablate.text.normalize import occurs

Embed = Callable[[str, Sequence[str]], Sequence[Sequence[float]]]
"""Vectors of texts; the role (``query`` or ``document``) and the texts."""


class Known:
    """Every passage whose text is at hand: of the corpus where one is given, and of the log.

    Args:
        logged: Passages of the log, by pid.
        corpus: The corpus; ``None`` where only the log is at hand.
        embed: Gives vectors, raw as the model has them; ``None`` without a model.
        embedder: The model's name.
        vectors: Vectors of the corpus' passages as they are deployed, one a passage in the
            corpus' order, shape (passages, dimensions); ``None`` where they are not at hand.
    """

    def __init__(
        self,
        logged: Mapping[str, LoggedPassage],
        corpus: Sequence[Passage] | None = None,
        embed: Embed | None = None,
        embedder: str = "",
        vectors: Sequence[Sequence[float]] | None = None,
    ) -> None:
        self.given = corpus
        self.embed = embed
        self.embedder = embedder
        self.vectors = vectors
        self.passages: dict[str, Passage] = {p.pid: p for p in corpus or ()}
        for pid, p in logged.items():
            if p.text is not None:
                meta = {k: v for k, v in p.meta.items() if _scalar(v)}
                self.passages.setdefault(pid, Passage(pid, p.text, p.title, p.doc_id, 0, meta))

    @property
    def place(self) -> str:
        """What was searched, as a sentence names it."""
        return "the passages of the log" if self.given is None else "the corpus"

    @cached_property
    def corpus(self) -> Corpus:
        """What can be searched: the corpus and nothing else where one is given."""
        found = tuple(self.given if self.given is not None else self.passages.values())
        return Corpus(found, corpus_digest(found))

    def text(self, pid: str) -> str:
        """The text of a passage; empty where it is not at hand."""
        known = self.passages.get(pid)
        return "" if known is None else known.text


def _scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


@dataclass(frozen=True, slots=True)
class Case:
    """One failed answer."""

    entry: Entry
    """What the log says of it."""
    declined: bool | None = None
    """Whether it declines; ``None`` without an answer."""
    parts: tuple[tuple[str, ...], ...] = ()
    """Gold by part, as pids; a gold text stands for the passages that hold it."""
    label: str = ""
    """Where the guide's questions led."""
    faithfulness: float | None = None
    """Share of its claims that its context supports; ``None`` where that was not measured."""
    arrived: tuple[bool, ...] = field(default=())
    """By part, whether a passage of it was shown."""

    @property
    def qid(self) -> str:
        """The question."""
        return self.entry.qid

    @property
    def sent(self) -> tuple[str, ...]:
        """What was searched; the question where the log does not say."""
        return self.entry.searches or (self.entry.question,)

    @property
    def gold(self) -> frozenset[str]:
        """Every pid that carries gold."""
        return frozenset(pid for part in self.parts for pid in part)

    @property
    def shown(self) -> tuple[ContextPassage, ...]:
        """The context, as far as its text is at hand."""
        return self.entry.context or ()

    @property
    def ranked(self) -> tuple[str, ...]:
        """Pids of the ranking, best first; of what was shown where there is none."""
        if self.entry.retrieved is not None:
            return tuple(p.pid for p in self.entry.retrieved)
        return self.entry.shown or ()


def gold_parts(entry: Entry, known: Known) -> tuple[tuple[str, ...], ...]:
    """The gold of an answer by part, as pids.

    A gold text is every passage of the ranking, the context or, verbatim, the passages at hand
    that holds it; held by none, it is a passage of its own that was never found.
    """
    parts = [*entry.gold, *(_of_quotes(entry) if not entry.gold else ())]
    if parts:
        return tuple(parts)
    return tuple(_holders(text, entry, known) for text in entry.gold_texts)


def _of_quotes(entry: Entry) -> Iterable[tuple[str, ...]]:
    for part in entry.gold_quotes:
        yield tuple(quote.pid or pid_of(quote.text) for quote in part)


def _holders(text: str, entry: Entry, known: Known) -> tuple[str, ...]:
    own = {p.pid: p.text or "" for p in entry.retrieved or ()}
    own |= {p.pid: p.body for p in entry.context or ()}
    found = [pid for pid, body in own.items() if body == text or occurs(text, body)]
    found += [p.pid for p in known.passages.values() if p.text == text and p.pid not in own]
    return tuple(dict.fromkeys(found)) or (pid_of(text),)
