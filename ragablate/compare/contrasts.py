"""Which samples a contrast is read from: headline, strata, stage signals, negative controls."""

from __future__ import annotations

from collections.abc import Iterator

from ragablate.compare.arms import compared, is_upstream, sibling
from ragablate.compare.effects import Role, Sample
from ragablate.compare.populations import (
    ANSWERABLE,
    EVIDENCE_FULL,
    EVIDENCE_NOT_FULL,
    KEPT_PRESENT,
    RETRIEVAL_DEPENDENT,
    UNANSWERABLE,
    answerable,
    strata,
    unanswerable,
)
from ragablate.compare.scores import (
    ABSTAINED,
    CORRECT,
    EVIDENCE_IN_CONTEXT,
    EVIDENCE_RETRIEVED,
    FAITHFULNESS,
    Reading,
    Replicates,
    ScoreTable,
    average,
)
from ragablate.records import Contrast

UPSTREAM_MINUS_READER = "upstream minus reader"
"""Measure name of the effect that weighs what is lost upstream against what the reader loses."""

STAGE_SIGNALS = (EVIDENCE_RETRIEVED, EVIDENCE_IN_CONTEXT, FAITHFULNESS, ABSTAINED, CORRECT)
"""The measures shown side by side for every arm, in the order of the pipeline."""


class ContrastSamples:
    """Everything one contrast is read from, paired by qid.

    Args:
        table: The study's scores.
        contrast: The contrast.
    """

    def __init__(self, table: ScoreTable, contrast: Contrast) -> None:
        self.table = table
        self.contrast = contrast

    @property
    def arms(self) -> tuple[str, str]:
        """Control and treatment as compared (without the gate, for an oracle context)."""
        return compared(self.table.study, self.contrast)

    def read(self, measure: str) -> Reading:
        """How a measure is read: a refusal is no faithful answer."""
        if measure == FAITHFULNESS:
            return self.table.reading_refusals_as_zero(measure)
        return self.table.reading(measure)

    def primary_population(self) -> tuple[str, tuple[str, ...]]:
        """The questions of the headline effect.

        Faithfulness given evidence is compared where evidence was full in both arms, since
        two rates over different questions say nothing about the reader. A placebo is read
        where it was decoded.
        """
        if self.contrast.measure == FAITHFULNESS:
            return KEPT_PRESENT, strata(self.table, self.arms)[KEPT_PRESENT]
        qids = answerable(self.table.study)
        if self.contrast.kind == "placebo":
            qids = tuple(q for q in qids if self._probed(q))
        return ANSWERABLE, qids

    def primary(self) -> Sample:
        """The headline effect."""
        population, qids = self.primary_population()
        return self._sample(self.contrast.measure, population, qids, "primary")

    def cells(self) -> Iterator[Sample]:
        """Declared strata: unanswerable questions, and control's evidence full or not."""
        if self.contrast.kind == "placebo":
            return
        measure = self.contrast.measure
        parts = strata(self.table, self.arms)
        wanted = (
            (measure, UNANSWERABLE, unanswerable(self.table.study)),
            (measure, EVIDENCE_FULL, parts[EVIDENCE_FULL]),
            (measure, EVIDENCE_NOT_FULL, parts[EVIDENCE_NOT_FULL]),
            (ABSTAINED, EVIDENCE_NOT_FULL, parts[EVIDENCE_NOT_FULL]),
            (FAITHFULNESS, KEPT_PRESENT, parts[KEPT_PRESENT]),
            (measure, RETRIEVAL_DEPENDENT, self._dependent()),
        )
        head = (measure, self.primary_population()[0])
        for name, population, qids in wanted:
            if qids and (name, population) != head and self._in_both(name):
                yield self._sample(name, population, qids, "cell")

    def _dependent(self) -> tuple[str, ...]:
        """Questions that are never right without context: there alone can retrieval show.

        None where the plan has no closed book of the same control, where the contrast is one
        itself, and where memory reaches no question, so that it is every question.
        """
        closed = sibling(self.table.study, self.contrast, "closed_book")
        if closed is None or self.contrast.kind in ("closed_book", "reader"):
            return ()
        qids = answerable(self.table.study)
        measure = self.contrast.measure
        found = tuple(q for q in qids if self.table.mean(closed.treatment, measure, q) == 0.0)
        return found if len(found) < len(qids) else ()

    def signals(self) -> Iterator[Sample]:
        """Stage signals and other measures beside the headline, and upstream minus reader."""
        if self.contrast.kind == "placebo":
            return
        if self.contrast.kind == "oracle" and self._in_both(EVIDENCE_IN_CONTEXT):
            yield self._upstream_minus_reader()
        for name in self._measures():
            if name in (self.contrast.measure, FAITHFULNESS) or self._is_control(name):
                continue
            yield self._sample(name, ANSWERABLE, answerable(self.table.study), "signal")

    def controls(self) -> Iterator[Sample]:
        """Negative controls: measures that were settled before the variable acts."""
        for name in self._measures():
            if self._is_control(name) and name != self.contrast.measure:
                qids = answerable(self.table.study)
                if self.contrast.kind == "placebo":
                    qids = tuple(q for q in qids if self._probed(q))
                yield self._sample(name, ANSWERABLE, qids, "control")

    def moved(self) -> dict[str, int]:
        """Negative controls that moved, with the number of questions, eval gaps included."""
        moved: dict[str, int] = {}
        for name in self._measures():
            if self._is_control(name):
                pairs = self.table.pairs(self.read(name), self.arms, self.table.study.qids)
                changed = sum(c != t for c, t in zip(pairs.control, pairs.treatment, strict=True))
                if changed:
                    moved[name] = changed
        return moved

    def _sample(self, measure: str, population: str, qids: tuple[str, ...], role: Role) -> Sample:
        pairs = self.table.pairs(self.read(measure), self.arms, qids)
        return Sample(self.contrast, self.arms, measure, population, role, pairs)

    def _upstream_minus_reader(self) -> Sample:
        """(O - B) against (1 - O) where the evidence was already full in B.

        Control is what the reader loses, treatment what is lost upstream of it.
        """
        base, oracle = self.arms
        score = self.read(self.contrast.measure)
        evidence = self.table.reading(EVIDENCE_IN_CONTEXT)

        def read(side: str, qid: str) -> Replicates:
            b, o, e = score(base, qid), score(oracle, qid), average(evidence(base, qid))
            if e is None or len(b) != len(o):
                return ()
            both = zip(b, o, strict=True)
            if side == base:
                return tuple(None if y is None else (1.0 - y) * e for y in o)
            return tuple(None if x is None or y is None else y - x for x, y in both)

        pairs = self.table.pairs(read, self.arms, answerable(self.table.study))
        return Sample(
            self.contrast, self.arms, UPSTREAM_MINUS_READER, ANSWERABLE, "signal", pairs, bound=2.0
        )

    def _measures(self) -> list[str]:
        """Measures both arms have: stage signals in pipeline order, the others by name."""
        others = sorted(set(self.table.study.measures) - set(STAGE_SIGNALS))
        return [name for name in (*STAGE_SIGNALS, *others) if self._in_both(name)]

    def _in_both(self, measure: str) -> bool:
        return all(measure in self.table.study.scores[arm] for arm in self.arms)

    def _is_control(self, measure: str) -> bool:
        known = self.table.study.measures.get(measure)
        return known is not None and is_upstream(known.stage, self.contrast.kind)

    def _probed(self, qid: str) -> bool:
        """Whether the placebo decoded this question, with or without success."""
        values = self.table.values(self.contrast.treatment, self.contrast.measure, qid)
        errors = self.table.study.errors.get(self.contrast.treatment, {})
        return any(v is not None for v in values) or qid in errors
