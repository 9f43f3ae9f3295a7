"""Several changes of which not all combinations were run: a number that cannot be split."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.compare.analysed import Analysed
from ragablate.compare.labels import licence
from ragablate.compare.numbers import count, signed
from ragablate.compare.populations import answerable
from ragablate.compare.scores import ScoreTable, mean_of
from ragablate.compare.told import Teller
from ragablate.records import Analysis, Conclusion


def unsplit(table: ScoreTable, analysis: Analysis, absent: Sequence[str]) -> Analysed:
    """The refusal to attribute a change whose intermediate arms are missing.

    The one difference that was seen is said, and the arms that would split it are named.

    Args:
        table: The study's scores.
        analysis: Several variables changed.
        absent: Roles of the cells without scores.
    """
    factors = analysis.factors
    changed = "; ".join(
        f"{f.variable} from {f.control_level} to {f.level}" if f.control_level else f.variable
        for f in factors
    )
    what = "variable" if len(factors) == 1 else "variables"
    refusal = (
        f"{len(factors)} {what} changed ({changed}) and "
        f"{count(len(absent), 'arm')} of the design {'is' if len(absent) == 1 else 'are'} missing"
    )
    found = licence(table.study.proofs.get(analysis.id, ()), [("refused", refusal)])
    return Analysed(
        Conclusion(
            contrast=analysis.id,
            verdict="no attribution",
            label="refused",
            sentences=(f"No attribution: {refusal}.", *_difference(table, analysis)),
            limits=found.limits,
            settle="run the missing arms: " + "; ".join(named(analysis, role) for role in absent),
            owner="",
            effects=(),
        )
    )


def named(analysis: Analysis, role: str) -> str:
    """A cell by what it changes."""
    if len(role) != len(analysis.factors) or set(role) - {"0", "1"}:
        return role
    changed = [
        f"{f.variable}={f.level}" for f, bit in zip(analysis.factors, role, strict=True)
        if bit == "1"
    ]  # fmt: skip
    if not changed:
        return "control"
    return f"{changed[0]} alone" if len(changed) == 1 else " with ".join(changed)


def _difference(table: ScoreTable, analysis: Analysis) -> tuple[str, ...]:
    """The single difference between the two ends, where both were run."""
    m = len(analysis.factors)
    ends = [analysis.arms.get(bit * m, "") for bit in "01"]
    read = table.reading(analysis.measure)
    pairs = table.pairs(read, (ends[0], ends[1]), answerable(table.study))
    if not pairs.qids:
        return ()
    name = Teller(table.study, analysis).measure
    return (
        f"The single difference of {signed(mean_of(pairs.differences))} in {name} between "
        f"'{ends[0]}' and '{ends[1]}' on {count(len(pairs.qids), 'answerable question')} cannot "
        "be split among them.",
    )
