"""A folder with a corpus and questions as JSON lines."""

from __future__ import annotations

from pathlib import Path

from ragablate.dataset import files
from ragablate.dataset.building import Rules, Source, Unit, build
from ragablate.dataset.golden import Rule
from ragablate.dataset.rows import CorpusRow, QuestionRow, read_rows
from ragablate.errors import DatasetError, RagablateError
from ragablate.records import Dataset
from ragablate.resources import locate


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
        found = self._rules.problems()
        try:
            folder, *wanted = self._paths()
        except RagablateError as problem:
            return [*found, str(problem)]
        if not folder.is_dir():
            found.append(
                f"dataset.path: there is no folder {folder}. Give the folder that holds "
                f"{self.corpus} and {self.questions}."
            )
            return found
        return found + [files.missing(file) for file in wanted if not file.is_file()]

    def identity(self) -> dict[str, object]:
        """``path`` by the content of both files; unchanged while one cannot be read."""
        try:
            return {"path": files.content_digest(self._paths()[1:])}
        except (OSError, RagablateError):
            return {}

    def load(self) -> Dataset:
        """Read and check both files.

        Raises:
            DatasetError: With everything that is wrong in either file; of more than twenty
                problems the first twenty and the number of the others.
        """
        problems = self.problems()
        if self._rules.problems() or not self._paths()[0].is_dir():
            raise DatasetError(problems)
        folder, corpus, questions = self._paths()
        name = self.name or folder.name or folder.resolve().name
        return build(
            read_rows(corpus, CorpusRow, problems),
            read_rows(questions, QuestionRow, problems),
            Source(name, self.attribution, corpus, questions),
            self._rules,
            problems,
        )

    @property
    def _rules(self) -> Rules:
        return Rules(self.unit, self.gold_rule, self.allow_missing_gold, self.pool)

    def _paths(self) -> tuple[Path, Path, Path]:
        folder = locate(str(self.path))
        return folder, folder / self.corpus, folder / self.questions
