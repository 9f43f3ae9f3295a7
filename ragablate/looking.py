"""Looks declared before scoring: at a growing question set, and at one that is sealed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist
from typing import Any

from ragablate.dataset.clusters import cluster_keys
from ragablate.records import Dataset
from ragablate.seeds import derive

CORRECTIONS = ("holm", "maxt")
RULES = ("obf", "cs")
_SEALS = 1_000_000


def problems(control: Mapping[str, Any]) -> list[str]:
    """What is wrong with the declared looks of a plan, one sentence each."""
    found = []
    if control["correction"] not in CORRECTIONS:
        found.append(f"correction must be holm or maxt, not {control['correction']!r}")
    found += _sequential_problems(control["sequential"], control["cluster_by"])
    share = control["confirmation"]["share"]
    number = isinstance(share, int | float) and not isinstance(share, bool)
    if not number or not 0 <= share < 1:
        found.append(f"confirmation.share must be a number from 0 to below 1, not {share!r}")
    if not isinstance(control["confirmation"]["open"], bool):
        found.append(
            f"confirmation.open must be true or false, not {control['confirmation']['open']!r}"
        )
    elif control["confirmation"]["open"] and not share:
        found.append(
            "confirmation.open=true opens nothing: give the share of questions that is sealed, "
            "confirmation.share=0.3"
        )
    return found


def _sequential_problems(declared: Mapping[str, Any], cluster_by: str | None) -> list[str]:
    rule, looks, planned = (declared[key] for key in ("rule", "looks", "planned_n"))
    if rule is None:
        return []
    if rule not in RULES:
        return [f"sequential.rule must be obf, cs or null, not {rule!r}"]
    found = [
        f"sequential.{name} must be a whole number of at least {least}, not {value!r}"
        for name, value, least in (("looks", looks, 1), ("planned_n", planned, 2))
        if not isinstance(value, int) or isinstance(value, bool) or value < least
    ]
    if rule == "cs" and cluster_by is not None:
        found.append(
            "sequential.rule=cs holds for independent questions only: set cluster_by=null, or "
            "use sequential.rule=obf"
        )
    return found


def too_early(declared: Mapping[str, Any], questions: int) -> list[str]:
    """Why the questions do not make up a declared look; empty where they do."""
    if declared["rule"] != "obf" or look(declared, questions):
        return []
    first = -(-declared["planned_n"] // declared["looks"])
    return [
        f"the first of {declared['looks']} looks at {declared['planned_n']} questions takes "
        f"{first}, and there are {questions}: add questions, or declare more looks"
    ]


def look(declared: Mapping[str, Any], questions: int) -> int:
    """Which of the declared looks this many questions complete; 0 before the first."""
    looks: int = declared["looks"]
    return min(looks, questions * looks // int(declared["planned_n"]))


def level(control: Mapping[str, Any], questions: int) -> float:
    """The level of the tests at this look, so that all looks together keep ``alpha``.

    O'Brien and Fleming's bound of the look, as the level of a two-sided normal test; the
    plan's own ``alpha`` where one look was declared.
    """
    alpha: float = control["alpha"]
    declared = control["sequential"]
    if declared["rule"] != "obf":
        return alpha
    from ragablate.compare.inference.sequential import obf_bounds

    bounds = obf_bounds(declared["looks"], alpha=alpha)
    bound = bounds[max(1, look(declared, questions)) - 1]
    return min(alpha, round(2 * NormalDist().cdf(-bound), 12))


def planned_n(control: Mapping[str, Any]) -> int | None:
    """The number of questions a confidence sequence is tuned to; ``None`` without one."""
    declared = control["sequential"]
    return int(declared["planned_n"]) if declared["rule"] == "cs" else None


def split(dataset: Dataset, control: Mapping[str, Any]) -> Dataset:
    """The part of the questions that this plan may see: all but the sealed ones, or those alone.

    Whole clusters are sealed, by a seeded draw of their key, so that no document or
    conversation lies on both sides; every plan on the same set draws the same ones.

    Raises:
        DatasetError: ``cluster_by`` names nothing the questions have.
    """
    declared = control["confirmation"]
    if not declared["share"]:
        return dataset
    keys = cluster_keys(dataset, control["cluster_by"])
    kept = tuple(
        q
        for q in dataset.questions
        if _sealed(keys[q.qid], declared["share"], control["seed"]) == declared["open"]
    )
    return replace(dataset, questions=kept, gold={q.qid: dataset.gold[q.qid] for q in kept})


def _sealed(key: str, share: float, seed: int) -> bool:
    return derive(seed, "confirmation", key) % _SEALS < share * _SEALS


def in_words(control: Mapping[str, Any], questions: int) -> tuple[str, ...]:
    """What was declared, as sentences; nothing where the plan is one look at all questions."""
    said = []
    declared, sealed = control["sequential"], control["confirmation"]
    if declared["rule"] == "obf":
        said.append(
            f"Look {look(declared, questions)} of {declared['looks']} declared looks at up to "
            f"{declared['planned_n']:,} questions (O'Brien-Fleming): tests and intervals of this "
            f"look are at the level {level(control, questions):.3g}, all looks together at "
            f"{control['alpha']:g}."
        )
    if declared["rule"] == "cs":
        said.append(
            "Intervals of the contrasts are confidence sequences, which hold however often a "
            "growing question set is looked at (narrowest at "
            f"{declared['planned_n']:,} questions)."
        )
    if sealed["share"] and sealed["open"]:
        said.append(
            f"Confirmation: the {questions:,} questions that were sealed. A second plan on them "
            "is a second look."
        )
    elif sealed["share"]:
        said.append(
            f"Exploration: {questions:,} questions; about {sealed['share']:.0%} of the set stay "
            "sealed for one confirmation, confirmation.open=true."
        )
    return tuple(said)
