"""The guide's questions over one answer, in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.judge.claims import claims_in
from ragablate.judge.faithfulness import share_supported
from ragablate.judge.lexical import Lexical
from ragablate.judge.support import Ask
from ragablate.protocols import SearchRequest
from ragablate.records import Question
from ragablate.retrieve.bm25 import BM25

ERROR = "pipeline error"
REFUSED_RIGHTLY = "rightly refused"
FABRICATED = "F9: made up where nothing could be known"
GAP = "no gold to follow"
HELD = "held back by the gate"
UNTOLD = "the log does not say what was shown"
CUT = "found, but cut before the prompt"
SPARSE = "F1: missed, and found by BM25"
MISSED = "not found at all"
PARTIAL = "F8: part of the evidence arrived"
DECLINED = "declined with the evidence shown"
UNGROUNDED = "F10: shown, and the answer does not rest on it"
UNMEASURED = "shown; whether the answer rests on it is not measured"
WRONG = "grounded but incorrect: F11, F12"

LABELS = (
    ERROR, REFUSED_RIGHTLY, FABRICATED, GAP, HELD, UNTOLD, CUT, SPARSE, MISSED, PARTIAL, DECLINED,
    UNGROUNDED, UNMEASURED, WRONG,
)  # fmt: skip
"""Every place the questions can lead to, in the order they are asked."""

UPSTREAM = (HELD, UNTOLD, CUT, SPARSE, MISSED, PARTIAL)
"""Labels of answers that did not have all of their evidence."""
UNFOUND = (SPARSE, MISSED, PARTIAL)
"""Labels of answers of which some evidence was not found."""


def decide(case: Case, known: Known, cuts: Cuts, bm25_finds: Callable[[Case], bool]) -> Case:
    """The same case with where the guide's questions lead, and what they measured on the way.

    What cannot be answered comes first; then whether anything of the evidence arrived, whether
    all of it did, and only then whether the answer rests on it.

    Args:
        case: With its gold by part.
        known: The passages at hand.
        cuts: Where the lines are.
        bm25_finds: Whether BM25 finds gold of a case; asked only where a corpus is given.
    """
    entry = case.entry
    if entry.error or entry.answer is None:
        return replace(case, label=ERROR)
    if not entry.answerable:
        return replace(case, label=REFUSED_RIGHTLY if case.declined else FABRICATED)
    if not case.parts:
        return replace(case, label=GAP)
    shown = frozenset(entry.shown or ())
    arrived = tuple(not shown.isdisjoint(part) for part in case.parts)
    case = replace(case, arrived=arrived)
    if not any(arrived):
        return replace(case, label=_nothing_arrived(case, known, bm25_finds))
    if not all(arrived):
        return replace(case, label=PARTIAL)
    if case.declined:
        return replace(case, label=DECLINED)
    value = grounding(case)
    if value is None:
        return replace(case, label=UNMEASURED)
    label = UNGROUNDED if value < cuts.faithful else WRONG
    return replace(case, faithfulness=value, label=label)


def _nothing_arrived(case: Case, known: Known, bm25_finds: Callable[[Case], bool]) -> str:
    entry = case.entry
    if entry.gate is not None and entry.gate.outcome != "go":
        return HELD
    if entry.shown is None and (entry.retrieved is None or _found(case)):
        return UNTOLD
    if _found(case):
        return CUT
    return SPARSE if known.given is not None and bm25_finds(case) else MISSED


def _found(case: Case) -> bool:
    seen = {*(case.entry.candidates or ()), *case.ranked}
    return not case.gold.isdisjoint(seen)


def grounding(case: Case) -> float | None:
    """Share of claims the context supports: the log's own, else word by word; or ``None``."""
    own = case.entry.verdicts.get("faithfulness")
    if own is not None:
        return own
    if case.entry.context is None or not case.entry.answer:
        return None
    said = claims_in(case.entry.answer, frozenset(case.entry.shown or ()))
    if not said:
        return None
    return share_supported(Lexical().check([Ask(claim, case.shown) for claim in said]))[0]


class Sparse:
    """BM25 over the passages at hand, built when it is first asked.

    Args:
        known: The passages at hand.
        depth: A passage counts as found among so many.
    """

    def __init__(self, known: Known, depth: int) -> None:
        self.known = known
        self.depth = depth
        self._bm25 = BM25(variant="lucene", depth=depth)

    def finds(self, case: Case) -> bool:
        """Whether gold of a case is among the first of the ranking of its question."""
        return not case.gold.isdisjoint(self.first(case.entry.question))

    def first(self, text: str) -> tuple[str, ...]:
        """Pids of the first passages of the ranking of a text, best first."""
        request = SearchRequest("0", text, Question("0", text))
        (item,) = self._bm25.retrieve(self.known.corpus, [request])
        return tuple(hit.pid for hit in item.value or ())
