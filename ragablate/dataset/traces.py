"""The questions and passages of somebody's log, as a data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ragablate.dataset import files
from ragablate.dataset.building import Rules, Source, Unit, build
from ragablate.dataset.rows import (
    AlternativeRow,
    CorpusRow,
    Line,
    QuestionRow,
    Rows,
    TurnRow,
    as_id,
    read_rows,
)
from ragablate.errors import DatasetError, RagablateError
from ragablate.logs import Entry, GoldQuote, Log, read_log, read_problems
from ragablate.records import Dataset
from ragablate.resources import locate
from ragablate.text.normalize import occurs


class Traces:
    """What was asked, and every passage whose text the log holds.

    Of several decodes of a question the first is taken. The corpus is what the log holds,
    unless ``corpus`` gives the whole of it. Gold is by pid or by text; a text that stands in
    one passage or more is gold in any of them, so that it survives another chunker.

    Args:
        path: The log: JSON lines, one JSON document or Parquet.
        format: How it is read; ``auto`` tells by its fields.
        fields: By our name of a field, the field of the log's rows.
        name: Short name for titles; empty takes the file's.
        corpus: JSONL of ``id`` and ``text`` with what the log does not hold; empty has none.
        unit: What a line of ``corpus`` is.
        gold_rule: Whether all ids of a flat list of gold are needed, or any.
        gold_from_references: Take as gold, where the log has none, every logged passage of
            the question that says a reference answer; a guess, and wrong where a passage
            says it by chance.
        attribution: Who made the data and under which licence.
    """

    def __init__(  # noqa: PLR0913
        self,
        path: str,
        format: str = "auto",
        fields: Mapping[str, str | None] | None = None,
        name: str = "",
        corpus: str = "",
        unit: Unit = "passages",
        gold_rule: str = "all",
        gold_from_references: bool = False,
        attribution: str = "",
    ) -> None:
        self.path = path
        self.format = format
        self.fields = fields
        self.name = name
        self.corpus = corpus
        self.unit = unit
        self.gold_rule = gold_rule
        self.gold_from_references = gold_from_references
        self.attribution = attribution

    def problems(self) -> list[str]:
        """A file that is missing, a setting that does not exist."""
        found = read_problems(self.path, self.format, self.fields or {}, "dataset")
        found += self._rules.problems()
        try:
            missing = bool(self.corpus) and not locate(self.corpus).is_file()
        except RagablateError as error:
            return [*found, f"dataset.corpus: {error}"]
        if missing:
            found.append(f"dataset.corpus: {files.missing(locate(self.corpus))}")
        if self.unit == "documents" and not self.corpus:
            found.append("dataset.unit=documents needs the documents: give dataset.corpus.")
        return found

    def identity(self) -> dict[str, object]:
        """Log and corpus by their content."""
        try:
            known: dict[str, object] = {"path": files.content_digest([locate(self.path)])}
            if self.corpus:
                known["corpus"] = files.content_digest([locate(self.corpus)])
        except (OSError, RagablateError):
            return {}
        return known

    def load(self) -> Dataset:
        """Read the log and check what it holds.

        Raises:
            DatasetError: With everything that is wrong.
        """
        problems = self.problems()
        if problems:
            raise DatasetError(problems)
        log = read_log(self.path, self.format, self.fields)
        file = locate(self.path)
        corpus = self._corpus(log, file, problems)
        texts = {as_id(row.id): row.text for _, row in corpus.found}
        asked = Rows(
            [
                (Line(file, number, "answer"), self._question(entry, log, texts))
                for number, entry in enumerate(log.entries, 1)
                if entry.replicate == min(e.replicate for e in _decodes(log)[entry.qid])
            ],
            0,
        )
        answerable = [row for _, row in asked.found if row.answerable]
        if answerable and not any(row.gold for row in answerable):
            problems.append(
                f"{self.path} has no gold, so no evidence can be followed. Map dataset.fields."
                "gold_ids or gold_texts, or set dataset.gold_from_references=true to take what "
                "says a reference answer."
            )
        name = self.name or files.stem(file).removesuffix(".jsonl")
        return build(corpus, asked, Source(name, self.attribution, file, file), self._rules,
                     problems)  # fmt: skip

    @property
    def _rules(self) -> Rules:
        return Rules(self.unit, self.gold_rule, True)  # type: ignore[arg-type]

    def _corpus(self, log: Log, file: Path, problems: list[str]) -> Rows:
        if self.corpus:
            given = read_rows(locate(self.corpus), CorpusRow, problems)
            if self.unit == "documents":
                return given
        else:
            given = Rows([], 0)
        known = {as_id(row.id) for _, row in given.found}
        own = [
            (
                Line(file, number, "passage"),
                CorpusRow(p.pid, p.text, p.title, dict(p.meta) or None, p.doc_id or None),
            )
            for number, p in enumerate(log.texts.values(), 1)
            if p.text is not None and p.pid not in known
        ]
        return Rows([*given.found, *own], given.lost)

    def _question(self, entry: Entry, log: Log, texts: Mapping[str, str]) -> QuestionRow:
        row = QuestionRow(
            id=entry.qid,
            question=entry.question,
            answers=list(entry.references) or None,
            answerable=entry.answerable,
            slices=dict(entry.slices),
            filter={k: v for k, v in entry.filter.items() if _scalar(v)} or None,
            history=[TurnRow(t.speaker, t.text) for t in entry.history] or None,
        )
        if entry.answerable:
            row.gold = list(self._gold(entry, log, texts)) or None
        return row

    def _gold(
        self, entry: Entry, log: Log, texts: Mapping[str, str]
    ) -> Iterator[list[str | int | AlternativeRow]]:
        documents = self.unit == "documents"
        if entry.gold_quotes and not documents:
            for quoted in entry.gold_quotes:
                yield [_alternative(quote) for quote in quoted]
            return
        for part in self._parts(entry):
            found: list[str | int | AlternativeRow] = []
            for pid in part:
                text = log.texts[pid].text if pid in log.texts else None
                found += _in_text(text, texts, True) if documents and text else [pid]
            yield found
        for text in entry.gold_texts:
            yield _in_text(text, texts, documents)

    def _parts(self, entry: Entry) -> list[tuple[str, ...]]:
        """Gold by pid: the log's, or what says a reference answer where that is asked for."""
        parts = list(entry.gold)
        if not (entry.gold or entry.gold_texts) and self.gold_from_references:
            said = [p.pid for p in entry.retrieved or () if _says(p.text, entry.references)]
            return [tuple(dict.fromkeys(said))] if said else []
        if self.gold_rule == "any" and all(len(part) == 1 for part in parts):
            parts = [tuple(pid for part in parts for pid in part)] if parts else []
        return parts


def _scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _decodes(log: Log) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in log.entries:
        found.setdefault(entry.qid, []).append(entry)
    return found


def _in_text(
    text: str, texts: Mapping[str, str], documents: bool
) -> list[str | int | AlternativeRow]:
    """Where a text stands: every passage or document that holds it, or itself."""
    found: list[str | int | AlternativeRow] = []
    for name, whole in texts.items():
        start = whole.find(text)
        if start >= 0 and documents:
            found.append(AlternativeRow(doc_id=name, start=start, end=start + len(text)))
        elif start >= 0:
            found.append(AlternativeRow(pid=name, start=start, end=start + len(text)))
    return found or [AlternativeRow(text=text)]


def _alternative(gold: GoldQuote) -> AlternativeRow:
    if not gold.pid:
        return AlternativeRow(text=gold.text)
    return AlternativeRow(pid=gold.pid, quotes=list(gold.quotes) or None)


def _says(text: str | None, references: tuple[str, ...]) -> bool:
    return text is not None and any(occurs(reference, text) for reference in references)
