"""Reading what people said of answers, and holding it to the plan it is about."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ragablate.codec import decode
from ragablate.records import HumanLabel

_NEEDED = ("qid", "arm", "measure", "label")
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Scope:
    """What labels may be about."""

    qids: Collection[str]
    """Of every question."""
    arms: Collection[str]
    """By name."""
    measures: Collection[str]
    """By name."""
    replicates: int
    """Decodes per question and arm."""


class _Row(msgspec.Struct):
    qid: str
    arm: str
    measure: str
    label: float | bool | None
    replicate: int = 1


def read_labels(path: object, scope: Scope) -> tuple[tuple[HumanLabel, ...], list[str]]:
    """Labels in the order of the file, and what is wrong with them.

    Args:
        path: A ``.csv`` file with a header or a file of JSON objects, one a line; ``None`` for
            none. A row without a label says nothing and is passed over.
        scope: What they may be about.
    """
    if path is None:
        return (), []
    place = Path(str(path)).expanduser()
    try:
        text = place.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        return (), [f"labels={path} cannot be read ({reason}): give a CSV or JSON Lines file"]
    problems: list[str] = []
    rows = list(_csv(text, problems) if place.suffix == ".csv" else _jsonl(text, problems))
    labels = tuple(
        HumanLabel(row.qid, row.arm, row.measure, float(row.label), row.replicate)
        for _, row in rows
        if row.label is not None
    )
    if not labels and not problems:
        problems.append("it holds no label: give at least one, or leave labels out")
    problems += [*_out_of_range(rows), *_unknown(labels, scope)]
    return labels, [f"labels={path}: {problem}" for problem in problems]


def _jsonl(text: str, problems: list[str]) -> Iterator[tuple[int, _Row]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, decode(line, _Row)
        except (msgspec.MsgspecError, UnicodeEncodeError) as error:
            problems.append(f"line {number} is no label ({error}): it needs {', '.join(_NEEDED)}")


def _csv(text: str, problems: list[str]) -> Iterator[tuple[int, _Row]]:
    reader = csv.DictReader(text.splitlines(), strict=True)
    lacking = [name for name in _NEEDED if name not in (reader.fieldnames or ())]
    if lacking:
        problems.append(f"the header lacks {', '.join(lacking)}: name the columns in line 1")
        return
    try:
        for row in reader:
            yield from _converted(reader.line_num, row, problems)
    except csv.Error as error:
        problems.append(f"line {reader.line_num} is no CSV: {error}")


def _converted(
    number: int, row: Mapping[str, str | None], problems: list[str]
) -> Iterator[tuple[int, _Row]]:
    given = {key: row[key] for key in _NEEDED}
    label, replicate = (given.pop("label") or "").strip(), (row.get("replicate") or "1").strip()
    value: object = {"": None, "true": True, "false": False}.get(label.lower(), label)
    try:
        whole = {**given, "label": value, "replicate": replicate}
        yield number, msgspec.convert(whole, _Row, strict=False)
    except msgspec.MsgspecError as error:
        problems.append(f"line {number} is no label ({error}): it needs {', '.join(_NEEDED)}")


def _out_of_range(rows: list[tuple[int, _Row]]) -> Iterator[str]:
    for number, row in rows:
        if row.label is not None and not 0 <= row.label <= 1:
            yield f"line {number} has the label {row.label:g}: give a number from 0 to 1"


def _unknown(labels: tuple[HumanLabel, ...], scope: Scope) -> Iterator[str]:
    for what, known, given in (
        ("qid", scope.qids, [x.qid for x in labels]),
        ("arm", scope.arms, [x.arm for x in labels]),
        ("measure", scope.measures, [x.measure for x in labels]),
        ("replicate", range(1, scope.replicates + 1), [x.replicate for x in labels]),
    ):
        inside = set(known)
        foreign = [str(each) for each in dict.fromkeys(given) if each not in inside]
        if foreign:
            yield f"unknown {what} {_listed(foreign)}" + _choices(what, scope)
    times = Counter((x.qid, x.arm, x.measure, x.replicate) for x in labels)
    twice = [f"{qid} in {arm} on {measure}" for (qid, arm, measure, _), n in times.items() if n > 1]
    if twice:
        yield f"{_listed(twice)} labelled more than once: settle on one label each"


def _choices(what: str, scope: Scope) -> str:
    if what == "qid":
        return ": the data set has no such question"
    if what == "replicate":
        return f": every question is decoded {scope.replicates} time(s)"
    return f": give one of {', '.join(scope.arms if what == 'arm' else scope.measures)}"


def _listed(items: list[str]) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more
