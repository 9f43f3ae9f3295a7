"""A folder with a corpus and questions as JSON lines."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, get_args

from ragablate.dataset.golden import GoldReader, Known, Rule
from ragablate.dataset.rows import (
    CorpusRow,
    Line,
    QuestionRow,
    Rows,
    as_document,
    as_id,
    as_passage,
    as_question,
    document_of,
    missing,
    read_rows,
)
from ragablate.errors import DatasetError, RagablateError
from ragablate.records import Dataset, Gold
from ragablate.resources import locate

Unit = Literal["passages", "documents"]
"""What a line of the corpus is: searched as it is, or cut by a chunker first."""

_SHOWN = 20
_RESERVED = "gold:"
_GOLD_FIELDS = frozenset(
    {
        "answer",
        "answer_parts",
        "answer_start",
        "answers",
        "derivation",
        "evidence",
        "gold",
        "gold_ids",
    }
)


class Jsonl:
    """Questions, gold and a corpus from two files of JSON lines, in UTF-8.

    A line of the corpus has ``id`` and ``text``, and may have ``title``, ``meta``, and
    ``doc_id`` and ``start`` where it was cut from a document. A line of the questions has
    ``id`` and ``question``, and may have ``answers``, ``gold_ids`` or ``gold``,
    ``evidence``, ``answer_start``, ``answerable`` (default true), ``slices``, ``history``,
    ``filter``, ``pool_ids`` and ``meta``. No other field is read, so nothing unforeseen
    reaches a stage; what a stage should see of a question goes into ``meta``.

    Ids are strings or integers, without white space, as TREC files need them. In slices a
    boolean becomes ``yes`` or ``no``, a list its members joined by commas, and null means
    that the question is in no stratum. Metadata of passages that is not a scalar becomes its JSON
    text. A question without gold that is not marked unanswerable is an eval gap, not an
    error.

    Args:
        path: The folder, plain or ``pkg://PACKAGE/FOLDER``.
        name: Short name for titles; empty takes the folder's.
        corpus: File of the corpus in the folder.
        questions: File of the questions in the folder.
        unit: What a line of the corpus is. With ``documents`` a bare gold id is a document,
            and ``answer_start`` and evidence refer to the document's text.
        gold_rule: Whether every id of ``gold_ids`` is needed (``all``) or one is enough
            (``any``). ``gold`` says it itself.
        allow_missing_gold: Accept gold that is in no corpus. With a text of its own it is
            gold that was not indexed, without one an eval gap.
        pool: Search only ``pool_ids`` for a question that has them.
        attribution: Who made the data and under which licence.
    """

    def __init__(  # noqa: PLR0913
        self,
        path: str,
        name: str = "",
        corpus: str = "corpus.jsonl",
        questions: str = "questions.jsonl",
        unit: Unit = "passages",
        gold_rule: Rule = "all",
        allow_missing_gold: bool = False,
        pool: bool = False,
        attribution: str = "",
    ) -> None:
        self.path = path
        self.name = name
        self.corpus = corpus
        self.questions = questions
        self.unit = unit
        self.gold_rule = gold_rule
        self.allow_missing_gold = allow_missing_gold
        self.pool = pool
        self.attribution = attribution

    def problems(self) -> list[str]:
        """Settings that do not exist, and a folder or files that are missing."""
        found = self._settings()
        try:
            folder, *files = self._paths()
        except RagablateError as problem:
            return [*found, str(problem)]
        if not folder.is_dir():
            found.append(
                f"dataset.path: there is no folder {folder}. Give the folder that holds "
                f"{self.corpus} and {self.questions}."
            )
            return found
        return found + [missing(file) for file in files if not file.is_file()]

    def identity(self) -> dict[str, object]:
        """``path`` by the content of both files; unchanged while one cannot be read."""
        h = hashlib.sha256()
        try:
            for file in self._paths()[1:]:
                h.update(hashlib.sha256(file.read_bytes()).digest())
        except (OSError, RagablateError):
            return {}
        return {"path": h.hexdigest()}

    def load(self) -> Dataset:
        """Read and check both files.

        Raises:
            DatasetError: With everything that is wrong in either file; of more than twenty
                problems the first twenty and the number of the others.
        """
        problems = self.problems()
        if self._settings() or not self._paths()[0].is_dir():
            raise DatasetError(problems)
        folder, corpus_file, questions_file = self._paths()
        corpus = read_rows(corpus_file, CorpusRow, problems)
        asked = read_rows(questions_file, QuestionRow, problems)
        _refuse_empty(corpus, corpus_file, self.unit, problems)
        _refuse_empty(asked, questions_file, "questions", problems)
        _refuse_ids(corpus, "passage" if self.unit == "passages" else "document", problems)
        _refuse_ids(asked, "question", problems)
        _refuse_questions(asked, problems)
        known = self._known(corpus)
        reader = GoldReader(known, self.gold_rule, self.allow_missing_gold, problems)
        gold = {as_id(row.id): reader.read(line, row) for line, row in asked.found}
        self._refuse_pools(asked, known, problems)
        _admit_unchecked(corpus, asked, corpus_file, problems)
        if problems:
            raise DatasetError(_capped(problems))
        return self._dataset(folder, corpus, asked, gold)

    def _dataset(
        self, folder: Path, corpus: Rows, asked: Rows, gold: Mapping[str, Gold]
    ) -> Dataset:
        rows = [row for _, row in corpus.found]
        cut = self.unit == "passages"
        return Dataset(
            name=self.name or folder.name or folder.resolve().name,
            documents=() if cut else tuple(as_document(row) for row in rows),
            passages=tuple(as_passage(row) for row in rows) if cut else (),
            questions=tuple(as_question(row, self.pool) for _, row in asked.found),
            gold=gold,
            attribution=self.attribution,
        )

    def _paths(self) -> tuple[Path, Path, Path]:
        folder = locate(str(self.path))
        return folder, folder / self.corpus, folder / self.questions

    def _settings(self) -> list[str]:
        found = []
        for knob, value, allowed in (
            ("unit", self.unit, get_args(Unit)),
            ("gold_rule", self.gold_rule, get_args(Rule)),
        ):
            if value not in allowed:
                found.append(f"dataset.{knob} is '{value}'. Set it to {' or '.join(allowed)}.")
        if self.pool and self.unit == "documents":
            found.append(
                "dataset.pool=true needs passages, which documents have not been cut into yet. "
                "Set dataset.pool=false or dataset.unit=passages."
            )
        return found

    def _known(self, corpus: Rows) -> Known:
        cut = self.unit == "passages"
        rows = [row for _, row in corpus.found]
        texts = {as_id(row.id): row.text for row in reversed(rows)}
        documents = dict.fromkeys((document_of(row) for row in rows), None) if cut else texts
        return Known(texts if cut else {}, documents, cut, corpus.lost == 0)

    def _refuse_pools(self, asked: Rows, known: Known, problems: list[str]) -> None:
        if not self.pool or not known.complete:
            return
        for line, row in asked.found:
            unknown = [as_id(p) for p in row.pool_ids or () if as_id(p) not in known.passages]
            if unknown:
                problems.append(
                    f"{line}: pool_ids names the passage '{unknown[0]}'"
                    + (f" and {len(unknown) - 1} others" if len(unknown) > 1 else "")
                    + ", in no corpus. Correct the ids, or set pool=false."
                )


def _refuse_empty(rows: Rows, file: Path, what: str, problems: list[str]) -> None:
    if not rows.found and not rows.lost:
        problems.append(f"{file} holds no {what}. Write one JSON object a line.")


def _refuse_ids(rows: Rows, kind: str, problems: list[str]) -> None:
    """Refuse ids that stand twice or that no TREC file can hold."""
    seen: dict[str, Line] = {}
    for line, row in rows.found:
        name = as_id(row.id)
        if not name or " " in name or not name.isprintable():
            problems.append(
                f"{line}: the {kind} id '{name}' is empty or has white space in it, which TREC "
                "files cannot hold. Rename it."
            )
        if kind != "question" and name.startswith(_RESERVED):
            problems.append(f"{line}: ids that begin with '{_RESERVED}' are taken. Rename it.")
        if name in seen:
            problems.append(
                f"{line}: the {kind} id '{name}' stands in line {seen[name].number} already. "
                f"Give every {kind} an id of its own."
            )
        seen.setdefault(name, line)


def _refuse_questions(asked: Rows, problems: list[str]) -> None:
    """Refuse blank questions, and gold where every stage could see it."""
    for line, row in asked.found:
        if not row.question.strip():
            problems.append(f"{line}: the question is blank. Write it, or delete the line.")
        for name in sorted(_GOLD_FIELDS & set(row.meta or ())):
            problems.append(
                f"{line}: meta holds '{name}', where every stage could see it. Move it out of meta."
            )


def _admit_unchecked(corpus: Rows, asked: Rows, file: Path, problems: list[str]) -> None:
    if corpus.lost and asked.found:
        problems.append(
            f"{file}: gold and pools were not checked, because it could not be read to the "
            "last line. Correct it first."
        )


def _capped(problems: Iterable[str]) -> list[str]:
    found = list(problems)
    rest = len(found) - _SHOWN
    return found if rest <= 0 else [*found[:_SHOWN], f"... and {rest} more problems."]
