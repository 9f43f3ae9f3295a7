"""Sentences a tired researcher understands: headline, what is open, cells and slices."""

from __future__ import annotations

from ragablate.compare import phrases
from ragablate.compare.arms import family
from ragablate.compare.case import Case
from ragablate.compare.inference.states import FEWEST_CHANGED, FEWEST_QUESTIONS, floor_changed
from ragablate.compare.labels import denial
from ragablate.compare.numbers import (
    about,
    between,
    count,
    margin_text,
    p_text,
    signed,
)
from ragablate.compare.populations import ANSWERABLE, RETRIEVAL_DEPENDENT, UNANSWERABLE
from ragablate.records import Effect


def headline(case: Case) -> tuple[str, ...]:
    """The primary effect in a sentence, and what the data leave open where it is unclear."""
    if case.refusal:
        reason = phrases.sentence(case.refusal)
        return (f"No effect of {phrases.action(case)} is reported. {reason}",)
    effect = case.primary
    if not case.licence.causal:
        return (_association(case, effect),)
    opening = f"On {phrases.questions(effect)}, {phrases.held_fixed(case)},"
    doing = phrases.action(case)
    if effect.state in ("up", "down"):
        return (
            f"{opening} {doing} changed {_name(case, effect)} by {phrases.number(effect)} "
            f"({phrases.statistics(case, effect)}).",
        )
    if effect.state == "flat":
        return (f"{opening} {doing} {_no_difference(case, effect)}",)
    return (
        f"{opening} it is not decided whether {doing} changes {_name(case, effect)}: "
        f"{phrases.number(effect)} ({phrases.statistics(case, effect)}).",
        *still_open(case, effect),
    )


def _name(case: Case, effect: Effect) -> str:
    return phrases.measure(case.study, effect.measure)


def _association(case: Case, effect: Effect) -> str:
    old, new = phrases.names(case.study, case.contrast)
    control = f"control ({old})" if old else "control"
    variable = case.contrast.variable or "treatment"
    variable = variable if "." in variable else f"the {variable}"
    return (
        f"On {phrases.questions(effect)}, {_name(case, effect)} differs by "
        f"{phrases.number(effect)} between {new} and {control} "
        f"({phrases.statistics(case, effect)}). {denial(case.licence.label, variable)}. "
        + " ".join(phrases.sentence(reason) for reason in case.licence.reasons)
    )


def _no_difference(case: Case, effect: Effect) -> str:
    text = (
        f"made no difference larger than the margin of {margin_text(effect.margin)} to "
        f"{_name(case, effect)} ({phrases.equivalence(case, effect)})."
    )
    if effect.detail == "negligible":
        text += f" A difference is there ({phrases.test_text(case, effect)}), but a smaller one."
    return text


def still_open(case: Case, effect: Effect) -> tuple[str, ...]:
    """Why an effect is unclear, what the data are compatible with, and what would decide."""
    why = [_floor(case, effect), _disagreement(case, effect), _pilot(effect)]
    if effect.detail == "errors could flip it":
        why.append(phrases.sentence(f"{case.missing}; that could flip the conclusion"))
    else:
        why.append(planning(effect))
    return tuple(text for text in why if text)


def _floor(case: Case, effect: Effect) -> str:
    changed = effect.better + effect.worse
    size = len(family(case.study)) if effect.role == "primary" else 1
    needed = max(FEWEST_CHANGED, floor_changed(max(1, size), case.study.alpha))
    if changed and changed < needed:
        first = f" ({needed} as the first of {size} contrasts)" if needed > FEWEST_CHANGED else ""
        return (
            f"Only {count(changed, 'question')} changed; at least {FEWEST_CHANGED}{first} must "
            "change before any difference can be detected."
        )
    if changed and effect.detail == "floor":
        return (
            f"The changes add up in fewer than {FEWEST_CHANGED} clusters, too few to detect "
            "a difference."
        )
    return ""


def _disagreement(case: Case, effect: Effect) -> str:
    if effect.detail != "borderline" or effect.p is None or effect.p_adjusted is None:
        return ""
    if effect.p <= case.study.alpha < effect.p_adjusted:
        size = len(family(case.study))
        return (
            f"The interval excludes 0, but among {size} contrasts the test does not hold, so "
            "nothing is claimed."
        )
    return "The test and the interval do not agree, so nothing is claimed."


def _pilot(effect: Effect) -> str:
    if effect.n >= FEWEST_QUESTIONS:
        return ""
    return f"With fewer than {FEWEST_QUESTIONS} questions this is a pilot."


def planning(effect: Effect) -> str:
    """What the data are compatible with, and how many questions would decide."""
    interval = effect.ci95
    if interval is None:
        return "Too few questions for an interval."
    at = phrases.places(effect)
    text = f"The data are compatible with anything from {between(interval, at)}."
    if effect.needed_n is None:
        return text
    margin, n = margin_text(effect.margin), f"{effect.n:,}"
    share = (effect.better + effect.worse) / effect.n
    if not share:
        changing = "even if none changes"
    elif effect.replicates > 1:
        changing = "with scores that vary as they do here"
    else:
        changing = f"with about {max(1, round(100 * share))} % of questions changing"
    if effect.needed_n <= effect.n:
        return (
            f"{text} By plan about {about(effect.needed_n)} questions decide a difference of "
            f"{margin} {changing}, and this set has {n}: the truth lies close to 0 or to the "
            "margin, and only more questions will tell."
        )
    return (
        f"{text} To decide a difference of {margin} {changing} takes about "
        f"{about(effect.needed_n)} questions; this set has {n}."
    )


def more_questions(case: Case, effect: Effect) -> str:
    """What would settle an unclear effect, as a phrase; empty where it is decided."""
    if effect.state != "unclear":
        return ""
    if effect.detail == "errors could flip it":
        return "fill in the missing answers: run the same command again"
    name = _name(case, effect)
    if effect.needed_n is None or effect.needed_n <= effect.n:
        return f"more than the {effect.n:,} questions of this set, to decide {name}"
    kind = f"{effect.population} " if effect.population in (ANSWERABLE, UNANSWERABLE) else ""
    return (
        f"about {about(effect.needed_n)} {kind}questions to decide {name} "
        f"(this set has {effect.n:,})"
    )


def unanswerables(case: Case) -> tuple[str, ...]:
    """The primary measure where the right answer is to abstain, never pooled with the rest."""
    effect = case.effect(case.primary.measure, UNANSWERABLE)
    if effect is None:
        return ()
    clause = phrases.brief(case, effect, _name(case, effect))
    return (
        f"On {phrases.questions(effect)}, where the right answer is to abstain and which "
        f"count apart, {clause}.",
    )


def retrieval_dependent(case: Case) -> tuple[str, ...]:
    """The primary measure where memory cannot answer for the context."""
    effect = case.effect(case.primary.measure, RETRIEVAL_DEPENDENT)
    if effect is None:
        return ()
    return (f"On {phrases.questions(effect)}, {phrases.brief(case, effect, _name(case, effect))}.",)


def by_slice(case: Case) -> tuple[str, ...]:
    """Slices that differ, one sentence a slice name, marked as exploratory."""
    return tuple(
        f"Exploratory: the effect differs by {s.name} (Welch p = {p_text(s.gate)}): "
        + "; ".join(_slice(case, effect) for effect in s.effects)
        + "."
        for s in case.slices
        if s.open
    )


def _slice(case: Case, effect: Effect) -> str:
    adjusted = "" if effect.p_adjusted is None else f"; BH p = {p_text(effect.p_adjusted)}"
    value = effect.population.split("=", 1)[-1]
    return (
        f"{value} {signed(effect.effect or 0.0, phrases.places(effect))} "
        f"(n = {effect.n}; {phrases.moves(case, effect)}{adjusted})"
    )
