"""``report.html``: a bundle as one page that needs nothing but a browser.

No network, no other file: style, script, plots and data are in it, and its content security
policy lets nothing else run. No wall clock and no absolute path stands in it, so the same
plan and data give the same bytes. Every text is cleaned and escaped where it is printed;
texts of single questions reach the page as data and are set as text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ragablate.bundle.read import Bundle
from ragablate.compare.numbers import count
from ragablate.records import Comparison, Study
from ragablate.report import (
    abstentions,
    astray,
    drawing,
    html_findings,
    html_grid,
    html_numbers,
    html_proofs,
    panels,
    plans,
    plots,
    waterfall,
)
from ragablate.report.bottom_line import bottom_line
from ragablate.report.cite import cite
from ragablate.report.escape import clean
from ragablate.report.findings import (
    Finding,
    analysed,
    compared,
    findings,
    population_size,
)
from ragablate.report.payload import payload

_STYLES = ("page.css", "print.css")
_SCRIPTS = ("data.js", "text.js", "question.js", "explore.js")
_POPULATIONS = ("answerable", "unanswerable")
_BUNDLE_ID_SHOWN = 12


def render_html(
    bundle: Bundle, comparison: Comparison, bundle_id: str, study: Study | None = None
) -> str:
    """The report of a bundle as a page.

    Without the extra ``plots`` it has no plots and says so; every number is in its tables.

    Args:
        bundle: Its plan, questions, traces and proofs.
        comparison: What it shows.
        bundle_id: Digest over everything reproducible in it.
        study: What was compared, where that is at hand.
    """
    found = findings(bundle, comparison)
    style = _joined(_STYLES)
    script = _joined(_SCRIPTS)
    return (
        _environment()
        .get_template("report.html")
        .render(
            policy=_policy(style, script),
            style=Markup(style),
            script=Markup(script),
            payload=payload(bundle, study if study is not None else bundle.study()),
            **_head(bundle, comparison, bundle_id),
            **_outcome(bundle, comparison, found),
            **_backing(bundle, comparison, found, bundle_id),
        )
    )


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("ragablate.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: Any) -> Any:
    """Untrusted text without what would hide or turn it; numbers and markup as they are."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _joined(names: Sequence[str]) -> str:
    folder = files("ragablate.report") / "templates"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def _policy(style: str, script: str) -> str:
    """Nothing may run or be loaded but the style and the script of the page itself."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> Markup:
    value = hashlib.sha256(text.encode("utf-8")).digest()
    return Markup(f"'sha256-{base64.b64encode(value).decode('ascii')}'")


# ── what the page is made of ────────────────────────────────────────────────────────────


def _head(bundle: Bundle, comparison: Comparison, bundle_id: str) -> Mapping[str, Any]:
    plan = bundle.plan
    sizes = {name: population_size(comparison, name) for name in _POPULATIONS}
    margins = plans.margins(bundle.contrasts, bundle.analyses)
    choices = plans.choices_of(plan["config"], bundle.contrasts)
    return {
        "name": plan["dataset"]["name"],
        "size": count(len(bundle.questions), "question"),
        "sizes": [f"{n:,} {name}" for name, n in sizes.items() if n],
        "replicates": plan["replicates"],
        "rule": plan["decision_rule"],
        "margins": [f"{margin:g}" for margin in margins],
        "pipeline": plans.pipeline(choices, plan["top_k"]),
        "short_id": bundle_id[:_BUNDLE_ID_SHOWN],
        "attribution": plan["dataset"]["attribution"],
    }


def _outcome(bundle: Bundle, comparison: Comparison, found: Sequence[Finding]) -> Mapping[str, Any]:
    contrasts = compared(found)
    shown = [name for name in _POPULATIONS if population_size(comparison, name)]
    drawn = _drawn(bundle, comparison, found) if drawing.available() else {}
    return {
        "drawn": drawing.available(),
        "extra": drawing.EXTRA,
        "bottom_line": bottom_line(found),
        "answered": html_findings.answered(found),
        "chains": [
            html_findings.chain(f, number, drawn.get(f"fall-{number}"))
            for number, f in enumerate(analysed(found), 1)
        ],
        "effects": html_numbers.effects(contrasts),
        "forest": drawn.get("forest"),
        "signals": [
            (html_numbers.signals(comparison, name, bundle.plan["top_k"]), drawn.get(name))
            for name in shown
        ],
        "judged": _judged(bundle),
        "slices": [(f.name, html_numbers.slices(f)) for f in contrasts if f.of("slice")],
        "further": [(f.name, html_numbers.further(f)) for f in contrasts],
        "moves": html_numbers.moves(bundle, contrasts),
    }


def _judged(bundle: Bundle) -> list[tuple[str, html_grid.Grid]]:
    """What judges counted beside the stage signals, and how to read it."""
    found = (
        (abstentions.TITLE, abstentions.INTRO, abstentions.crossed(bundle)),
        (astray.TITLE, astray.INTRO, astray.misled(bundle)),
    )
    return [(intro, html_grid.plain(title, t)) for title, intro, t in found if t is not None]


def _drawn(
    bundle: Bundle, comparison: Comparison, found: Sequence[Finding]
) -> dict[str, plots.Plot | None]:
    """Every plot of the page, by its place."""
    contrasts = compared(found)
    made: dict[str, plots.Plot | None] = {}
    with drawing.settled():
        if contrasts:
            made["forest"] = plots.forest(contrasts)
        for number, f in enumerate(analysed(found), 1):
            chain = None if f.result is None else waterfall.fall(f.result)
            if chain is not None:
                made[f"fall-{number}"] = waterfall.waterfall(chain, f"fall-{number}")
        for name in _POPULATIONS:
            made[name] = panels.signals(comparison, name, bundle.plan["top_k"])
    return made


def _backing(
    bundle: Bundle, comparison: Comparison, found: Sequence[Finding], bundle_id: str
) -> Mapping[str, Any]:
    return {
        "proven": [html_proofs.proven(f) for f in found],
        "placebo": html_proofs.placebo(found),
        "limits": html_proofs.limits(bundle, comparison, found),
        "arms": html_proofs.arms(bundle),
        "measures": html_proofs.measures(bundle),
        "identity": html_proofs.identity(bundle, bundle_id),
        "command": plans.command(bundle.plan["command"]),
        # Cleaned when it was made; its columns are meant to stay.
        "citation": escape(cite(bundle, comparison, bundle_id)),
    }
