"""Two bundles side by side on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragablate.compare.labels import CAUSAL
from ragablate.compare.moves import Moves
from ragablate.compare.numbers import count
from ragablate.records import Change, Comparison, Study
from ragablate.report import figures, plans
from ragablate.report.page import Page
from ragablate.report.tables import Column, Table
from ragablate.versus.between import NEW, OLD, Between
from ragablate.versus.demands import Outcome

_DESCRIPTIVE = "read side by side; an association, not a cause"


def tell(
    folders: Sequence[Path], found: Between | None, study: Study, outcomes: Sequence[Outcome]
) -> None:
    """What changed, what came out, and which demands are met.

    Args:
        folders: The bundles, old first.
        found: What separates two; ``None`` of one bundle alone.
        study: Of the newest bundle.
        outcomes: Of every demand.
    """
    page = Page()
    if found is not None:
        _between(page, folders, found)
    else:
        from ragablate.compare import compare

        _comparison(page, f"{folders[0]}, compared anew", compare(study))
    if outcomes:
        page.heading("Demands")
        for outcome in outcomes:
            mark = page.text(figures.MARKS["pass" if outcome.met else "fail"])
            page.bullet(page.text(outcome.sentence), 0, mark)


def _between(page: Page, folders: Sequence[Path], found: Between) -> None:
    _changed(page, folders, found)
    _comparison(page, "Effects, new minus old", found.comparison)
    _to_attribute(page, folders, found)
    _shape(page, found)
    if found.moves is not None:
        _moves(page, found.moves)


def _changed(page: Page, folders: Sequence[Path], found: Between) -> None:
    page.heading("What changed between the two")
    for name, folder in zip((OLD, NEW), folders, strict=True):
        page.line(page.text(f"{name}: {folder}"))
    leaves = (c for moved in found.changes.values() for c in moved)
    listed = list(dict.fromkeys(map(_leaf, (*leaves, *found.settings))))
    for leaf in listed:
        page.bullet(page.text(leaf))
    if not listed:
        page.line(page.text("Nothing: the pipelines and settings of both are equal."))
    for name, arms in zip((OLD, NEW), found.only, strict=True):
        if arms:
            page.line(page.text(f"Only in {name}, and not compared: {', '.join(arms)}"))


def _to_attribute(page: Page, folders: Sequence[Path], found: Between) -> None:
    """What would say which of several changes did it."""
    stages = {c.key.split(".")[0] for moved in found.changes.values() for c in moved}
    if len(stages) < 2:
        return
    page.blank()
    page.line(page.text("To find out which of the changes did it:"))
    for line in (
        "ragablate run experiment=attribute_change \\",
        f'  "experiment.attribute_change.from={{bundle: {folders[0]}}}" \\',
        f'  "experiment.attribute_change.to=[{{bundle: {folders[1]}}}]"',
    ):
        page.line(page.text(line), 2)


def _shape(page: Page, found: Between) -> None:
    page.heading(f"The shape of the change ({_DESCRIPTIVE})")
    page.line(page.text(f"{found.shape.text} ({found.shape.name})."))
    # Where the change itself is proven, what the signals point to is no news.
    if found.shape.owner and found.comparison.conclusions[0].label not in CAUSAL:
        page.line(page.text(f"Points to {found.shape.owner}."))
    if found.shape.settle:
        page.line(page.text(f"To settle it: {found.shape.settle}."))


def _leaf(change: Change) -> str:
    key, old, new = plans.change(change)
    return f"{key}: {old} → {new}"


def _comparison(page: Page, heading: str, comparison: Comparison) -> None:
    page.heading(heading)
    conclusions = {c.contrast: c for c in comparison.conclusions}
    columns = (
        Column("arm"),
        Column("measure"),
        Column("control → treatment", right=True, expendable=2),
        Column("effect", right=True),
        Column("interval", right=True),
        Column("p", right=True, expendable=1),
        Column("better / worse / same", right=True, expendable=3),
        Column("state"),
    )
    primary = [e for e in comparison.effects if e.role == "primary"]
    rows = tuple(
        (
            effect.contrast,
            effect.measure,
            figures.means(effect),
            figures.number(effect),
            figures.interval(effect),
            figures.probability(effect.p_adjusted),
            figures.moves(effect),
            figures.state(effect),
        )
        for effect in primary
    )
    page.table(Table(columns, rows))
    for name, conclusion in conclusions.items():
        page.blank()
        text = f"{conclusion.verdict} (claim: {conclusion.label})"
        page.line(page.join((f"{name}:", "bold"), (text, "")))
        for sentence in conclusion.sentences:
            page.bullet(page.text(sentence), 2)
        if conclusion.limits:
            page.line(page.text(f"Limits: {'; '.join(conclusion.limits)}."), 2)


def _moves(page: Page, found: Moves) -> None:
    page.heading("Where control's failures surfaced, before and after (by the logs alone)")
    page.line(page.text(f"{found.verdict}: {found.sentence}"))
    befores = sorted({before for before, _ in found.counts})
    afters = sorted({after for _, after in found.counts})
    columns = (Column("old \\ new"), *(Column(after, right=True) for after in afters))
    rows = tuple(
        (before, *(f"{found.counts.get((before, after), 0):,}" for after in afters))
        for before in befores
    )
    page.table(Table(columns, rows))
    page.line(page.text(f"{count(found.n, 'question')} that both logs sort."))
