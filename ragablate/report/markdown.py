"""``report.md``: a comparison as Markdown for a pull request.

No wall clock and no absolute path stands in it, so the same plan and data give the same
bytes. Everything that comes from a config, a corpus or a log goes through ``escape``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragablate.bundle.read import Bundle
from ragablate.records import Comparison, Signal
from ragablate.report import appendix, figures, plans
from ragablate.report.escape import code, fenced, inline
from ragablate.report.findings import Finding, findings, population_size, signal_table
from ragablate.report.tables import NOTHING, Column, Table, pipes

_BUNDLE_ID_SHOWN = 12


def render_markdown(bundle: Bundle, comparison: Comparison, bundle_id: str) -> str:
    """The report of a bundle.

    Args:
        bundle: Its plan, questions and proofs.
        comparison: What it shows.
        bundle_id: Digest over everything reproducible in it.
    """
    found = findings(bundle.contrasts, comparison, bundle.proofs)
    sections = (
        _title(bundle, comparison, bundle_id),
        _overview(found),
        _rule(bundle, found),
        _verdicts(found),
        _signals(bundle, comparison),
        _effects(found),
        _open(found),
        appendix.slices(found),
        appendix.further(found),
        appendix.proofs(found),
        appendix.limits(found, bundle.questions, comparison.notes),
        appendix.plan(bundle, found),
        _reproduce(bundle.plan, bundle_id),
        _data(bundle.plan),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def _title(bundle: Bundle, comparison: Comparison, bundle_id: str) -> str:
    answerable = population_size(comparison, "answerable")
    unanswerable = population_size(comparison, "unanswerable")
    name = inline(bundle.plan["dataset"]["name"])
    asked = f"{len(bundle.questions):,} questions: {answerable:,} answerable"
    if unanswerable:
        asked += f", {unanswerable:,} unanswerable"
    replicates = bundle.plan["replicates"]
    decoded = f" · each answered {replicates} times" if replicates > 1 else ""
    return (
        f"# {name}: which stage loses the answers\n\n"
        f"{asked}{decoded} · bundle `{bundle_id[:_BUNDLE_ID_SHOWN]}`"
    )


# ── what was asked and what came out ────────────────────────────────────────────────────


def _overview(found: Sequence[Finding]) -> str:
    columns = (
        Column("asked"),
        Column("one change"),
        Column("came out"),
        Column("control → treatment"),
        Column(f"effect ({figures.coverage([f.primary for f in found])} interval)"),
        Column("claim"),
    )
    rows = tuple(
        (
            inline(f.contrast.question),
            inline(plans.changed(f.contrast)),
            f"**{inline(f.conclusion.verdict)}**",
            f"{code(f.primary.measure)} {figures.means(f.primary)}",
            _estimate(f),
            inline(f.conclusion.label),
        )
        for f in found
    )
    return f"## In one minute\n\n{pipes(Table(columns, rows))}"


def _estimate(finding: Finding) -> str:
    effect = finding.primary
    if effect.effect is None:
        return figures.state(effect)
    return (
        f"{figures.number(effect)} ({figures.interval(effect)})<br>"
        f"{figures.state(effect, detail=False)}"
    )


def _rule(bundle: Bundle, found: Sequence[Finding]) -> str:
    margins = sorted({f.contrast.margin for f in found})
    declared = " and ".join(f"{m:g}" for m in margins)
    plural = "Margins" if len(margins) > 1 else "Margin"
    return (
        f"> **Decided before scoring.** {inline(bundle.plan['decision_rule'])} "
        f"{plural} of this plan: {declared}.\n\n{appendix.glossary()}"
    )


def _verdicts(found: Sequence[Finding]) -> str:
    return "\n\n".join(["## Verdicts", *(_verdict(f) for f in found)])


def _verdict(finding: Finding) -> str:
    conclusion = finding.conclusion
    headline, *rest = finding.sentences or ("",)
    parts = [
        f"### {inline(conclusion.verdict)} (claim: {inline(conclusion.label)})",
        f"{code(finding.name)}: *{inline(finding.contrast.question)}*",
        inline(headline),
        "\n".join(f"- {inline(sentence)}" for sentence in rest),
    ]
    if conclusion.limits:
        parts.append(f"**Limits:** {inline('; '.join(conclusion.limits))}.")
    if conclusion.owner:
        parts.append(f"**Look next at** {inline(conclusion.owner)}.")
    return "\n\n".join(part for part in parts if part)


# ── numbers ─────────────────────────────────────────────────────────────────────────────


def _signals(bundle: Bundle, comparison: Comparison) -> str:
    parts = ["## Stage signals, arm by arm"]
    for population in ("answerable", "unanswerable"):
        size = population_size(comparison, population)
        if not size:
            continue
        table = signal_table(comparison, population, bundle.plan["top_k"], _signal(size), code)
        right = " Here the right answer is to abstain." if population == "unanswerable" else ""
        parts.append(
            f"**{size:,} {population} question{'s' * (size != 1)}**: mean and 95 % interval, "
            f"n = {size:,} unless another n stands below.{right}\n\n{pipes(table)}"
        )
    return "\n\n".join(parts)


def _signal(size: int) -> Callable[[Signal], str]:
    def cell(signal: Signal) -> str:
        if signal.mean is None:
            return NOTHING
        small = [figures.rate_interval(signal)]
        if signal.n != size:
            small.append(f"n = {signal.n:,}")
        below = ", ".join(text for text in small if text)
        return figures.rate(signal) + (f"<br><sub>{below}</sub>" if below else "")

    return cell


def _effects(found: Sequence[Finding]) -> str:
    columns = (
        Column("experiment"),
        Column("measure"),
        Column("n", right=True),
        Column("control → treatment", right=True),
        Column("effect", right=True),
        Column(f"{figures.coverage([f.primary for f in found])} interval", right=True),
        Column("p", right=True),
        Column("p (Holm)", right=True),
        Column("better / worse / same", right=True),
        Column("margin", right=True),
        Column("state"),
    )
    rows = []
    for f in found:
        e = f.primary
        in_family = f.contrast.kind != "placebo"
        rows.append(
            (
                code(f.name),
                f"{code(e.measure)}, {inline(figures.population(e))}",
                f"{e.n:,}",
                figures.means(e),
                f"**{figures.number(e)}**",
                figures.interval(e),
                figures.probability(e.p),
                figures.probability(e.p_adjusted if in_family else None),
                figures.moves(e),
                f"{e.margin:g}",
                inline(figures.state(e)),
            )
        )
    return f"## Effects\n\n{pipes(Table(columns, tuple(rows)))}"


def _open(found: Sequence[Finding]) -> str:
    lines = [
        f"- {code(f.name)}: {inline(f.conclusion.settle)}" for f in found if f.conclusion.settle
    ]
    if not lines:
        return ""
    return "\n".join(["## What would settle what is open", "", *lines])


# ── provenance ──────────────────────────────────────────────────────────────────────────


def _reproduce(plan: Mapping[str, Any], bundle_id: str) -> str:
    return "\n".join(
        [
            "## Reproduce and check",
            "",
            "The same plan on the same data gives the same bundle id:",
            "",
            fenced(plans.command(plan["command"]), "sh"),
            "",
            "In the bundle's folder, that no file was changed since:",
            "",
            fenced("sha256sum --check MANIFEST", "sh"),
            "",
            pipes(
                Table(
                    (Column("what"), Column("value")),
                    (
                        ("bundle id", code(bundle_id)),
                        ("plan", code(plan["plan_digest"])),
                        ("question set", code(plan["dataset"]["digest"])),
                        ("ragablate", code(plan["ragablate"])),
                        ("seed", code(plan["seed"])),
                    ),
                )
            ),
        ]
    )


def _data(plan: Mapping[str, Any]) -> str:
    attribution = plan["dataset"]["attribution"]
    said = inline(attribution) if attribution else "The data set names no source or licence."
    return f"## Data\n\n{said}"
