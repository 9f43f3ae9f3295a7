"""A report's last word in a few sentences: what was shown, what is open, where to look next."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.report import figures
from ragablate.report.findings import Analysed, Compared, Finding

_CAUSAL = ("causal", "causal with limits")
_OPEN = ("not enough evidence", "not decided", "not shown")


def bottom_line(found: Sequence[Finding]) -> tuple[str, ...]:
    """What was shown, what is not decided and where to look next, a sentence each.

    A sentence without content is left out. Only claims that interventions back are *shown*.

    Args:
        found: Every finding of the plan, in its order.
    """
    claims = [f for f in found if f.conclusion.label in _CAUSAL and not _placebo(f)]
    shown = [f for f in claims if not _undecided(f)]
    unsure = [f for f in claims if _undecided(f)]
    rest = [f for f in found if f.conclusion.label not in _CAUSAL and not _placebo(f)]
    said = (
        ("Shown", [f"{f.conclusion.verdict} ({_where(f)})" for f in _merged(shown)]),
        ("Not decided", [_open(f) for f in unsure]),
        ("No causal claim", [f"{f.name} is {f.conclusion.label}" for f in rest]),
        ("Look next at", _owners(shown)),
    )
    return tuple(f"{head}: {'; '.join(parts)}." for head, parts in said if parts)


def _placebo(finding: Finding) -> bool:
    return isinstance(finding, Compared) and finding.contrast.kind == "placebo"


def _undecided(finding: Finding) -> bool:
    if isinstance(finding, Compared) and finding.primary.state in ("unclear", "refused"):
        return True
    return any(words in finding.conclusion.verdict for words in _OPEN)


def _merged(shown: Sequence[Finding]) -> list[Finding]:
    """Designs of several arms first: they say the most; a verdict said twice is said once."""
    ordered = sorted(shown, key=lambda f: not isinstance(f, Analysed))
    verdicts: dict[str, Finding] = {}
    for finding in ordered:
        verdicts.setdefault(finding.conclusion.verdict, finding)
    return list(verdicts.values())


def _where(finding: Finding) -> str:
    if not isinstance(finding, Compared):
        return finding.name
    effect = finding.primary
    return f"{finding.name}: {effect.measure} {figures.number(effect)}, {figures.interval(effect)}"


def _open(finding: Finding) -> str:
    settle = finding.conclusion.settle
    return f"{finding.name} ({finding.change})" + (f", which needs {settle}" if settle else "")


def _owners(shown: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(f.conclusion.owner for f in _merged(shown) if f.conclusion.owner))
