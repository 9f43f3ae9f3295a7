"""The shape of a change: what happened to the evidence, and to faithfulness where it was kept."""

from __future__ import annotations

from dataclasses import dataclass

from ragablate.compare.numbers import signed
from ragablate.compare.owners import ASSEMBLER, CONTEXT, GOLD, READER, RETRIEVER
from ragablate.compare.swaps import NOT_ENOUGH
from ragablate.records import Effect, State

SHARED = "what both stages rest on: ingestion, parsing, truncation, context length"

_MOVED = ("up", "down")

_States = tuple[State, State, State]


@dataclass(frozen=True, slots=True)
class Shape:
    """What two arms of a changed pipeline look like side by side; descriptive by itself."""

    evidence: State
    """Of the evidence-present rate over all answerable questions."""
    faithfulness: State
    """Of faithfulness where both arms had the evidence; a refusal there counts 0."""
    score: State
    """Of the primary measure."""
    name: str
    """The reading in a few words."""
    text: str
    """The reading as a sentence without its full stop."""
    owner: str = ""
    """Which knobs it points to."""
    settle: str = ""
    """What would decide it, where a signal is unclear."""


_READINGS: dict[tuple[State, State], tuple[str, str, str]] = {
    ("down", "flat"): (
        "retrieval or assembly regressed",
        "Less evidence reaches the reader, which uses what reaches it as before",
        RETRIEVER,
    ),
    ("flat", "down"): (
        "reader regressed",
        "As much evidence reaches the reader, which keeps to it less",
        READER,
    ),
    ("down", "down"): (
        "something shared moved",
        "Less evidence reaches the reader, and it keeps to the rest less",
        SHARED,
    ),
    ("up", "flat"): (
        "retrieval or assembly improved",
        "More evidence reaches the reader, which uses what reached it before as before",
        RETRIEVER,
    ),
    ("flat", "up"): (
        "reader improved",
        "As much evidence reaches the reader, which keeps to it more",
        READER,
    ),
    ("up", "up"): (
        "both improved",
        "More evidence reaches the reader, and it keeps to it more: something shared moved",
        SHARED,
    ),
    ("down", "up"): (
        "less evidence, better use of it",
        "Less evidence reaches the reader, which keeps to it more: fewer distractors or shorter "
        "contexts",
        CONTEXT,
    ),
    ("up", "down"): (
        "more evidence, worse use of it",
        "More evidence reaches the reader, which keeps to it less: distractors or length",
        CONTEXT,
    ),
}


def shape(
    evidence: Effect | None,
    faithfulness: Effect | None,
    score: Effect | None,
    retrieved: Effect | None = None,
) -> Shape:
    """Read the two stage signals of a changed pipeline together.

    Whether the difference *is* the change of one variable is for the proofs of the arms to
    say; the shape alone is an association.

    Args:
        evidence: Of the share of answerable questions whose evidence is in the context.
        faithfulness: On the questions with evidence in both arms, a refusal counting 0.
        score: Of the primary measure.
        retrieved: Of the share of answerable questions whose evidence is in the ranking,
            which tells a regression of retrieval from one of assembly.
    """
    states: _States = (_state(evidence), _state(faithfulness), _state(score))
    open_signals = [
        (name, effect)
        for name, effect in (("evidence", evidence), ("faithfulness", faithfulness))
        if _state(effect) not in ("up", "down", "flat")
    ]
    if open_signals:
        return Shape(
            *states, NOT_ENOUGH, _half_open(evidence, open_signals), settle=_settle(open_signals)
        )
    name, text, owner = _READINGS.get((states[0], states[1]), ("", "", ""))
    if not name:
        return _neither(states, score)
    if owner == RETRIEVER:
        name, owner = _upstream(name, states[0], retrieved)
    return Shape(*states, name, text, owner)


def _state(effect: Effect | None) -> State:
    return "refused" if effect is None else effect.state


def _upstream(name: str, moved: State, retrieved: Effect | None) -> tuple[str, str]:
    """Retrieval where the ranking moved the same way, assembly where it did not move."""
    verb = name.rsplit(" ", 1)[1]
    if _state(retrieved) == moved:
        return f"retrieval {verb}", RETRIEVER
    if _state(retrieved) == "flat":
        return f"assembly {verb}", ASSEMBLER
    return name, f"{RETRIEVER}; {ASSEMBLER}"


def _neither(states: _States, score: Effect | None) -> Shape:
    """Both stage signals are flat: the score decides."""
    if states[2] in _MOVED:
        text = "Neither stage signal moved, yet the score did: source, label, judge or completeness"
        return Shape(*states, "neither stage signal moved", text, GOLD)
    if states[2] == "flat":
        return Shape(*states, "no material change", "Neither stage signal nor the score moved")
    settle = _settle([("the score", score)])
    text = "Neither stage signal moved; whether the score did is not decided"
    return Shape(*states, NOT_ENOUGH, text, settle=settle)


_FOUND = {"up": "Evidence rose", "down": "Evidence fell", "flat": "Evidence did not move"}


def _half_open(evidence: Effect | None, signals: list[tuple[str, Effect | None]]) -> str:
    said = [] if _state(evidence) not in _FOUND else [_FOUND[_state(evidence)]]
    for name, effect in signals:
        if effect is None or effect.effect is None:
            said.append(f"{name} could not be compared")
        else:
            on = f"{effect.n:,} {effect.population} questions"
            said.append(f"{name} is not decided ({signed(effect.effect)} on {on})")
    text = "; ".join(said)
    return text[:1].upper() + text[1:]


def _settle(signals: list[tuple[str, Effect | None]]) -> str:
    """How many questions would decide every open signal."""
    asked = []
    for name, effect in signals:
        if effect is None or effect.effect is None:
            asked.append(f"measure {name} in both arms")
        elif effect.needed_n is not None and effect.needed_n > effect.n:
            asked.append(
                f"about {effect.needed_n:,} {effect.population} questions to decide {name} "
                f"(here {effect.n:,})"
            )
        else:
            asked.append(f"more than {effect.n:,} {effect.population} questions to decide {name}")
    return "; ".join(asked)
