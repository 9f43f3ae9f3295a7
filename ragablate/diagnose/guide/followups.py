"""F3: a follow-up that was searched without the conversation it belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.decision import HELD, UNFOUND, UNTOLD
from ragablate.diagnose.guide.finding import Evidence
from ragablate.judge.content import content_words
from ragablate.text.normalize import answer_tokens


def follow_ups(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Searches all of which hold words that only the conversation explains.

    Words such as "it" count where the log has earlier turns and little stands before them that
    they could stand for; a beginning such as "what about" counts by itself.
    """
    for case in cases:
        if case.label not in (*UNFOUND, HELD, UNTOLD):
            continue
        words = [_pointing(text, cuts, bool(case.entry.history)) for text in case.sent]
        if all(words):
            sent = "was sent" if case.entry.searches else "was asked (the log lacks the search)"
            quoted = ", ".join(f'"{word}"' for word in dict.fromkeys(words))
            yield Evidence(
                (case.qid,),
                f"what {sent} says {quoted}, which only the conversation explains",
                (), {"turns": float(len(case.entry.history))},
                (*case.sent, *(turn.text for turn in case.entry.history[-1:])),
            )  # fmt: skip


def _pointing(text: str, cuts: Cuts, conversation: bool) -> str:
    """The words of a search that point outside it; empty where it stands alone."""
    tokens = answer_tokens(text)
    for opening in cuts.openings:
        wanted = answer_tokens(opening)
        if tokens[: len(wanted)] == wanted:
            return opening
    for pointer in cuts.pointers if conversation else ():
        before = _before(tokens, answer_tokens(pointer))
        if before is not None and len(content_words(" ".join(before))) <= cuts.pointer_words:
            return pointer
    return ""


def _before(tokens: Sequence[str], wanted: Sequence[str]) -> Sequence[str] | None:
    """What stands before the first occurrence of some words; ``None`` without one."""
    for place in range(len(tokens) - len(wanted) + 1):
        if list(tokens[place : place + len(wanted)]) == list(wanted):
            return tokens[:place]
    return None
