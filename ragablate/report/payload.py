"""What the questions of ``report.html`` are shown from: compressed, and in parts.

One index of what questions are found by, and parts of a few questions each, which the page
unpacks when one of them is opened. A text is stored once, in the part in which it occurs
first. No latency and no time is in it: the same plan and data give the same bytes.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragablate.bundle.read import Bundle
from ragablate.codec import encode
from ragablate.compare.ladder_logs import failing, first_fix
from ragablate.compare.ladder_rungs import climb
from ragablate.compare.scores import CORRECT, ScoreTable
from ragablate.diagnose import BUCKETS
from ragablate.diagnose.traversal import OK
from ragablate.records import Study
from ragablate.report import plans
from ragablate.report.payload_questions import Questions
from ragablate.report.transitions import by_bucket

PER_PART = 20
"""Questions of one part."""

_LEVEL = 6
_PLACES = 6
_REPAIRS = {"A", "D", "S", "O"}
"""Roles without which a ladder is refused."""


@dataclass(frozen=True, slots=True)
class Payload:
    """Base64 of deflated JSON."""

    index: str
    """What questions are found by."""
    parts: tuple[str, ...]
    """The questions, ``PER_PART`` at a time, in the order of the index."""


def payload(bundle: Bundle, study: Study) -> Payload:
    """Everything a reader of the report can look up about single questions.

    Args:
        bundle: The bundle.
        study: The same bundle's, as it was compared.
    """
    qids = list(bundle.questions)
    questions = Questions(bundle)
    parts = []
    firsts = []
    for start in range(0, len(qids), PER_PART):
        firsts.append(questions.texts.total)
        rows = [questions.row(qid) for qid in qids[start : start + PER_PART]]
        parts.append(_packed({"texts": questions.texts.taken(), "questions": rows}))
    index = {**_index(bundle, study, qids), "firsts": firsts, "per_part": PER_PART}
    return Payload(_packed(index), tuple(parts))


def _packed(content: Mapping[str, Any]) -> str:
    try:
        data = encode(content)
    except UnicodeEncodeError:
        data = encode(_writable(content))
    return base64.b64encode(zlib.compress(data, _LEVEL)).decode("ascii")


def _writable(content: Any) -> Any:
    """Content without lone surrogates, which are no text and which no browser could show."""
    if isinstance(content, str):
        return content.encode("utf-8", "replace").decode("utf-8")
    if isinstance(content, Mapping):
        return {_writable(k): _writable(v) for k, v in content.items()}
    if isinstance(content, list | tuple):
        return [_writable(each) for each in content]
    return content


# ── the index ───────────────────────────────────────────────────────────────────────────


def _index(bundle: Bundle, study: Study, qids: Sequence[str]) -> dict[str, Any]:
    arms = list(bundle.arms)
    measures = _primaries(bundle)
    return {
        "arms": arms,
        "changes": _changes(bundle),
        "measures": [[m["name"], m["label"]] for m in bundle.plan["measures"]],
        "contrasts": [
            [c.id, plans.changed(c), arms.index(c.control), arms.index(c.treatment), c.measure]
            for c in bundle.contrasts
        ],
        "qids": qids,
        "text": [bundle.questions[qid].question for qid in qids],
        "kind": [_kind(bundle, qid) for qid in qids],
        "slices": _slices(bundle, qids),
        "buckets": list(BUCKETS),
        "bucket": [_buckets(bundle, arm, measures[0], qids) for arm in arms],
        "scores": {m: [_means(study, arm, m, qids) for arm in arms] for m in measures},
        "fixes": _fixes(study, qids),
    }


def _primaries(bundle: Bundle) -> list[str]:
    """The measures contrasts and analyses are about; the first says what failed."""
    declared = [a.measure for a in bundle.analyses] + [c.measure for c in bundle.contrasts]
    return list(dict.fromkeys(declared)) or [CORRECT]


def _changes(bundle: Bundle) -> list[str]:
    found = {c.treatment: plans.changed(c) for c in reversed(bundle.contrasts)}
    return [found.get(name, _overrides(arm.overrides)) for name, arm in bundle.arms.items()]


def _overrides(overrides: Sequence[str]) -> str:
    return ", ".join(plans.portable(override) for override in overrides)


def _kind(bundle: Bundle, qid: str) -> int:
    question = bundle.questions[qid]
    return 2 if question.eval_gap else 0 if question.gold.answerable else 1


def _slices(bundle: Bundle, qids: Sequence[str]) -> dict[str, list[str | None]]:
    names = dict.fromkeys(name for qid in qids for name in bundle.questions[qid].slices)
    return {name: [bundle.questions[qid].slices.get(name) for qid in qids] for name in names}


def _buckets(bundle: Bundle, arm: str, measure: str, qids: Sequence[str]) -> list[int]:
    """The bucket of each question, the first failed decode of several; -1 where unmeasured."""
    found: dict[str, str] = {}
    for (qid, _), bucket in sorted(by_bucket(bundle, arm, measure).items()):
        if found.get(qid, OK) == OK:
            found[qid] = bucket
    return [BUCKETS.index(found[qid]) if qid in found else -1 for qid in qids]


def _means(study: Study, arm: str, measure: str, qids: Iterable[str]) -> list[float | None]:
    by_qid = study.scores.get(arm, {}).get(measure, {})
    return [_mean(by_qid.get(qid, ())) for qid in qids]


def _mean(values: Sequence[float | None]) -> float | None:
    if not values or None in values:
        return None
    return round(sum(v for v in values if v is not None) / len(values), _PLACES)


def _fixes(study: Study, qids: Sequence[str]) -> dict[str, list[str | None]]:
    """By ladder, the first rung that fixed each question that control gets wrong."""
    table = ScoreTable(study)
    found = {}
    for analysis in study.analyses:
        if analysis.kind != "ladder" or not analysis.arms.keys() >= _REPAIRS:
            continue
        climbed = climb(table, analysis)
        fixed = {q.qid: first_fix(climbed, q) for q in failing(climbed)}
        found[analysis.id] = [fixed.get(qid) for qid in qids]
    return found
