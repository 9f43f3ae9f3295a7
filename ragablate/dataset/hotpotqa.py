"""A JSON file in the format of HotpotQA (Yang et al. 2018)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ragablate.dataset import files
from ragablate.dataset.building import Rules, Source, build
from ragablate.dataset.members import read_member, read_whole
from ragablate.dataset.rows import AlternativeRow, CorpusRow, Id, Line, QuestionRow, Rows
from ragablate.errors import DatasetError, RagablateError
from ragablate.records import Dataset
from ragablate.resources import locate

_SHAPE = '[{"_id": …, "question": …, "context": [["title", ["sentence", …]], …], …}]'


class AskedRow(msgspec.Struct, rename={"id": "_id"}):
    """One question with its paragraphs; a blind test set has no answer and no facts."""

    id: Id
    question: str
    context: list[tuple[str, list[str]]]
    answer: str | None = None
    supporting_facts: list[tuple[str, int]] | None = None
    type: str | None = None
    level: str | None = None


class HotpotQA:
    """Questions that need several paragraphs, with the paragraphs each was asked on.

    The corpus is the paragraphs of all questions, each title and text once. Sentences are
    joined as they are, or by spaces in a file that has none before a paragraph's sentences. A
    passage's id is its title, with an underscore for white space and, where another text has
    that title before it, its number (``Oslo``, ``Oslo#2``). Gold is one part a supporting
    paragraph, whose quotes are the supporting sentences. Slices are ``type``, ``level`` and
    ``yes_no``, where given. A question without supporting facts is an eval gap.

    A supporting title is looked for among the question's own paragraphs and, as in the full
    wiki setting, then among all.

    Args:
        path: The file, plain or gzipped, or ``pkg://PACKAGE/FILE``.
        name: Short name for titles; empty takes the file's.
        allow_missing_gold: Accept a supporting title that no paragraph has; the question is an
            eval gap.
        repair: Leave out supporting sentences that do not exist or are blank; where a
            paragraph has no other, all of it is the evidence.
        pool: Search only a question's own paragraphs.
        attribution: Who made the data and under which licence.
    """

    def __init__(
        self,
        path: str,
        name: str = "",
        allow_missing_gold: bool = False,
        repair: bool = False,
        pool: bool = False,
        attribution: str = "",
    ) -> None:
        self.path = path
        self.name = name
        self.allow_missing_gold = allow_missing_gold
        self.repair = repair
        self.pool = pool
        self.attribution = attribution

    def problems(self) -> list[str]:
        """A file that is missing."""
        try:
            file = self._file()
        except RagablateError as problem:
            return [str(problem)]
        return [] if file.is_file() else [f"dataset.path: {files.missing(file)}"]

    def identity(self) -> dict[str, object]:
        """``path`` by the content of the file; unchanged while it cannot be read."""
        try:
            return {"path": files.content_digest([self._file()])}
        except (OSError, RagablateError):
            return {}

    def load(self) -> Dataset:
        """Read and check the file.

        Raises:
            DatasetError: With everything that is wrong in it; of more than twenty problems the
                first twenty and the number of the others.
        """
        problems = self.problems()
        if problems:
            raise DatasetError(problems)
        file = self._file()
        asked = _read(file, problems)
        paragraphs = _Paragraphs()
        pools = [paragraphs.add_all(line, row) for line, row in asked.found]
        questions = []
        for (line, row), pool in zip(asked.found, pools, strict=True):
            facts = _Facts(paragraphs, pool, self.repair, self.allow_missing_gold)
            questions.append((line, _question(row, pool, facts.gold(line, row, problems))))
        return build(
            Rows(paragraphs.rows, int(not paragraphs.rows and asked.lost > 0)),
            Rows(questions, asked.lost),
            Source(self.name or files.stem(file), self.attribution, file, file, f"Give {_SHAPE}"),
            Rules("passages", "all", self.allow_missing_gold, self.pool),
            problems,
        )

    def _file(self) -> Path:
        return files.find(locate(str(self.path)))


def _read(file: Path, problems: list[str]) -> Rows:
    whole = read_whole(file, list[msgspec.Raw], _SHAPE, problems)
    found: list[tuple[Line, AskedRow]] = []
    for number, raw in enumerate(whole or (), start=1):
        line = Line(file, number, "question")
        row = read_member(line, raw, AskedRow, problems)
        if row is not None:
            found.append((line, row))
    return Rows(found, 1 if whole is None else len(whole) - len(found))


def _question(row: AskedRow, pool: Sequence[str], gold: list[AlternativeRow]) -> QuestionRow:
    yes_no = None if row.answer is None else row.answer.strip().lower() in ("yes", "no")
    return QuestionRow(
        id=row.id,
        question=row.question,
        answers=None if row.answer is None else [row.answer],
        gold=[[alternative] for alternative in gold],
        slices={"type": row.type, "level": row.level, "yes_no": yes_no},
        pool_ids=list(dict.fromkeys(pool)),
    )


@dataclass(slots=True)
class _Paragraphs:
    """Every paragraph once."""

    rows: list[tuple[Line, CorpusRow]] = field(default_factory=list)
    sentences: dict[str, list[str]] = field(default_factory=dict)
    """By pid."""
    titled: dict[str, list[str]] = field(default_factory=dict)
    """Pids by title, in file order."""
    _pids: dict[tuple[str, str], str] = field(default_factory=dict)
    _taken: dict[str, int] = field(default_factory=dict)

    def add_all(self, line: Line, row: AskedRow) -> list[str]:
        """The pids of a question's paragraphs."""
        return [self._add(line, title, sentences) for title, sentences in row.context]

    def _add(self, line: Line, title: str, sentences: list[str]) -> str:
        text = _joined(sentences)
        if (title, text) not in self._pids:
            pid = self._fresh(slug(title))
            self._pids[title, text] = pid
            self.sentences[pid] = sentences
            self.titled.setdefault(title, []).append(pid)
            self.rows.append((line, CorpusRow(pid, text, title)))
        return self._pids[title, text]

    def _fresh(self, name: str) -> str:
        while True:
            self._taken[name] = self._taken.get(name, 0) + 1
            number = self._taken[name]
            pid = name if number == 1 else f"{name}#{number}"
            if pid not in self.sentences:
                return pid


@dataclass(frozen=True, slots=True)
class _Facts:
    """Supporting facts of one question as gold."""

    paragraphs: _Paragraphs
    pool: Sequence[str]
    repair: bool
    allow_missing: bool

    def gold(self, line: Line, row: AskedRow, problems: list[str]) -> list[AlternativeRow]:
        """One alternative a supporting paragraph, in the order they are named."""
        numbers: dict[str, list[int]] = {}
        for title, number in row.supporting_facts or ():
            numbers.setdefault(title, []).append(number)
        found = []
        for title, wanted in numbers.items():
            pid = self._pid(title)
            if pid is not None:
                quotes = list(self._quotes(line, pid, title, sorted(set(wanted)), problems))
                found.append(AlternativeRow(pid=pid, quotes=quotes or None))
            elif self.allow_missing:
                # White space, which no passage's id has: it can be none of them.
                found.append(AlternativeRow(pid=f"missing: {title}"))
            else:
                problems.append(
                    f"{line}: the supporting paragraph '{title}' is in no context. Add it, or set "
                    "dataset.allow_missing_gold=true to count such gold as missing."
                )
        return found

    def _pid(self, title: str) -> str | None:
        every = self.paragraphs.titled.get(title, ())
        own = [pid for pid in every if pid in self.pool]
        return next(iter([*own, *every]), None)

    def _quotes(
        self, line: Line, pid: str, title: str, numbers: Sequence[int], problems: list[str]
    ) -> Iterator[str]:
        sentences = self.paragraphs.sentences[pid]
        for number in numbers:
            sentence = sentences[number].strip() if 0 <= number < len(sentences) else ""
            if sentence:
                yield sentence
            elif not self.repair:
                problems.append(
                    f"{line}: '{title}' has no sentence {number} (there are {len(sentences)}, "
                    "counted from 0, or it is blank). Correct the number, or set "
                    "dataset.repair=true to leave it out."
                )


def slug(title: str) -> str:
    """A title as an id that a TREC file can hold."""
    words = "".join(char if char.isprintable() else " " for char in title).split()
    name = "_".join(words) or "untitled"
    return f"_{name}" if name.startswith("gold:") else name


def _joined(sentences: Sequence[str]) -> str:
    """The paragraph, as the official files have it, with the space before a sentence in it.

    A file without such spaces gets one between sentences.
    """
    spaced = any(sentence[:1].isspace() for sentence in sentences[1:])
    return ("" if spaced else " ").join(sentences)
