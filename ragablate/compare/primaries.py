"""The primary effects of a study: one a contrast, judged as one family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragablate.compare import phrases
from ragablate.compare.arms import family, proofs_of
from ragablate.compare.contrasts import ContrastSamples
from ragablate.compare.effects import Draft, Sample, decision, drafts, finish, refused
from ragablate.compare.first_family import Family
from ragablate.compare.inference.states import Decision, decide_with_missing
from ragablate.compare.missing import Missing, missing, worst_cases
from ragablate.compare.numbers import count, signed
from ragablate.compare.scores import ScoreTable, mean_of
from ragablate.errors import EvidenceError
from ragablate.records import Contrast, Effect, Study


@dataclass(frozen=True, slots=True)
class Primary:
    """The headline of one contrast, before its family is known."""

    samples: ContrastSamples
    """Where further samples of the contrast come from."""
    sample: Sample
    """Paired scores of the primary measure."""
    qids: tuple[str, ...]
    """The questions asked for."""
    missing: Missing | None
    """What is missing in each arm; ``None`` without a question."""
    draft: Draft | None
    """Test and intervals; ``None`` where there is no number."""
    refusal: str
    """Why there is no number; empty where there is one."""
    no_data: bool
    """Whether it is refused for want of answers, not for a broken invariant."""

    @property
    def contrast(self) -> Contrast:
        """The contrast."""
        return self.samples.contrast


def primaries(table: ScoreTable) -> tuple[Primary, ...]:
    """Pair, test and put intervals around the primary measure of every contrast.

    Raises:
        EvidenceError: Every contrast is refused for want of answers.
    """
    prepared = [_prepared(table, contrast) for contrast in table.study.contrasts]
    tested = drafts([p.sample for p in prepared], table.study)
    found = tuple(
        p if p.refusal else replace(p, draft=drafted)
        for p, drafted in zip(prepared, tested, strict=True)
    )
    if found and all(p.no_data for p in found):
        reasons = dict.fromkeys(p.refusal for p in found)
        raise EvidenceError(" ".join(f"{reason}." for reason in reasons))
    return found


def judge(found: Sequence[Primary], study: Study) -> tuple[Effect, ...]:
    """States of all primary effects, adjusted over the declared contrasts.

    By Holm, or by max-T where the plan says so. A refused contrast stays in its family as
    p = 1. Placebos are judged alone. Where answers are missing the full state must be the same
    on the complete pairs and at both worst cases.
    """
    ids = {contrast.id for contrast in family(study)}
    members = {p.contrast.id: p.draft for p in found if p.contrast.id in ids}
    return tuple(_judged(primary, Family(members, study)) for primary in found)


def bounds(primary: Primary) -> tuple[float, float] | None:
    """Lowest and highest effect the missing answers allow; ``None`` where none is missing."""
    if primary.draft is None or primary.missing is None or not any(primary.missing.unmeasured):
        return None
    low, high = _worst(primary)
    return mean_of(low.pairs.differences), mean_of(high.pairs.differences)


def _judged(primary: Primary, among: Family) -> Effect:
    study = among.study
    if primary.draft is None:
        return refused(primary.sample)
    adjusted = among.adjusted(primary.contrast.id, primary.draft)
    decided = decision(primary.draft, adjusted, study.alpha)
    if bounds(primary) is not None:
        low, high = (
            _at_worst(primary, drafted, among) for drafted in drafts(_worst(primary), study)
        )
        decided = decide_with_missing(decided, low, high)
    return finish(primary.draft, decided, adjusted, study)


def _at_worst(primary: Primary, drafted: Draft | None, among: Family) -> Decision:
    """The state if the missing answers had been the worst ones."""
    if drafted is None:
        return Decision("refused")
    return decision(drafted, among.adjusted(primary.contrast.id, drafted), among.study.alpha)


def _worst(primary: Primary) -> tuple[Sample, Sample]:
    sample = primary.sample
    read = primary.samples.read(sample.measure)
    low, high = worst_cases(read, sample.arms, primary.qids, sample.pairs)
    return replace(sample, pairs=low), replace(sample, pairs=high)


def _prepared(table: ScoreTable, contrast: Contrast) -> Primary:
    study = table.study
    samples = ContrastSamples(table, contrast)
    sample = samples.primary()
    qids = samples.primary_population()[1]
    read = samples.read(contrast.measure)
    gone = missing(study, read, samples.arms, qids) if qids else None
    no_data = _no_data(sample, gone)
    refusal = no_data or _broken(samples, study)
    return Primary(
        samples=samples,
        sample=sample,
        qids=qids,
        missing=gone,
        draft=None,
        refusal=refusal,
        no_data=bool(no_data),
    )


def _no_data(sample: Sample, gone: Missing | None) -> str:
    """Why the answers cannot carry an effect; empty where they can."""
    if gone is not None and gone.everything is not None:
        arm = sample.arms[gone.everything]
        return (
            f"Arm '{arm}' has no answer to any of the {count(gone.questions, 'question')} "
            "(all failed or are unmeasured)"
        )
    n = len(sample.pairs.qids)
    if n < 2:
        return (
            f"{count(n, 'complete pair')} of arms '{sample.arms[0]}' and '{sample.arms[1]}' "
            f"on {sample.measure} ({sample.population}): an effect needs at least 2"
        )
    return ""


def _broken(samples: ContrastSamples, study: Study) -> str:
    """The first invariant that forbids a number; empty where none does."""
    contrast = samples.contrast
    for proof in proofs_of(study, contrast):
        if proof.status == "fail" and proof.consequence == "refuse":
            return proof.text.rstrip(".")
    if contrast.kind in ("reader", "placebo"):
        for measure, questions in samples.moved().items():
            return (
                f"{phrases.measure(study, measure)} moved on {count(questions, 'question')} in "
                "an arm whose contexts are fixed: impossible, so the replay is broken"
            )
    return ""


def missing_text(primary: Primary) -> str:
    """What the missing answers allow, as a phrase; empty where none is missing."""
    found, gone = bounds(primary), primary.missing
    if found is None or gone is None:
        return ""
    control, treatment = gone.unmeasured
    return (
        f"{count(control + treatment, 'answer')} missing ({control} in control, {treatment} in "
        f"treatment): whatever they were, the effect lies between {signed(found[0])} and "
        f"{signed(found[1])}"
    )
