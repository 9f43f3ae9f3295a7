"""The effects of a comparison for a spreadsheet and for a paper."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

from ragablate.bundle.read import Bundle
from ragablate.compare.numbers import margin_text
from ragablate.records import Comparison, Conclusion, Effect, Interval
from ragablate.report import figures
from ragablate.report.escape import clean
from ragablate.report.findings import Compared, alike, compared, findings

COLUMNS = (
    "id", "contrast", "control", "treatment", "measure", "population", "role", "n", "unmeasured",
    "clusters", "replicates", "control_mean", "treatment_mean", "effect", "better", "worse",
    "same", "ci95_low", "ci95_high", "ci95_confidence", "ci95_method", "ci90_low", "ci90_high",
    "se_super", "se_set", "p", "p_adjusted", "margin", "state", "detail", "needed_n",
    "verdict", "label",
)  # fmt: skip
"""Columns of the CSV, one row an effect."""

_FORMULA = re.compile(r"(^|[;,|])(\s*)(?=[=+\-@＝＋－＠﹢﹣﹦﹫])")
"""Where a spreadsheet may see a formula: at the start of a cell, or of what a spreadsheet
with other separators takes for one."""
_NEGATIVE = re.compile(r"(?<![^ ])-(?=[\d.])")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}", "'": r"\textquotesingle{}", "[": "{[}", "]": "{]}",
    "→": r"$\to$", "–": "--", "≈": r"$\approx$", "±": r"$\pm$", "▲": "", "▼": "", "✗": "",
}  # fmt: skip


def effects_csv(comparison: Comparison) -> str:
    """Every effect, one row each; what is missing is an empty cell, never a zero.

    Numbers are at full precision. A text that a spreadsheet could take for a formula has an
    apostrophe before it.
    """
    conclusions = {c.contrast: c for c in comparison.conclusions}
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(COLUMNS)
    for effect in comparison.effects:
        writer.writerow([cell(v) for v in _values(effect, conclusions.get(effect.contrast))])
    return written.getvalue()


def _values(effect: Effect, conclusion: Conclusion | None) -> list[Any]:
    values: dict[str, Any] = {
        name: getattr(effect, name) for name in COLUMNS if hasattr(effect, name)
    }
    values["control"], values["treatment"] = effect.arms
    for name in ("ci95", "ci90"):
        interval: Interval | None = getattr(effect, name)
        if interval is not None:
            values |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    if effect.ci95 is not None:
        values |= {"ci95_confidence": effect.ci95.confidence, "ci95_method": effect.ci95.method}
    if conclusion is not None:
        values |= {"verdict": conclusion.verdict, "label": conclusion.label}
    return [values.get(name) for name in COLUMNS]


def cell(value: Any) -> Any:
    """A value as a cell that no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    return _FORMULA.sub(r"\1\2'", clean(value))


# ── LaTeX ───────────────────────────────────────────────────────────────────────────────


def effects_latex(bundle: Bundle, comparison: Comparison, bundle_id: str) -> str:
    """The headline effects as a table that needs the package ``booktabs``."""
    found = compared(findings(bundle, comparison))
    shared = alike(found)
    head = (
        "experiment",
        *(() if shared else ("measure",)),
        "$n$",
        latex("control → treatment"),
        "effect",
        latex(f"{figures.coverage([f.primary for f in found])} interval"),
        "$p$ (Holm)",
        "better/worse/same",
        "state",
        "claim",
    )
    aligned = "l" + ("" if shared else "l") + "r" * 6 + "ll"
    lines = [
        "% needs \\usepackage{booktabs} and, for quotes, \\usepackage[T1]{fontenc} and "
        "\\usepackage{textcomp}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_caption(bundle, found, shared, bundle_id)}}}",
        rf"\begin{{tabular}}{{{aligned}}}",
        r"\toprule",
        _row(head),
        r"\midrule",
        *(_row([_minus(latex(cell)) for cell in _cells(f, not shared)]) for f in found),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _minus(text: str) -> str:
    return _NEGATIVE.sub("$-$", text)


def _caption(bundle: Bundle, found: Sequence[Compared], shared: str, bundle_id: str) -> str:
    name = bundle.plan["dataset"]["name"]
    margins = sorted({f.primary.margin for f in found})
    what = shared or f"margins {', '.join(map(margin_text, margins))}"
    return latex(f"Effects on {name} ({what}). ragablate bundle {bundle_id[:12]}.")


def _cells(finding: Compared, measured: bool) -> tuple[str, ...]:
    effect = finding.primary
    return (
        finding.name,
        *((f"{effect.measure}, {figures.population(effect)}",) if measured else ()),
        str(effect.n),
        figures.means(effect),
        figures.number(effect),
        figures.interval(effect),
        figures.probability(finding.p_adjusted),
        figures.moves(effect),
        figures.state(effect).lstrip("▲▼≈?✗ "),
        finding.conclusion.label,
    )


def latex(text: str) -> str:
    """Text as LaTeX shows it literally, on one line."""
    return "".join(_LATEX.get(c, c) for c in clean(text))
