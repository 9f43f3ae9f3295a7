"""A folder in the format of BEIR (Thakur et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ragablate.dataset import files
from ragablate.dataset.building import Rules, Source, build
from ragablate.dataset.golden import Rule
from ragablate.dataset.qrels import Judgements, read_qrels
from ragablate.dataset.rows import CorpusRow, Id, QuestionRow, Rows, as_id, read_rows
from ragablate.errors import DatasetError, RagablateError
from ragablate.records import Dataset
from ragablate.resources import locate

_CORPUS = "corpus.jsonl"
_QUERIES = "queries.jsonl"
_ANSWERS = "answers.jsonl"


class PassageRow(msgspec.Struct, rename={"id": "_id"}):
    """A line of ``corpus.jsonl``."""

    id: Id
    text: str
    title: str | None = None
    metadata: dict[str, Any] | None = None


class QueryRow(msgspec.Struct, rename={"id": "_id"}):
    """A line of ``queries.jsonl``; its metadata, where SciFact has its gold, is not read."""

    id: Id
    text: str


class AnswerRow(msgspec.Struct, rename={"id": "_id"}):
    """A line of ``answers.jsonl``, which BEIR itself does not have."""

    id: Id
    answers: list[str] | None = None
    answerable: bool = True


class Beir:
    """Questions, relevance judgements and a corpus in the format of BEIR.

    The folder holds ``corpus.jsonl`` (``_id``, ``title``, ``text``, ``metadata``),
    ``queries.jsonl`` (``_id``, ``text``) and ``qrels/<split>.tsv`` (query-id, corpus-id and
    score, with or without a header), each plain or with ``.gz`` appended. The questions are
    those that the split judges, in the order of ``queries.jsonl``. A passage is gold if its
    score is above 0; higher grades count alike. A question with nothing above 0 is an eval
    gap. Metadata of queries are not read: they may hold gold.

    Args:
        path: The folder, plain or ``pkg://PACKAGE/FOLDER``.
        name: Short name for titles; empty takes the folder's.
        split: Which judgements.
        gold_rule: Whether one gold passage is enough (``any``) or every one is needed
            (``all``).
        answers: File of reference answers in the folder, as JSON lines with ``_id``,
            ``answers`` and optionally ``answerable``. The default name may be absent, and
            questions may be absent from the file: they then have no reference answer, and
            whether what is answered is correct is unmeasured.
        allow_missing_gold: Accept gold that is in no corpus; a question that has no other is
            an eval gap.
        attribution: Who made the data and under which licence.
    """

    def __init__(
        self,
        path: str,
        name: str = "",
        split: str = "test",
        gold_rule: Rule = "any",
        answers: str = _ANSWERS,
        allow_missing_gold: bool = False,
        attribution: str = "",
    ) -> None:
        self.path = path
        self.name = name
        self.split = split
        self.gold_rule = gold_rule
        self.answers = answers
        self.allow_missing_gold = allow_missing_gold
        self.attribution = attribution

    def problems(self) -> list[str]:
        """Settings that do not exist, and a folder or files that are missing."""
        found = self._rules.problems()
        try:
            folder = locate(str(self.path))
        except RagablateError as problem:
            return [*found, str(problem)]
        if not folder.is_dir():
            return [
                *found,
                f"dataset.path: there is no folder {folder}. Give the folder that holds "
                f"{_CORPUS}, {_QUERIES} and qrels.",
            ]
        paths = self._paths()
        found += [files.missing(p) for p in (paths.corpus, paths.queries) if not p.is_file()]
        if not paths.qrels.is_file():
            found.append(f"{files.missing(paths.qrels)}{_splits(folder)}")
        if self.answers not in ("", _ANSWERS) and not paths.answers.is_file():
            found.append(files.missing(paths.answers))
        return found

    def identity(self) -> dict[str, object]:
        """``path`` by the content of its files; unchanged while one cannot be read."""
        try:
            paths = self._paths()
            every = [paths.corpus, paths.queries, paths.qrels]
            if self.answers and paths.answers.is_file():
                every.append(paths.answers)
            return {"path": files.content_digest(every)}
        except (OSError, RagablateError):
            return {}

    def load(self) -> Dataset:
        """Read and check all files.

        Raises:
            DatasetError: With everything that is wrong in any of them; of more than twenty
                problems the first twenty and the number of the others.
        """
        problems = self.problems()
        if self._rules.problems() or not locate(str(self.path)).is_dir():
            raise DatasetError(problems)
        folder, paths = locate(str(self.path)), self._paths()
        corpus = _passages(read_rows(paths.corpus, PassageRow, problems))
        queries = read_rows(paths.queries, QueryRow, problems)
        judged = read_qrels(paths.qrels, problems)
        answers = self._answers(paths.answers, queries, problems)
        if not self.allow_missing_gold and not corpus.lost:
            judged.refuse_unknown({as_id(row.id) for _, row in corpus.found}, problems)
        asked = _questions(queries, judged, answers, paths, problems)
        name = self.name or folder.name or folder.resolve().name
        source = Source(name, self.attribution, paths.corpus, paths.queries)
        return build(corpus, asked, source, self._rules, problems)

    @property
    def _rules(self) -> Rules:
        return Rules("passages", self.gold_rule, self.allow_missing_gold)

    def _paths(self) -> _Paths:
        folder = locate(str(self.path))
        return _Paths(
            files.find(folder / _CORPUS),
            files.find(folder / _QUERIES),
            files.find(folder / "qrels" / f"{self.split}.tsv"),
            files.find(folder / self.answers),
        )

    def _answers(self, path: Path, queries: Rows, problems: list[str]) -> Mapping[str, AnswerRow]:
        if not self.answers or not path.is_file():
            return {}
        known = {as_id(row.id) for _, row in queries.found}
        found: dict[str, AnswerRow] = {}
        for line, row in read_rows(path, AnswerRow, problems).found:
            name = as_id(row.id)
            if name in found:
                problems.append(f"{line}: the answers of '{name}' stand there twice. Join them.")
            if not queries.lost and name not in known:
                problems.append(
                    f"{line}: there is no query '{name}'. Correct it, or delete the line."
                )
            found[name] = row
        return found


@dataclass(frozen=True, slots=True)
class _Paths:
    corpus: Path
    queries: Path
    qrels: Path
    answers: Path


def _passages(rows: Rows) -> Rows:
    found = [
        (line, CorpusRow(row.id, row.text, row.title, row.metadata)) for line, row in rows.found
    ]
    return Rows(found, rows.lost)


def _questions(
    queries: Rows,
    judged: Judgements,
    answers: Mapping[str, AnswerRow],
    paths: _Paths,
    problems: list[str],
) -> Rows:
    """The judged queries with their gold."""
    found = [
        (line, _question(row, judged, answers.get(as_id(row.id))))
        for line, row in queries.found
        if as_id(row.id) in judged.grades
    ]
    if not queries.lost:
        known = {as_id(row.id) for _, row in queries.found}
        problems += [
            f"{judged.first[query]}: the query '{query}' is not in {paths.queries.name}. Add it, "
            "or delete its judgements."
            for query in judged.grades
            if query not in known
        ]
    if queries.found and not judged.grades and not judged.lost:
        problems.append(f"{paths.qrels} judges no query. Give another split.")
    # Where judgements are to blame, it would be wrong to say that there are no queries.
    blamed = judged.lost or (queries.found and not found)
    return Rows(found, queries.lost + bool(blamed))


def _question(row: QueryRow, judged: Judgements, answer: AnswerRow | None) -> QuestionRow:
    return QuestionRow(
        id=row.id,
        question=row.text,
        answers=answer.answers if answer else None,
        gold_ids=list(judged.gold(as_id(row.id))),
        answerable=answer.answerable if answer else True,
    )


def _splits(folder: Path) -> str:
    """Which splits there are instead."""
    names = {p.name.removesuffix(".gz").removesuffix(".tsv") for p in folder.glob("qrels/*.tsv*")}
    return f" The splits there are: {', '.join(sorted(names))}." if names else ""
