"""Which parts of the gold an answer covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragablate.gold import is_gap
from ragablate.judge.batches import Batched, Wanted
from ragablate.judge.claims import claims
from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.outcome import Detailed, Items, Measured, unspoken
from ragablate.judge.support import Ask, Support, joined
from ragablate.protocols import JudgeRequest
from ragablate.records import Claim, ContextPassage, GoldPassage, Measure, ResolvedAlternative

Sides = list[tuple[ContextPassage, ...]]
"""What one part of the gold may be covered by: each entry is read as one text."""


class Completeness:
    """``completeness``: the share of the gold's parts that the answer covers, in [0, 1].

    A question of several parts needs all of them; its answer covers a part where one of the
    answer's claims is supported by an alternative of it: by its evidence with the passage's
    header or, where the evidence is not located, by the passage. Passages that an alternative
    needs together are read as one text. This is nugget recall (Voorhees 2003, "Overview of the
    TREC 2003 Question Answering Track") with the gold's parts for nuggets. A covered part need
    not be told in full, nor was the passage in the context: what the reader knew by heart counts
    alike. The verdict holds per covered part the claim that covers it, and the reason names the
    others by number, from 1.

    Abstentions, failed answers, answers without a claim (yes, no), unanswerable questions and
    gold without parts are unmeasured.

    Args:
        support: What decides; ``ragablate.judge.lexical.Lexical`` without a model.
        phrases: What counts as declining (see ``is_abstention``).
    """

    def __init__(self, support: Support, phrases: Sequence[str] = ()) -> None:
        self.support = support
        self.phrases = phrases

    @property
    def cheap(self) -> bool:
        """As what decides."""
        return self.support.cheap

    def problems(self) -> list[str]:
        """Phrases that can never be found; what decides says its own."""
        return phrase_problems(self.phrases)

    def measures(self) -> tuple[Measure, ...]:
        """``completeness``."""
        return (Measure("completeness", "read", "parts of the gold that are answered"),)

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """One verdict per request."""
        return Batched(self.support, self.measures(), self._wanted).judge(requests)

    def _wanted(self, request: JudgeRequest) -> Wanted:
        trace = request.trace
        missing = _no_parts(request) or unspoken(trace, is_abstention(trace, self.phrases))
        said = [] if missing is not None else claims(trace)
        if missing is not None or not said:
            return Wanted.settled(self.measures(), missing or (None, "no claim"))
        parts = [
            [Ask(claim, side) for side in _sides(part) for claim in said]
            for part in request.resolved.parts
        ]
        asks = list(dict.fromkeys(ask for part in parts for ask in part))
        return Wanted(
            asks,
            lambda found: {"completeness": _covered(parts, dict(zip(asks, found, strict=True)))},
        )


def _no_parts(request: JudgeRequest) -> Measured | None:
    if not request.gold.answerable:
        return None, "unanswerable: there is no gold to cover"
    if is_gap(request.resolved):
        return None, "eval gap: answerable, but without gold"
    return None


def _sides(part: Sequence[ResolvedAlternative]) -> Sides:
    found: Sides = []
    for alternative in part:
        texts = tuple(_evidence(gold) for gold in alternative.passages)
        found.append(texts if alternative.any_of else (joined(texts),))
    return found


def _evidence(gold: GoldPassage) -> ContextPassage:
    """A gold passage as its header and its evidence."""
    passage = gold.passage
    if not gold.evidence:
        return passage
    header = passage.text[: max(0, passage.text.find(passage.body))]
    text = header + "\n".join(gold.evidence)
    return ContextPassage(passage.pid, text, text)


def _covered(parts: Sequence[Sequence[Ask]], found: Mapping[Ask, Claim]) -> Measured | Detailed:
    told = [next((found[a] for a in p if found[a].status == "supported"), None) for p in parts]
    unclear = [
        number
        for number, (part, claim) in enumerate(zip(parts, told, strict=True), 1)
        if claim is None and any(found[ask].status == "unclear" for ask in part)
    ]
    covering = tuple(claim for claim in told if claim is not None)
    if unclear:
        places = ", ".join(map(str, unclear))
        return None, f"the judge gave no usable answer on part {places}", covering
    lost = [str(number) for number, claim in enumerate(told, 1) if claim is None]
    reason = f"{len(covering)} of {len(parts)} parts covered"
    reason += f"; not part {', '.join(lost)}" if lost else ""
    return len(covering) / len(parts), reason, covering
