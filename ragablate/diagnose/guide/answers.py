"""F9, F10 and answers taken from another passage: what an answer rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.decision import (
    DECLINED,
    ERROR,
    FABRICATED,
    GAP,
    REFUSED_RIGHTLY,
    UNGROUNDED,
)
from ragablate.diagnose.guide.finding import Evidence, count
from ragablate.judge.claims import claims_in
from ragablate.judge.lexical import Lexical
from ragablate.judge.support import Ask
from ragablate.judge.tracing import grounded_elsewhere
from ragablate.records import Claim

_QUOTED = 200


def made_up(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Answers to what cannot be answered, with what the search had to offer."""
    for case in cases:
        if case.label != FABRICATED:
            continue
        scores = [p.score for p in case.entry.retrieved or () if p.score is not None]
        ranked = case.ranked[:1]
        offer = f"the best passage was {ranked[0]}" if ranked else "nothing was shown"
        known_scores = {"top": scores[0]} if scores else {}
        if len(scores) >= cuts.depth:
            known_scores["gap"] = round(scores[0] - scores[cuts.depth - 1], 6)
        said = (case.entry.answer or "")[:_QUOTED]
        backed = [c for c in _claims(case) if c.status == "supported"]
        if backed:
            offer += f"; {count(len(backed), 'claim')} resting on {_pids(backed)}"
        says = f"answered, though the corpus cannot say; {offer}"
        yield Evidence((case.qid,), says, ranked, known_scores, (said,))


def ungrounded(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Claims that the context does not support, though it holds the evidence."""
    for case in cases:
        if case.label != UNGROUNDED:
            continue
        claims = [c for c in _claims(case) if c.status != "supported"]
        denied = [c for c in claims if c.status == "contradicted"]
        value = 0.0 if case.faithfulness is None else case.faithfulness
        says = f"faithfulness {value:.2f}, below {cuts.faithful:g}"
        if claims:
            says += f"; {count(len(claims), 'claim')} without a passage of the context to trace to"
        if denied:
            says += f", {len(denied)} contradicted by {_pids(denied)}"
        gold = sorted(case.gold.intersection(case.entry.shown or ()))
        quotes = (*(c.text for c in claims), *(c.quote for c in denied if c.quote))
        yield Evidence((case.qid,), says, tuple(gold), {"faithfulness": round(value, 4)}, quotes)


def from_another_passage(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Claims of wrong answers that a passage without gold supports and no gold passage does."""
    for case in cases:
        if case.label in (ERROR, REFUSED_RIGHTLY, DECLINED, GAP, FABRICATED) or not case.parts:
            continue
        if case.declined or not case.entry.answer or not case.shown:
            continue
        found = _elsewhere(case, case.entry.answer)
        if found:
            pids = tuple(dict.fromkeys(c.pid for c in found))
            says = f"{count(len(found), 'claim')} resting on {', '.join(pids)}, without gold"
            yield Evidence((case.qid,), says, pids, {}, tuple(c.text for c in found))


def _elsewhere(case: Case, answer: str) -> Sequence[Claim]:
    """As the log's judge traced it, else word by word."""
    if case.entry.claims:
        traced = (c for c in case.entry.claims if c.status == "supported" and c.pid)
        return [claim for claim in traced if claim.pid not in case.gold]
    shown = frozenset(case.entry.shown or ())
    return grounded_elsewhere(answer, case.shown, case.gold, pids=shown)


def _claims(case: Case) -> list[Claim]:
    if not case.shown or not case.entry.answer:
        return []
    said = claims_in(case.entry.answer, frozenset(case.entry.shown or ()))
    return Lexical().check([Ask(claim, case.shown) for claim in said])


def _pids(claims: Sequence[Claim]) -> str:
    return ", ".join(dict.fromkeys(c.pid for c in claims if c.pid))
