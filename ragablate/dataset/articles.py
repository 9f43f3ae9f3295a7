"""Articles of a file in the format of SQuAD: what is searched, and what is asked on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ragablate.dataset.building import Unit
from ragablate.dataset.members import read_member, read_whole
from ragablate.dataset.rows import AlternativeRow, CorpusRow, Id, Line, QuestionRow

SHAPE = '{"data": [{"title": …, "paragraphs": [{"context": …, "qas": […]}]}]}'
"""What such a file looks like, for messages."""
_BETWEEN = "\n\n"

Span = tuple[str, int, int]
"""An id, and from where to where in the text that it names."""


class FileRow(msgspec.Struct):
    """The whole file."""

    data: list[msgspec.Raw]


class ArticleRow(msgspec.Struct):
    """One article."""

    paragraphs: list[msgspec.Raw]
    title: str | None = None


class ParagraphRow(msgspec.Struct):
    """One paragraph with its questions."""

    context: str
    qas: list[msgspec.Raw]


class AnswerRow(msgspec.Struct):
    """One reference answer and where it stands in the paragraph."""

    text: str
    answer_start: int


class AskedRow(msgspec.Struct):
    """One question; plausible answers of unanswerable ones are not read."""

    id: Id
    question: str
    answers: list[AnswerRow] | None = None
    is_impossible: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, or several in the same words."""

    id: Id
    """Id of the first."""
    question: str
    """Its words."""
    answers: tuple[str, ...]
    """Distinct reference answers."""
    spans: tuple[Span, ...]
    """What carries an answer."""
    names: tuple[str, ...]
    """Passages, or documents, that it was written on."""
    answerable: bool
    """Whether any of them is."""

    def row(self, unit: Unit) -> QuestionRow:
        """The question with its gold."""
        alternatives: list[Id | AlternativeRow] = [*self.names]
        if self.answerable and self.spans:
            alternatives = [
                AlternativeRow(pid=name, start=start, end=end)
                if unit == "passages"
                else AlternativeRow(doc_id=name, start=start, end=end)
                for name, start, end in self.spans
            ]
        return QuestionRow(
            id=self.id,
            question=self.question,
            answers=list(self.answers),
            gold=[alternatives],
            answerable=self.answerable,
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a paragraph is in the corpus."""

    name: str
    """Its own id, or that of its article."""
    text: str
    start: int
    """Where it begins in the text that ``name`` names."""


@dataclass(slots=True)
class Articles:
    """One pass over a file.

    Args:
        file: The file.
        unit: Whether the corpus is paragraphs or whole articles.
        repair: Whether answers are looked for where they do not stand.
        problems: Where sentences go.
    """

    file: Path
    """The file."""
    unit: Unit
    """What a row of the corpus is."""
    repair: bool
    """Whether answers are looked for where they do not stand."""
    problems: list[str]
    """Where sentences go."""
    corpus: list[tuple[Line, CorpusRow]] = field(default_factory=list)
    """What is searched, once ``read`` has been through."""
    lost: int = 0
    """How many members could not be read."""
    _pids: dict[tuple[str, str], str] = field(default_factory=dict)

    def read(self) -> list[tuple[Line, Asked]]:
        """Every question, in file order; fills the corpus."""
        whole = read_whole(self.file, FileRow, SHAPE, self.problems)
        if whole is None:
            self.lost += 1
            return []
        asked: list[tuple[Line, Asked]] = []
        for number, raw in enumerate(whole.data):
            line = Line(self.file, number + 1, "article")
            article = read_member(line, raw, ArticleRow, self.problems)
            if article is None:
                self.lost += 1
            else:
                asked += self._article(line, article, f"{number:04d}")
        return asked

    def _article(
        self, line: Line, article: ArticleRow, doc_id: str
    ) -> Iterator[tuple[Line, Asked]]:
        title, end = article.title or "", 0
        starts: dict[str, int] = {}
        for number, raw in enumerate(article.paragraphs):
            here = Line(self.file, number + 1, f"{line.place}, paragraph")
            paragraph = read_member(here, raw, ParagraphRow, self.problems)
            if paragraph is None:
                self.lost += 1
                continue
            text = paragraph.context
            if text not in starts:
                starts[text] = end
                end += len(text) + len(_BETWEEN)
            place = _Place(doc_id, text, starts[text])
            if self.unit == "passages":
                row = CorpusRow(f"{doc_id}-{number:03d}", text, title, None, doc_id, starts[text])
                place = self._passage(here, row)
            yield from self._questions(here, paragraph, place)
        if self.unit == "documents":
            self.corpus.append((line, CorpusRow(doc_id, _BETWEEN.join(starts), title)))

    def _passage(self, line: Line, row: CorpusRow) -> _Place:
        """A new passage, or the one that has the same title and text."""
        pid = self._pids.setdefault((row.title or "", row.text), str(row.id))
        if pid == row.id:
            self.corpus.append((line, row))
        return _Place(pid, row.text, 0)

    def _questions(
        self, line: Line, paragraph: ParagraphRow, place: _Place
    ) -> Iterator[tuple[Line, Asked]]:
        for number, raw in enumerate(paragraph.qas, start=1):
            here = Line(self.file, number, f"{line.place}, question")
            row = read_member(here, raw, AskedRow, self.problems)
            if row is None:
                self.lost += 1
                continue
            answers = row.answers or []
            if row.is_impossible and answers:
                self.problems.append(
                    f"{here}: is_impossible is true, but it has answers. Correct one of them."
                )
            yield (
                here,
                Asked(
                    row.id,
                    row.question,
                    tuple(dict.fromkeys(answer.text for answer in answers)),
                    self._spans(here, answers, place),
                    (place.name,),
                    not row.is_impossible,
                ),
            )

    def _spans(self, line: Line, answers: Sequence[AnswerRow], place: _Place) -> tuple[Span, ...]:
        spans: dict[Span, None] = {}
        for answer in answers:
            found = _standing(answer, place.text, self.repair)
            if found is not None:
                spans[place.name, place.start + found[0], place.start + found[1]] = None
            elif not answer.text.strip() or not self.repair:
                self.problems.append(
                    f"{line}: the answer '{answer.text[:60]}' does not stand at answer_start "
                    f"{answer.answer_start}. Count characters, from 0, in the context, or set "
                    "dataset.repair=true to take the nearest occurrence."
                )
        if not spans and self.unit == "documents" and place.text.strip():
            # The paragraph is known, so that not any passage of the article will do.
            spans[place.name, place.start, place.start + len(place.text)] = None
        return tuple(spans)


def _standing(answer: AnswerRow, context: str, repair: bool) -> tuple[int, int] | None:
    """Where an answer stands; ``None`` where it does not, or is blank."""
    text, start = answer.text, answer.answer_start
    if not text.strip():
        return None
    if start >= 0 and context.startswith(text, start):
        return start, start + len(text)
    text = text.strip()
    places = []
    at = context.find(text) if repair else -1
    while at >= 0:
        places.append(at)
        at = context.find(text, at + 1)
    if not places:
        return None
    nearest = min(places, key=lambda place: (abs(place - start), place))
    return nearest, nearest + len(text)


def merged(asked: Sequence[tuple[Line, Asked]]) -> list[tuple[Line, Asked]]:
    """One question where several are in the same words, white space apart."""
    groups: dict[str, list[tuple[Line, Asked]]] = {}
    for line, each in asked:
        groups.setdefault(" ".join(each.question.split()), []).append((line, each))
    return [(group[0][0], _joined([each for _, each in group])) for group in groups.values()]


def _joined(group: Sequence[Asked]) -> Asked:
    answerable = [each for each in group if each.answerable]
    counted = answerable or group
    return Asked(
        group[0].id,
        group[0].question,
        tuple(dict.fromkeys(answer for each in counted for answer in each.answers)),
        tuple(dict.fromkeys(span for each in counted for span in each.spans)),
        tuple(dict.fromkeys(name for each in counted for name in each.names)),
        bool(answerable),
    )
