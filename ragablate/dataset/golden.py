"""The gold of one question, read from its row and checked against the corpus.

Two forms are read. ``gold`` lists parts, each a list of alternatives: an id, or an object
with ``pid``, ``doc_id`` or ``text`` and optionally ``start`` and ``end``, or ``quotes``.
``gold_ids`` is a flat list of ids, narrowed down by ``evidence`` (sentences, or objects
with ``doc_id`` and ``sentence``) or else by ``answer_start``; it is read only where there
is no ``gold``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragablate.dataset.rows import AlternativeRow, Id, Line, QuestionRow, as_id
from ragablate.records import Alternative, Gold, Part

Rule = Literal["all", "any"]
"""How a flat list of gold ids is read: every one is a part, or any one covers the only part."""


@dataclass(frozen=True, slots=True)
class Known:
    """What gold can point at."""

    passages: Mapping[str, str]
    """Text by pid; empty where the corpus is documents still to be cut."""
    documents: Mapping[str, str | None]
    """Text by doc_id, ``None`` where only the document's passages are known."""
    cut: bool
    """Whether the corpus is passages, so that a bare id is a pid and not a doc_id."""
    complete: bool
    """Whether every line of the corpus was read, so that an unknown id is an error."""


class GoldReader:
    """Builds gold, and puts a sentence for everything that does not fit to ``problems``.

    Args:
        known: What gold can point at.
        rule: How ``gold_ids`` is read.
        allow_missing: Whether gold may name what is in no corpus. It is then kept with its
            own text where it has one, and cannot be resolved where it has none.
        problems: Where sentences go.
    """

    def __init__(self, known: Known, rule: Rule, allow_missing: bool, problems: list[str]) -> None:
        self.known = known
        self.rule = rule
        self.allow_missing = allow_missing
        self.problems = problems

    def read(self, line: Line, row: QuestionRow) -> Gold:
        """The gold of one question; what does not fit is left out of it."""
        parts = self._parts(line, row) if row.gold is not None else self._flat(line, row)
        return Gold(
            qid=as_id(row.id),
            parts=parts,
            answers=tuple(row.answers or ()),
            answerable=row.answerable,
        )

    def _parts(self, line: Line, row: QuestionRow) -> tuple[Part, ...]:
        parts = []
        for number, part in enumerate(row.gold or (), start=1):
            if not part:
                self._report(line, f"part {number} of the gold is empty", "Give an alternative")
            found = [self._alternative(line, given) for given in part]
            kept = tuple(a for a in found if a is not None)
            if kept:
                parts.append(Part(kept))
        return tuple(parts)

    def _alternative(self, line: Line, given: Id | AlternativeRow) -> Alternative | None:
        if not isinstance(given, AlternativeRow):
            return self._bare(line, as_id(given))
        if (given.pid is None) == (given.doc_id is None) and not (
            given.pid is None and given.text is not None
        ):
            self._report(
                line, "a gold alternative must name one place", "Give a pid, a doc_id or a text"
            )
            return None
        place = self._place(line, given)
        if place is None:
            return None
        narrowed = Alternative(
            place.pid,
            place.doc_id,
            place.text,
            given.start,
            given.end,
            tuple(q.strip() for q in given.quotes or ()),
        )
        return narrowed if self._fits(line, narrowed) else None

    def _place(self, line: Line, given: AlternativeRow) -> Alternative | None:
        """Where the evidence is, its own text taking the place of an unknown id."""
        if given.text is not None and not given.text.strip():
            self._report(line, "the text of a gold alternative is blank", "Give the text")
            return None
        if given.pid is None and given.doc_id is None:
            return Alternative(text=given.text or "")
        if given.pid is not None and not self.known.cut:
            self._report(
                line,
                f"gold names the passage '{given.pid}', but the corpus is documents",
                "Write doc_id in place of pid",
            )
            return None
        place = (
            Alternative(pid=as_id(given.pid))
            if given.pid is not None
            else Alternative(doc_id=as_id(given.doc_id or ""))
        )
        if not self._check_known(line, place):
            return None
        return place if self._is_known(place) or not given.text else Alternative(text=given.text)

    def _bare(self, line: Line, name: str) -> Alternative | None:
        bare = Alternative(pid=name) if self.known.cut else Alternative(doc_id=name)
        return bare if self._check_known(line, bare) else None

    def _is_known(self, place: Alternative) -> bool:
        if place.pid:
            return place.pid in self.known.passages
        return place.doc_id in self.known.documents

    def _check_known(self, line: Line, place: Alternative) -> bool:
        """Whether gold may stay: a reported problem where it names nothing."""
        if self._is_known(place) or self.allow_missing or not self.known.complete:
            return True
        kind, name = ("passage", place.pid) if place.pid else ("document", place.doc_id)
        self._report(
            line,
            f"the gold {kind} '{name}' is in no corpus",
            "Correct the id, or set allow_missing_gold=true to count such gold as missing",
        )
        return False

    def _fits(self, line: Line, alternative: Alternative) -> bool:
        """Whether span and quotes are well formed and, where the text is known, within it."""
        start, end = alternative.start, alternative.end
        text = self._text(alternative)
        if (start is None) != (end is None) or (
            start is not None and end is not None and not 0 <= start < end
        ):
            self._report(
                line,
                f"the gold span from {start} to {end} is not a stretch of text",
                "Give start and end in characters, with start < end",
            )
            return False
        if text is not None and end is not None and end > len(text):
            self._report(
                line,
                f"the gold span ends at {end}, but the text has {len(text)} characters",
                "Correct the offsets",
            )
            return False
        return all([self._quoted(line, quote, text) for quote in alternative.quotes])

    def _quoted(self, line: Line, quote: str, text: str | None) -> bool:
        if quote and (text is None or quote in text):
            return True
        self._report(
            line,
            f"the evidence '{_short(quote)}' does not stand in the gold passage",
            "Quote it letter for letter",
        )
        return False

    def _text(self, place: Alternative) -> str | None:
        """The text that offsets and quotes refer to; ``None`` where it is not known."""
        if place.text:
            return place.text
        if place.pid:
            return self.known.passages.get(place.pid)
        return self.known.documents.get(place.doc_id)

    def _flat(self, line: Line, row: QuestionRow) -> tuple[Part, ...]:
        names = dict.fromkeys(as_id(name) for name in row.gold_ids or ())
        places = [p for p in (self._bare(line, name) for name in names) if p is not None]
        if not places:
            return ()
        quotes = self._quotes(line, row, places)
        if row.answer_start and not any(quotes.values()):
            return self._spans(line, row, places)
        narrowed = [
            Alternative(pid=p.pid, doc_id=p.doc_id, quotes=quotes[p.pid or p.doc_id])
            for p in places
        ]
        if self.rule == "any":
            return (Part(tuple(narrowed)),)
        return tuple(Part((alternative,)) for alternative in narrowed)

    def _quotes(
        self, line: Line, row: QuestionRow, places: Sequence[Alternative]
    ) -> dict[str, tuple[str, ...]]:
        """Evidence sentences by the gold id they stand in."""
        texts = {p.pid or p.doc_id: self._text(p) for p in places}
        found: dict[str, dict[str, None]] = {name: {} for name in texts}
        for name, sentence in _evidence(row):
            if name and name in texts:
                holders = [name] if self._quoted(line, sentence, texts[name]) else []
            elif name:
                holders = []
            else:
                holders = [n for n, text in texts.items() if text and sentence in text]
                if not holders and None not in texts.values():
                    self._quoted(line, sentence, "")
            for holder in holders:
                if texts[holder] is not None:
                    found[holder][sentence] = None
        return {name: tuple(sentences) for name, sentences in found.items()}

    def _spans(
        self, line: Line, row: QuestionRow, places: Sequence[Alternative]
    ) -> tuple[Part, ...]:
        """One part: the spans of the reference answers, any one of which covers it."""
        answers, starts = row.answers or [], row.answer_start or []
        if len(places) != 1 or len(answers) != len(starts):
            self._report(
                line,
                f"answer_start has {len(starts)} offsets for {len(answers)} answers and "
                f"{len(places)} gold passages",
                "Give one offset an answer, and one gold passage",
            )
            return ()
        place, text = places[0], self._text(places[0])
        if text is None:
            return (Part((place,)),)
        spans: dict[tuple[int, int], None] = {}
        for answer, start in zip(answers, starts, strict=True):
            if start < 0 or not answer or not text.startswith(answer, start):
                self._report(
                    line,
                    f"the answer '{_short(answer)}' does not stand at answer_start {start}",
                    "Count characters, from 0, in the gold passage's text",
                )
            spans[(start, start + len(answer))] = None
        return (Part(tuple(Alternative(place.pid, place.doc_id, "", s, e) for s, e in spans)),)

    def _report(self, line: Line, what: str, remedy: str) -> None:
        self.problems.append(f"{line}: {what}. {remedy}.")


def _evidence(row: QuestionRow) -> list[tuple[str, str]]:
    """Evidence sentences with the id they belong to, empty where none is named.

    Evidence in any other shape (sentence numbers, labels) is passed over.
    """
    found = []
    for piece in row.evidence if isinstance(row.evidence, list) else ():
        name: object = ""
        sentence: object = piece
        if isinstance(piece, dict):
            name, sentence = piece.get("doc_id"), piece.get("sentence")
        if isinstance(sentence, str) and sentence.strip() and isinstance(name, str | int):
            found.append((str(name), sentence.strip()))
    return found


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
