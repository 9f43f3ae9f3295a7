"""From logs of arms to a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragablate.compare.comparison import compare
from ragablate.compare.moves import Moves
from ragablate.compare.scores import EVIDENCE_IN_CONTEXT, EVIDENCE_RETRIEVED, FAITHFULNESS
from ragablate.elsewhere.buckets import buckets, moves_between
from ragablate.elsewhere.held import held
from ragablate.elsewhere.roles import ladder_of, ladder_proofs, missing_rungs
from ragablate.elsewhere.scoring import OWN, RULE, declined, scores, shown_gold
from ragablate.errors import EvidenceError
from ragablate.logs import Entry, Log
from ragablate.proofs.exhibit import failed, passed, unchecked
from ragablate.records import Comparison, Contrast, Measure, MeasureStage, Proof, Study

CONTROL = "control"


@dataclass(frozen=True, slots=True)
class Choice:
    """How logs are compared."""

    measure: str = "correct"
    """The measure; ``correct`` is judged by the references where no log has verdicts."""
    margin: float = 0.05
    """Smallest difference that matters."""
    alpha: float = 0.05
    """Level of the tests."""
    seed: int = 0
    """Of Monte Carlo tests."""
    phrases: tuple[str, ...] = ()
    """What counts as declining to answer."""
    selected_by_failure: bool | None = None
    """Whether the questions were chosen because control failed; ``None`` is not said."""


@dataclass(frozen=True, slots=True)
class Arms:
    """What logs of arms show."""

    study: Study
    """What the comparison was made from."""
    comparison: Comparison
    """Effects, conclusions and signals."""
    moves: Mapping[str, Moves] = field(default_factory=dict)
    """By treatment, what became of every question's failure bucket."""
    notes: tuple[str, ...] = ()
    """What the logs do not say, by arm."""


def compare_arms(logs: Mapping[str, Log], choice: Choice) -> Arms:
    """Compare logs by role; each against ``control``.

    Raises:
        EvidenceError: There is no control, the logs hold other questions or unequal numbers
            of decodes, or no scores.
    """
    if CONTROL not in logs or len(logs) < 2:
        raise EvidenceError(
            "Name one arm control and at least one other: --arm control=A.jsonl --arm NAME=B.jsonl."
        )
    control = {(e.qid, e.replicate): e for e in logs[CONTROL].entries}
    own = {r: any(choice.measure in e.verdicts for e in log.entries) for r, log in logs.items()}
    if choice.measure != "correct" and not any(own.values()):
        raise EvidenceError(f"No log has a verdict '{choice.measure}'.")
    of = {r: scores(log.entries, choice.measure, choice.phrases, own[r]) for r, log in logs.items()}
    contrasts, proofs = [], {}
    for role, log in logs.items():
        if role == CONTROL:
            continue
        pairs = [
            (control[e.qid, e.replicate], e) for e in log.entries if (e.qid, e.replicate) in control
        ]
        found = held(role, pairs)
        contrast = _contrast(role, found.kind, found.variable, choice)
        contrasts.append(contrast)
        proofs[contrast.id] = (*found.proofs, *_of_logs(own[CONTROL], own[role], choice))
    study = _study(logs, of, choice, tuple(contrasts), proofs)
    ladder = ladder_of(logs, choice.measure, choice.margin)
    if ladder is not None:
        one_way = all(given == own[CONTROL] for given in own.values())
        shared = _of_logs(own[CONTROL], own[CONTROL] if one_way else not own[CONTROL], choice)
        proofs[ladder.id] = (*ladder_proofs(ladder, logs), *shared)
        control_buckets = buckets(
            logs[CONTROL].entries, of[CONTROL], choice.measure, choice.phrases
        )
        study = replace(study, analyses=(ladder,), proofs=proofs, buckets=control_buckets)
    sorted_ = {r: buckets(log.entries, of[r], choice.measure, choice.phrases)
               for r, log in logs.items()}  # fmt: skip
    return Arms(
        study,
        compare(study),
        {r: moves_between(sorted_[CONTROL], sorted_[r], choice.margin, choice.seed)
         for r in logs if r != CONTROL and len(sorted_[CONTROL].keys() & sorted_[r].keys()) > 1},
        (*missing_rungs(logs),
         *(f"{role}: {note}" for role, log in logs.items() for note in log.notes)),
    )  # fmt: skip


def _contrast(role: str, kind: object, variable: str, choice: Choice) -> Contrast:
    return Contrast(
        id=f"compare/{role}", experiment="compare",
        question=f"How does {role} differ from control?",
        kind=kind,  # type: ignore[arg-type]
        variable=variable, level=role, control=CONTROL, treatment=role,
        measure=choice.measure, margin=choice.margin, control_level=CONTROL,
    )  # fmt: skip


def _of_logs(control: bool, treatment: bool, choice: Choice) -> tuple[Proof, ...]:
    """What is the same of every pair of logs."""
    return (
        _judged(control, treatment),
        _chosen(choice),
        unchecked("INV-6", "the logs do not say what corpus was searched"),
        unchecked("INV-15", "the arms were not interleaved by us"),
        unchecked("INV-17", "no plan was fixed before scoring"),
    )


def _judged(control: bool, treatment: bool) -> Proof:
    if control != treatment:
        text = f"one arm is judged by {OWN}, the other by {RULE}"
        return failed("INV-8", "confounded", text)
    if control:
        return unchecked(
            "INV-8", f"both arms have {OWN}; who judged, and whether blind, is not said"
        )
    return passed("INV-8", f"both arms judged now by {RULE}")


def _chosen(choice: Choice) -> Proof:
    if choice.selected_by_failure is None:
        return unchecked("INV-22", "it is not said whether control's failures chose the questions")
    if choice.selected_by_failure:
        return failed(
            "INV-22", "confounded",
            "the questions were chosen because control failed on them, so some recover by "
            "chance; decode control anew: ragablate run dataset=traces",
        )  # fmt: skip
    return passed("INV-22", "the questions are declared as not chosen by control's failures")


def _study(
    logs: Mapping[str, Log],
    of: Mapping[str, Mapping[str, tuple[float | None, ...]]],
    choice: Choice,
    contrasts: tuple[Contrast, ...],
    proofs: Mapping[str, tuple[Proof, ...]],
) -> Study:
    entries: dict[str, Entry] = {e.qid: e for e in reversed(logs[CONTROL].entries)}
    qids = tuple(dict.fromkeys(e.qid for e in logs[CONTROL].entries))
    measures = {choice.measure: Measure(choice.measure, "read", "right answers")}
    gold = {e.qid: e.gold for log in reversed(list(logs.values())) for e in log.entries if e.gold}
    measures[EVIDENCE_IN_CONTEXT] = Measure(EVIDENCE_IN_CONTEXT, "assemble", "evidence in context")
    measures["abstained"] = Measure("abstained", "read", "abstentions", None)
    measures |= _measured_beside(logs, contrasts)
    models = Counter(e.model for e in logs[CONTROL].entries if e.model)
    return Study(
        qids=qids,
        answerable={qid: entries[qid].answerable for qid in qids},
        eval_gaps=frozenset(),
        clusters={},
        slices={qid: entries[qid].slices for qid in qids},
        measures=measures,
        scores={
            role: {
                choice.measure: of[role],
                "abstained": _each(log.entries, lambda e: _score(declined(e, choice.phrases))),
                EVIDENCE_IN_CONTEXT: _each(
                    log.entries, lambda e: shown_gold(e, gold.get(e.qid, ()))
                ),
                **{name: _each(log.entries, of) for name, of in _BESIDE.items()
                   if name in measures},
            }
            for role, log in logs.items()
        },
        errors={r: {e.qid: "pipeline" for e in log.entries if e.error}
                for r, log in logs.items()},
        contrasts=contrasts,
        proofs=proofs,
        arms={r: r for r in logs},
        reader=models.most_common(1)[0][0] if models else "of the log",
        top_k=max((len(e.retrieved or ()) for e in logs[CONTROL].entries), default=0),
        alpha=choice.alpha,
        seed=choice.seed,
    )  # fmt: skip


def _ranked(entry: Entry) -> float | None:
    """1 where every part of the gold is in the ranking; ``None`` where the log cannot say."""
    if not entry.answerable or not entry.gold or entry.retrieved is None:
        return None
    pids = {p.pid for p in entry.retrieved}
    return float(all(pids.intersection(part) for part in entry.gold))


_BESIDE: Mapping[str, Callable[[Entry], float | None]] = {
    EVIDENCE_RETRIEVED: _ranked,
    FAITHFULNESS: lambda entry: entry.verdicts.get(FAITHFULNESS),
}
_STAGES: Mapping[str, MeasureStage] = {EVIDENCE_RETRIEVED: "retrieve", FAITHFULNESS: "read"}


def _measured_beside(logs: Mapping[str, Log], contrasts: Sequence[Contrast]) -> dict[str, Measure]:
    """Stage signals that every log has.

    What a log calls its ranking is compared between pipelines alone: an intervention on the
    context may log what it put there.
    """
    pipelines = all(contrast.kind in ("upstream", "assembler") for contrast in contrasts)
    return {
        name: Measure(name, _STAGES[name], name.replace("_", " "))
        for name, of in _BESIDE.items()
        if (pipelines or name != EVIDENCE_RETRIEVED)
        and all(any(of(entry) is not None for entry in log.entries) for log in logs.values())
    }


def _each(
    entries: Sequence[Entry], of: Callable[[Entry], float | None]
) -> dict[str, tuple[float | None, ...]]:
    """By qid, one value a decode, in order."""
    found: dict[str, list[float | None]] = {}
    for entry in sorted(entries, key=lambda e: e.replicate):
        found.setdefault(entry.qid, []).append(of(entry))
    return {qid: tuple(values) for qid, values in found.items()}


def _score(value: bool | None) -> float | None:
    return None if value is None else float(value)
