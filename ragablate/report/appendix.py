"""The collapsible parts of ``report.md``: what backs the verdicts up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ragablate.bundle.read import Bundle
from ragablate.compare.contrasts import UPSTREAM_MINUS_READER
from ragablate.records import Effect, Proof
from ragablate.report import figures, plans
from ragablate.report.escape import code, html_text, inline
from ragablate.report.findings import Compared, Finding
from ragablate.report.tables import NOTHING, Column, Table, pipes
from ragablate.traces import QuestionLine

SLICES = "## By slice"
"""Title of the effects by slice."""
FURTHER = "## All other effects"
"""Title of the effects beside the headlines."""

_MOST_GAPS = 200
_UNREAD = "not read"
_SETTLED = {"retrieve": "retrieval", "assemble": "assembly", "read": "reading"}


def details(summary: str, body: str) -> str:
    """A collapsible part; the summary is HTML, the body Markdown."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def glossary() -> str:
    """What the words of the report mean, for whoever reads one for the first time."""
    return details(
        "How to read this",
        "\n".join(
            (
                "- **effect**: treatment minus control, the mean over the same questions in both "
                "arms.",
                "- **better / worse / same**: questions whose value rose, fell or stayed.",
                "- **up, down**: a difference was detected. **flat**: shown to be smaller than "
                "the margin. **unclear**: neither; not the same as *no difference*.",
                "- **causal**: one variable was changed, and everything that was to be held fixed "
                "was byte-identical. **causal with limits**: so it was, with the limits named. "
                "**confounded**, **descriptive**: a number that is not put down to the change. "
                "**refused**: no number, since it would mislead.",
                "- **evidence in context**: the reader saw every passage a right answer needs.",
                f"- {NOTHING}: not measured, which is never counted as zero.",
            )
        ),
    )


# ── further effects ─────────────────────────────────────────────────────────────────────


def slices(found: Sequence[Compared]) -> str:
    """The headline effect by slice: exploratory, and read only where the slices differ."""
    parts = []
    for f in found:
        rows = f.of("slice")
        if not rows:
            continue
        names = list(dict.fromkeys(slice_name(e) for e in rows))
        read = {slice_name(e) for e in rows if e.id in f.conclusion.effects}
        said = [inline(sentence) for sentence in f.explorations]
        said += [
            f"By {code(name)} the effect does not differ detectably: the effect on the whole set "
            "speaks for every value."
            for name in names
            if name not in read
        ]
        table = _table(
            [e if slice_name(e) in read else _unread(e) for e in rows],
            "slice",
            lambda e: code(e.population),
            "p (BH)",
        )
        summary = f"<code>{html_text(f.name)}</code>: <code>{html_text(f.primary.measure)}</code>"
        lines = "\n".join(f"- {sentence}" for sentence in said)
        parts.append(details(f"{summary} by slice", f"{lines}\n\n{pipes(table)}"))
    if not parts:
        return ""
    intro = (
        "Exploratory. Values are read one by one only where a test says that they differ at all; "
        "p is then adjusted by Benjamini and Hochberg."
    )
    return "\n\n".join([SLICES, intro, *parts])


def slice_name(effect: Effect) -> str:
    """The name of the slice whose value an effect is about."""
    return effect.population.partition("=")[0]


def _unread(effect: Effect) -> Effect:
    """A slice whose state and p-value are not shown, since nothing may be read from them."""
    return replace(effect, p_adjusted=None, detail=_UNREAD)


def further(found: Sequence[Compared]) -> str:
    """Strata, stage signals, other measures and negative controls of each contrast."""
    parts = []
    for f in found:
        blocks = [
            _block("Strata and other measures.", f.of("cell", "signal"), _measured),
            _block(
                "Negative controls: settled before the change acts, so they must not move.",
                f.of("control"),
                _measured,
            ),
        ]
        body = "\n\n".join(block for block in blocks if block)
        if body:
            parts.append(details(f"<code>{html_text(f.name)}</code>, all other effects", body))
    return "\n\n".join([FURTHER, *parts]) if parts else ""


def _block(title: str, effects: Sequence[Effect], name: Callable[[Effect], str]) -> str:
    measured = [e for e in effects if e.effect is not None]
    lacking = [e for e in effects if e.effect is None]
    parts = []
    if measured:
        parts.append(f"{title}\n\n{pipes(_table(measured, 'measure, questions', name))}")
    if lacking:
        names = ", ".join(dict.fromkeys(code(e.measure) for e in lacking))
        parts.append(f"Not measured in both arms: {names}.")
    return "\n\n".join(parts)


def _measured(effect: Effect) -> str:
    what = figures.WEIGHED if effect.measure == UPSTREAM_MINUS_READER else ""
    return f"{code(effect.measure)}{what}, {inline(figures.population(effect))}"


def stated(effect: Effect) -> str:
    """What the data say, its sign and word on one line, with what qualifies it."""
    word = figures.firm(figures.state(effect, detail=False))
    return f"{word} ({inline(effect.detail)})" if effect.detail else word


def _table(
    effects: Sequence[Effect], first: str, name: Callable[[Effect], str], p: str = "p"
) -> Table:
    columns = (
        Column(first),
        Column("n", right=True),
        Column("control → treatment", right=True),
        Column("effect", right=True),
        Column(f"{figures.coverage(effects)} interval", right=True),
        Column(p, right=True),
        Column("up / down / same", right=True),
        Column("state"),
    )
    rows = tuple(
        (
            name(e),
            f"{e.n:,}",
            figures.firm(figures.means(e)),
            figures.number(e),
            figures.firm(figures.interval(e)),
            figures.probability(e.p_adjusted),
            figures.firm(figures.moves(e)),
            NOTHING if e.detail == _UNREAD else stated(e),
        )
        for e in effects
    )
    return Table(columns, rows)


# ── proofs and limits ───────────────────────────────────────────────────────────────────


def proofs(found: Sequence[Finding]) -> str:
    """What was held fixed and what was not, counted on what crossed the seams."""
    columns = ("experiment", "held fixed", "took effect", "checks")
    rows = []
    for f in found:
        held = figures.gathered(figures.proved(f.proofs, figures.HELD_FIXED))
        acted = figures.gathered(figures.proved(f.proofs, figures.TOOK_EFFECT))
        checks = [figures.tally(f.proofs), figures.unmoved(f.effects)]
        rows.append(
            (
                code(f.name),
                "<br>".join(map(inline, held)) or NOTHING,
                "<br>".join(map(inline, acted)) or NOTHING,
                "<br>".join(inline(check) for check in checks if check),
            )
        )
    failures = [f"- {code(f.name)}: {_proof(p)}" for f in found for p in figures.failed(f.proofs)]
    everything = details(
        "Every check of every experiment",
        "\n\n".join(
            "\n".join([f"{code(f.name)}", "", *(f"- {_proof(p)}" for p in f.proofs)]) for f in found
        ),
    )
    table = pipes(Table(tuple(Column(c) for c in columns), tuple(rows)))
    return "\n\n".join(
        part for part in ("## Proofs", table, "\n".join(failures), everything) if part
    )


def _proof(proof: Proof) -> str:
    mark = figures.MARKS[proof.status]
    after = f" ({proof.consequence})" if proof.consequence else ""
    return f"{mark} {inline(proof.invariant)}: {inline(proof.text)}{after}"


def limits(
    found: Sequence[Finding], questions: Mapping[str, QuestionLine], notes: Sequence[str]
) -> str:
    """What weakens the claims, and which questions are in no number."""
    own = [f"- {code(f.name)}: {inline(limit)}" for f in found for limit in f.conclusion.limits]
    lines = "\n".join([*own, *(f"- {inline(note)}" for note in notes)])
    gaps = [q.qid for q in questions.values() if q.eval_gap]
    listed = ", ".join(code(qid) for qid in gaps[:_MOST_GAPS])
    if len(gaps) > _MOST_GAPS:
        listed += f" and {len(gaps) - _MOST_GAPS:,} more, in `questions.jsonl`"
    summary = f"Eval gaps ({len(gaps):,}): answerable, without usable gold, in no number"
    which = details(summary, listed) if gaps else ""
    parts = [part for part in (lines, which) if part]
    return "\n\n".join(["## Limits", *parts]) if parts else ""


# ── the plan ────────────────────────────────────────────────────────────────────────────


def plan(bundle: Bundle) -> str:
    """Control's pipeline, every leaf in which an arm differs from it, and what is measured."""
    choices = plans.choices_of(bundle.plan["config"], bundle.contrasts)
    line = plans.pipeline(choices, bundle.plan["top_k"])
    rows = []
    for arm in bundle.arms.values():
        moved = [plans.change(leaf) for leaf in arm.changes]
        cells = [f"{code(key)}: {code(old)} → {code(new)}" for key, old, new in moved]
        rows.append((code(arm.name), "<br>".join(cells) or "nothing"))
    arms = pipes(Table((Column("arm"), Column("differs from control in")), tuple(rows)))
    measures = pipes(
        Table(
            (Column("measure"), Column("what it says"), Column("settled by")),
            tuple(
                (code(m["name"]), inline(m["label"]), _SETTLED[m["stage"]])
                for m in bundle.plan["measures"]
            ),
        )
    )
    return "\n\n".join(
        (
            "## Plan",
            f"Control: {code(line)}",
            details("Arms, and every leaf of the config in which they differ from control", arms),
            details("Measures", measures),
        )
    )
