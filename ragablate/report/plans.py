"""A plan in words: its pipeline, its decision rule, and the command that repeats it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragablate.config import STAGES
from ragablate.edges import edges
from ragablate.records import Analysis, Change, Contrast
from ragablate.report.tables import NOTHING

# The comparator's own constant; importing it would load scipy, which check does without.
FEWEST_CHANGED = 6
"""Changed questions it takes to detect a difference."""

_ALWAYS_SHOWN = ("retriever", "reranker", "assembler", "context", "reader")
_NEUTRAL = ("name", "outputs", "quiet", "json", "hydra", "budget")
_OWN = "ragablate."
_ROOT = r"(?:(?<![\w./\\\]])/(?!/)|(?<!\w)[A-Za-z]:\\)"
_ABSOLUTE = re.compile(_ROOT + r"(?:[^\s/\\,'\"\]}]+[/\\])*(?=[^\s/\\,'\"\]}])")
_WHOLE = re.compile(rf"^(?P<key>[^=]*=)?(?P<quote>['\"]?)(?P<path>{_ROOT}[^,\[\]{{}}]*)$")


def pipeline(choices: Mapping[str, str], top_k: int | None) -> str:
    """The stages of a pipeline in the order data flow, those that do nothing left out."""
    named = []
    for stage in STAGES:
        choice = choices.get(stage, NOTHING)
        if stage not in _ALWAYS_SHOWN and choice == "none":
            continue
        cut = f" (top {top_k})" if stage == "reranker" and top_k is not None else ""
        named.append(choice + cut)
    return " → ".join(["question", *named])


def choices_of(config: Mapping[str, Any], contrasts: Iterable[Contrast]) -> dict[str, str]:
    """Control's option in every stage, as far as a bundle tells.

    Contrasts name the option of what they vary. Elsewhere it is the adapter's module, which
    is named like its YAML.
    """
    found = {stage: _module(config.get(stage)) for stage in STAGES}
    for contrast in contrasts:
        if contrast.variable in found and contrast.control_level:
            found[contrast.variable] = contrast.control_level
    return found


def _module(node: Any) -> str:
    target = str(node.get("_target_", "")) if isinstance(node, Mapping) else ""
    parts = target.split(".")
    return parts[-2] if len(parts) > 1 else NOTHING


def changed(contrast: Contrast) -> str:
    """The one change of a contrast: ``retriever: bm25 → dense``."""
    if contrast.kind == "placebo":
        return "nothing: control asked again"
    if not contrast.control_level:
        return f"{contrast.variable}: {contrast.level}"
    return f"{contrast.variable}: {contrast.control_level} → {contrast.level}"


def design(analysis: Analysis) -> str:
    """What a design of several arms changes: its variables, or its chain of interventions."""
    if not analysis.factors:
        roles = [*edges(analysis)[0].roles[:1], *(e.roles[1] for e in edges(analysis))]
        return f"{analysis.kind} {' > '.join(roles)}"
    factors = ", ".join(
        f"{factor.variable}: {factor.control_level} → {factor.level}" for factor in analysis.factors
    )
    return f"{analysis.kind} of {factors}"


def margins(contrasts: Iterable[Contrast], analyses: Iterable[Analysis]) -> list[float]:
    """Every margin that a plan declares, ascending."""
    return sorted({c.margin for c in contrasts} | {a.margin for a in analyses})


def rule(
    alpha: float, margins: Sequence[float], family: int, designs: int = 0, by: str = "Holm"
) -> str:
    """The decision rule on one line.

    Args:
        alpha: Level of the tests.
        margins: Of every experiment.
        family: Contrasts that are adjusted together.
        designs: Designs of several arms, whose terms are adjusted within each.
        by: What adjusts the contrasts: ``Holm`` or ``max-T``.
    """
    declared = sorted(set(margins))
    within = f"±{declared[0]:g}" if len(declared) == 1 else "± the experiment's margin"
    over = [f"{by} over {family} contrasts"] * (family > 1)
    over += [f"{'' if over and by == 'Holm' else 'Holm over '}the terms of a design"] * (
        designs > 0
    )
    adjusted = f" ({' or '.join(over)})" if over else ""
    return (
        f"up or down when the exact p{adjusted} is at most {alpha:.3g}, the "
        f"{100 * (1 - alpha):.6g} % interval excludes 0 and at least {FEWEST_CHANGED} questions "
        f"changed; flat when the {100 * (1 - 2 * alpha):.6g} % interval lies within {within}; else "
        "unclear"
    )


def value(leaf: Any) -> str:
    """A value of a config on one line, short where it is a name of this package or a path."""
    if leaf is None:
        return NOTHING
    if isinstance(leaf, bool):
        return str(leaf).lower()
    if isinstance(leaf, list):
        return f"[{', '.join(map(value, leaf))}]"
    if isinstance(leaf, Mapping):
        return f"{{{', '.join(f'{k}: {value(v)}' for k, v in leaf.items())}}}"
    return portable(str(leaf).removeprefix(_OWN)) or '""'


def change(leaf: Change) -> tuple[str, str, str]:
    """The key of a leaf that moved, its value in control and in the treatment."""
    return leaf.key, value(leaf.control), value(leaf.treatment)


def command(arguments: Sequence[str]) -> str:
    """The command that repeats a plan anywhere.

    What cannot change a result is left out: where it is written, how it is shown, runtime
    knobs. Absolute paths are cut to their last part.
    """
    kept = [a for a in arguments if not _neutral(a)]
    return shlex.join(portable(argument) for argument in kept)


def _neutral(argument: str) -> bool:
    key, equals, _ = argument.partition("=")
    parts = key.lstrip("+~").split("@")[0].split(".")
    return bool(equals) and (parts[0] in _NEUTRAL or "runtime" in parts)


def portable(text: str) -> str:
    """Text without the folders of absolute paths, which differ between machines."""
    whole = _WHOLE.match(text)
    if whole is not None:
        last = re.split(r"[/\\]", whole["path"].rstrip("/\\'\""))[-1]
        return f"{whole['key'] or ''}{whole['quote']}…/{last}{whole['quote']}"
    return _ABSOLUTE.sub("…/", text)
