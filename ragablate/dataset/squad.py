"""A JSON file in the format of SQuAD (Rajpurkar et al. 2016, 2018)."""

from __future__ import annotations

from pathlib import Path

from ragablate.dataset import files
from ragablate.dataset.articles import SHAPE, Articles, merged
from ragablate.dataset.building import Rules, Source, Unit, build
from ragablate.dataset.rows import Rows
from ragablate.errors import DatasetError, RagablateError
from ragablate.records import Dataset
from ragablate.resources import locate


class Squad:
    """Questions on articles, with spans of paragraphs as gold: SQuAD, XQuAD, MLQA and the like.

    A paragraph is a passage with the id ``<article>-<paragraph>``, cut from a document
    ``<article>``, both counted from 0 in file order; the same paragraph a second time under
    the same title is the first one. The gold of a question is one part: the span of each
    distinct reference answer, any of which is enough. A question without reference answers
    needs its whole paragraph. An unanswerable question names its paragraph, so that
    retrieval can be measured and questions of one article are known to be dependent; no
    stage is ever given it as evidence.

    Args:
        path: The file, plain or gzipped, or ``pkg://PACKAGE/FILE``.
        name: Short name for titles; empty takes the file's.
        unit: Whether the corpus is ``passages``, one a paragraph, or ``documents``, one an
            article of paragraphs with an empty line between them, for a chunker to cut.
            Gold then is spans of the article, and an unanswerable question names the article.
        distinct_questions: Make one question of questions in the same words (white space
            apart): any answer of theirs is right, and any of their spans is enough. It has the
            id of the first. It is unanswerable if all of them are.
        repair: Take an answer that does not stand at its ``answer_start`` to stand where it
            next occurs in the paragraph, the nearest first; where it does not occur, the
            other answers' spans are the gold, or else the whole paragraph.
        attribution: Who made the data and under which licence.
    """

    def __init__(
        self,
        path: str,
        name: str = "",
        unit: Unit = "passages",
        distinct_questions: bool = False,
        repair: bool = False,
        attribution: str = "",
    ) -> None:
        self.path = path
        self.name = name
        self.unit = unit
        self.distinct_questions = distinct_questions
        self.repair = repair
        self.attribution = attribution

    def problems(self) -> list[str]:
        """Settings that do not exist, and a file that is missing."""
        found = Rules(self.unit).problems()
        try:
            file = self._file()
        except RagablateError as problem:
            return [*found, str(problem)]
        return found if file.is_file() else [*found, f"dataset.path: {files.missing(file)}"]

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
        articles = Articles(file, self.unit, self.repair, problems)
        asked = articles.read()
        if self.distinct_questions:
            asked = merged(asked)
        questions = [(line, each.row(self.unit)) for line, each in asked]
        name = self.name or files.stem(file)
        return build(
            # Gold is always of the file's own paragraphs: nothing of it can be unknown.
            Rows(articles.corpus, articles.lost if not articles.corpus else 0),
            Rows(questions, articles.lost),
            Source(name, self.attribution, file, file, f"Give {SHAPE}"),
            Rules(self.unit),
            problems,
        )

    def _file(self) -> Path:
        return files.find(locate(str(self.path)))
