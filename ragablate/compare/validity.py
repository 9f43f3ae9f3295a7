"""What a study must hold before anything is computed from it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from ragablate.compare.numbers import listed
from ragablate.errors import EvidenceError
from ragablate.records import Analysis, Contrast, Study


def require_comparable(study: Study) -> None:
    """Refuse a study whose scores cannot be paired.

    Raises:
        EvidenceError: On an empty or duplicated question set, arms or measures that a
            contrast names and the scores lack, questions that differ between arms, a score
            outside [0, 1] or NaN, or unequal replicates.
    """
    _require_questions(study)
    _require_contrasts(study)
    _require_scores(study)
    for contrast in study.contrasts:
        if contrast.kind != "placebo":
            for arm in (contrast.control, contrast.treatment):
                _require_same_questions(study, arm, contrast.measure)
    for analysis in study.analyses:
        for arm in dict.fromkeys(analysis.arms.values()):
            if analysis.measure in study.scores.get(arm, {}):
                _require_same_questions(study, arm, analysis.measure)
    _require_replicates(study)


def _require_questions(study: Study) -> None:
    if not study.qids:
        raise EvidenceError("The question set is empty: there is nothing to compare.")
    repeated = sorted(q for q, times in Counter(study.qids).items() if times > 1)
    if repeated:
        raise EvidenceError(
            f"{len(repeated)} qid(s) occur more than once ({listed(repeated)}): "
            "paired effects need every question once."
        )
    unknown = sorted(q for q in study.qids if q not in study.answerable)
    if unknown:
        raise EvidenceError(
            f"It is not said whether {len(unknown)} question(s) are answerable ({listed(unknown)})."
        )
    usable = sum(study.answerable[q] and q not in study.eval_gaps for q in study.qids)
    if usable < 2:
        raise EvidenceError(
            f"{usable} answerable question(s) with usable gold are left of {len(study.qids)} "
            f"({len(study.eval_gaps)} eval gaps): an effect needs at least 2."
        )


def _require_contrasts(study: Study) -> None:
    declared: list[Contrast | Analysis] = [*study.contrasts, *study.analyses]
    repeated = sorted(i for i, n in Counter(d.id for d in declared).items() if n > 1)
    if repeated:
        raise EvidenceError(f"Contrast ids occur more than once: {listed(repeated)}.")
    for contrast in study.contrasts:
        for arm in (contrast.control, contrast.treatment):
            if contrast.measure not in study.scores.get(arm, {}):
                raise EvidenceError(
                    f"Contrast '{contrast.id}' compares {contrast.measure}, of which arm "
                    f"'{arm}' has no scores: run that arm, or judge it again with this measure."
                )
    for each in declared:
        if not 0 < each.margin < 1:
            raise EvidenceError(
                f"Contrast '{each.id}' has margin {each.margin:g}: a margin lies between 0 and 1."
            )


def _cells(study: Study) -> Iterator[tuple[str, str, str, tuple[float | None, ...]]]:
    for arm in sorted(study.scores):
        for measure in sorted(study.scores[arm]):
            for qid in sorted(study.scores[arm][measure]):
                yield arm, measure, qid, study.scores[arm][measure][qid]


def _require_scores(study: Study) -> None:
    known = set(study.qids)
    for arm, measure, qid, values in _cells(study):
        if qid not in known:
            raise EvidenceError(
                f"Arm '{arm}' has {measure} for question {qid}, which is not in the question "
                "set: paired effects need the same questions in every arm."
            )
        for value in values:
            if value is not None and not (math.isfinite(value) and 0.0 <= value <= 1.0):
                raise EvidenceError(
                    f"Score {value:g} of {measure} on {qid} in arm '{arm}': scores lie in "
                    "[0, 1], and what could not be measured is None."
                )


def _require_same_questions(study: Study, arm: str, measure: str) -> None:
    """Every question in every arm; a placebo alone may probe only some."""
    absent = sorted(set(study.qids) - set(study.scores[arm][measure]))
    if absent:
        raise EvidenceError(
            f"{len(absent)} question(s) have no {measure} in arm '{arm}' "
            f"({listed(absent)}): paired effects need the same questions in every arm."
        )


def _require_replicates(study: Study) -> None:
    """Equal numbers of decodes per arm and question, within each measure.

    A placebo may hold fewer decodes than the others, but the same for each of its questions.
    """
    probes = {c.treatment for c in study.contrasts if c.kind == "placebo"}
    expected: dict[tuple[str, str], tuple[int, str, str]] = {}
    for arm, measure, qid, values in _cells(study):
        group = (measure, arm if arm in probes else "")
        k, first_arm, first_qid = expected.setdefault(group, (len(values), arm, qid))
        if len(values) != k or not values:
            raise EvidenceError(
                f"{measure} has {len(values)} replicate(s) on {qid} in arm '{arm}' but {k} on "
                f"{first_qid} in arm '{first_arm}': every arm and question needs the same number."
            )
