"""From rows to a data set, with everything checked that no single row can know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ragablate.dataset.golden import GoldReader, Known, Rule
from ragablate.dataset.rows import (
    Line,
    Rows,
    as_document,
    as_id,
    as_passage,
    as_question,
    document_of,
)
from ragablate.errors import DatasetError
from ragablate.records import Dataset, Gold

Unit = Literal["passages", "documents"]
"""What a row of the corpus is: searched as it is, or cut by a chunker first."""

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


@dataclass(frozen=True, slots=True)
class Source:
    """What rows were read from, for titles and messages."""

    name: str
    """Short name of the data set."""
    attribution: str
    """Who made the data and under which licence."""
    corpus: Path
    """File the corpus comes from."""
    questions: Path
    """File the questions come from."""
    remedy: str = "Write one JSON object a line"
    """What to do about a file that holds nothing."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How rows are read."""

    unit: Unit = "passages"
    """What a row of the corpus is."""
    gold_rule: Rule = "all"
    """How a flat list of gold ids is read."""
    allow_missing_gold: bool = False
    """Whether gold may name what is in no corpus."""
    pool: bool = False
    """Whether a question's pool restricts its search."""

    def problems(self) -> list[str]:
        """Settings that do not exist or exclude each other."""
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


def build(corpus: Rows, asked: Rows, source: Source, rules: Rules, problems: list[str]) -> Dataset:
    """The data set that rows of a corpus and of questions make.

    Args:
        corpus: ``CorpusRow`` with where each stands.
        asked: ``QuestionRow`` with where each stands.
        source: What they were read from.
        rules: How they are read.
        problems: What is known to be wrong already.

    Raises:
        DatasetError: With everything that is wrong; of more than twenty problems the first
            twenty and the number of the others.
    """
    _refuse_empty(corpus, source.corpus, rules.unit, source.remedy, problems)
    _refuse_empty(asked, source.questions, "questions", source.remedy, problems)
    _refuse_ids(corpus, "passage" if rules.unit == "passages" else "document", problems)
    _refuse_ids(asked, "question", problems)
    _refuse_questions(asked, problems)
    known = _known(corpus, rules.unit)
    reader = GoldReader(known, rules.gold_rule, rules.allow_missing_gold, problems)
    gold = {as_id(row.id): reader.read(line, row) for line, row in asked.found}
    if rules.pool and known.complete:
        _refuse_pools(asked, known, problems)
    if corpus.lost and asked.found:
        problems.append(
            f"{source.corpus}: gold and pools were not checked, because it could not be read to "
            "the end. Correct it first."
        )
    if problems:
        raise DatasetError(capped(problems))
    return _dataset(corpus, asked, gold, source, rules)


def capped(problems: Iterable[str]) -> list[str]:
    """At most twenty problems, and how many more there are."""
    found = list(problems)
    rest = len(found) - _SHOWN
    return found if rest <= 0 else [*found[:_SHOWN], f"... and {rest} more problems."]


def _dataset(
    corpus: Rows, asked: Rows, gold: Mapping[str, Gold], source: Source, rules: Rules
) -> Dataset:
    rows = [row for _, row in corpus.found]
    cut = rules.unit == "passages"
    return Dataset(
        name=source.name,
        documents=() if cut else tuple(as_document(row) for row in rows),
        passages=tuple(as_passage(row) for row in rows) if cut else (),
        questions=tuple(as_question(row, rules.pool) for _, row in asked.found),
        gold=gold,
        attribution=source.attribution,
    )


def _known(corpus: Rows, unit: Unit) -> Known:
    cut = unit == "passages"
    rows = [row for _, row in corpus.found]
    texts = {as_id(row.id): row.text for row in reversed(rows)}
    documents = dict.fromkeys((document_of(row) for row in rows), None) if cut else texts
    return Known(texts if cut else {}, documents, cut, corpus.lost == 0)


def _refuse_pools(asked: Rows, known: Known, problems: list[str]) -> None:
    for line, row in asked.found:
        unknown = [as_id(p) for p in row.pool_ids or () if as_id(p) not in known.passages]
        if unknown:
            problems.append(
                f"{line}: pool_ids names the passage '{unknown[0]}'"
                + (f" and {len(unknown) - 1} others" if len(unknown) > 1 else "")
                + ", in no corpus. Correct the ids, or set pool=false."
            )


def _refuse_empty(rows: Rows, file: Path, what: str, remedy: str, problems: list[str]) -> None:
    if not rows.found and not rows.lost:
        problems.append(f"{file} holds no {what}. {remedy}.")


def _refuse_ids(rows: Rows, kind: str, problems: list[str]) -> None:
    """Refuse ids that stand twice or that no TREC file can hold."""
    seen: dict[str, Line] = {}
    for line, row in rows.found:
        name = as_id(row.id)
        if not name or " " in name or not name.isprintable():
            problems.append(
                f"{line}: the {kind} id '{name}' is empty or has white space or control "
                "characters in it, which TREC files cannot hold. Rename it."
            )
        if kind != "question" and name.startswith(_RESERVED):
            problems.append(f"{line}: ids that begin with '{_RESERVED}' are taken. Rename it.")
        if name in seen:
            problems.append(
                f"{line}: the {kind} id '{name}' stands in {seen[name].place} already. "
                f"Give every {kind} an id of its own."
            )
        seen.setdefault(name, line)


def _refuse_questions(asked: Rows, problems: list[str]) -> None:
    """Refuse blank questions, and gold where every stage could see it."""
    for line, row in asked.found:
        if not row.question.strip():
            problems.append(f"{line}: the question is blank. Write it, or delete the question.")
        for name in sorted(_GOLD_FIELDS & set(row.meta or ())):
            problems.append(
                f"{line}: meta holds '{name}', where every stage could see it. Move it out of meta."
            )
