"""``report.md``: a comparison as Markdown for a pull request.

No wall clock and no absolute path stands in it, so the same plan and data give the same
bytes. Everything that comes from a config, a corpus or a log goes through ``escape``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragablate.bundle.read import Bundle
from ragablate.compare.numbers import count
from ragablate.records import Comparison, Signal
from ragablate.report import abstentions, appendix, astray, figures, plans, several, surfaced
from ragablate.report.approximate import recalls
from ragablate.report.bottom_line import bottom_line
from ragablate.report.escape import code, fenced, inline
from ragablate.report.findings import (
    Compared,
    Finding,
    alike,
    analysed,
    compared,
    findings,
    population_size,
    signal_table,
)
from ragablate.report.tables import NOTHING, Column, Table, pipes

_BUNDLE_ID_SHOWN = 12
# GitHub takes 65,536 characters in a comment.
_LONGEST = 60_000


def render_markdown(bundle: Bundle, comparison: Comparison, bundle_id: str) -> str:
    """The report of a bundle.

    Args:
        bundle: Its plan, questions and proofs.
        comparison: What it shows.
        bundle_id: Digest over everything reproducible in it.
    """
    found = findings(bundle, comparison)
    contrasts = compared(found)
    sections = [
        _title(bundle, comparison, bundle_id),
        _overview(found),
        _rule(bundle),
        _verdicts(found),
        _signals(bundle, comparison),
        abstentions.section(bundle),
        astray.section(bundle),
        _effects(contrasts),
        *(several.part(f) for f in analysed(found)),
        _open(found),
        surfaced.section(bundle),
        appendix.slices(contrasts),
        appendix.further(contrasts),
        appendix.proofs(found),
        appendix.limits(found, bundle.questions, (*comparison.notes, *recalls(bundle.traces))),
        appendix.plan(bundle),
        _reproduce(bundle.plan, bundle_id),
        _data(bundle.plan),
    ]
    return "\n\n".join(_short_enough([s for s in sections if s])) + "\n"


def _short_enough(sections: list[str]) -> list[str]:
    """The report without its longest tables where GitHub would not take it whole."""
    kept = list(sections)
    for title in (appendix.FURTHER, appendix.SLICES):
        if sum(map(len, kept)) > _LONGEST:
            kept = [
                f"{title}\n\nLeft out, since the report would be too long for a pull request; "
                "`effects.json` holds them."
                if section.startswith(title)
                else section
                for section in kept
            ]
    return kept


def _title(bundle: Bundle, comparison: Comparison, bundle_id: str) -> str:
    answerable = population_size(comparison, "answerable")
    unanswerable = population_size(comparison, "unanswerable")
    name = inline(bundle.plan["dataset"]["name"])
    asked = f"{count(len(bundle.questions), 'question')}: {answerable:,} answerable"
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
    covered = figures.coverage([f.primary for f in compared(found)])
    columns = (
        Column("asked"),
        Column("one change"),
        Column("came out"),
        Column("control → treatment"),
        Column(f"effect, {covered} interval"),
        Column("claim"),
    )
    rows = tuple(
        (
            inline(f.question),
            inline(f.change),
            f"**{inline(f.conclusion.verdict)}**",
            *_estimate(f),
            inline(f.conclusion.label),
        )
        for f in found
    )
    last = "\n".join(f"- {inline(said)}" for said in bottom_line(found))
    return "\n\n".join(filter(None, ("## In one minute", last, pipes(Table(columns, rows)))))


def _estimate(finding: Finding) -> tuple[str, str]:
    """Both means and the effect, or where to find several."""
    if not isinstance(finding, Compared):
        return NOTHING, "its terms stand below"
    effect = finding.primary
    state = figures.firm(figures.state(effect, detail=False))
    if effect.effect is None:
        return NOTHING, state
    means = f"{code(effect.measure)}<br>{figures.firm(figures.means(effect))}"
    number = f"**{figures.number(effect)}** {state}"
    return means, f"{figures.firm(number)}<br>{figures.firm(figures.interval(effect))}"


def _rule(bundle: Bundle) -> str:
    margins = sorted({c.margin for c in bundle.contrasts} | {a.margin for a in bundle.analyses})
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
        f"{code(finding.name)}: *{inline(finding.question)}*",
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
            f"**{count(size, f'{population} question')}**: mean and 95 % interval, "
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
        below = ", ".join(figures.firm(text) for text in small if text)
        return figures.rate(signal) + (f"<br><sub>{below}</sub>" if below else "")

    return cell


def _effects(found: Sequence[Compared]) -> str:
    if not found:
        return ""
    shared = alike(found)
    columns = (
        Column("experiment"),
        *(() if shared else (Column("measure"), Column("margin", right=True))),
        Column("n", right=True),
        Column("effect", right=True),
        Column(f"{figures.coverage([f.primary for f in found])} interval", right=True),
        Column(figures.STANDARD_ERRORS, right=True),
        Column("p", right=True),
        Column("p (Holm)", right=True),
        Column("better / worse / same", right=True),
        Column("state"),
    )
    rows = tuple(_effect(f, not shared) for f in found)
    heading = f"## Effects\n\n{inline(shared)}".rstrip()
    return f"{heading}\n\n{pipes(Table(columns, rows))}"


def _effect(finding: Compared, named: bool) -> tuple[str, ...]:
    effect = finding.primary
    measure = f"{code(effect.measure)}, {inline(figures.population(effect))}"
    numbers = (
        f"{effect.n:,}",
        f"**{figures.number(effect)}**",
        figures.interval(effect),
        figures.standard_errors(effect),
        figures.probability(effect.p),
        figures.probability(finding.p_adjusted),
        figures.moves(effect),
    )
    return (
        code(finding.name),
        *((measure, f"{effect.margin:g}") if named else ()),
        *map(figures.firm, numbers),
        appendix.stated(effect),
    )


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
