"""The citation of a bundle: what it is, what it claims, and how to get it again."""

from __future__ import annotations

from ragablate.bundle.read import Bundle
from ragablate.compare.numbers import count, margin_text
from ragablate.records import Comparison
from ragablate.report import plans
from ragablate.report.escape import clean
from ragablate.report.findings import findings


def cite(bundle: Bundle, comparison: Comparison, bundle_id: str) -> str:
    """A block of plain text for a design review: ids, digests, command, headline claims.

    Args:
        bundle: The bundle.
        comparison: What it shows.
        bundle_id: Digest over everything reproducible in it.
    """
    plan = bundle.plan
    data = plan["dataset"]
    margins = plans.margins(bundle.contrasts, bundle.analyses)
    title = f"{data['name']}: which stage loses the answers. ragablate {plan['ragablate']}."
    size = count(len(bundle.questions), "question")
    lines = [
        clean(title),
        _field("bundle id", bundle_id),
        _field("plan", plan["plan_digest"]),
        _field("question set", f"{data['name']}, {size}, sha256 {data['digest']}"),
        _field("command", plans.command(plan["command"])),
        _field("margin", f"{', '.join(map(margin_text, margins))}, declared before scoring"),
    ]
    for finding in findings(bundle, comparison):
        conclusion = finding.conclusion
        claim = f"{finding.name}: {conclusion.verdict} (claim: {conclusion.label})"
        lines.append(_field("claim", claim))
        lines += [_field("", sentence) for sentence in finding.sentences[:1]]
        lines += [_field("", f"Limit: {limit}") for limit in conclusion.limits]
    if data["attribution"]:
        lines.append(_field("data", data["attribution"]))
    return "".join(f"{line}\n" for line in lines)


def _field(name: str, value: str) -> str:
    return f"{name:<14}{clean(value)}"
