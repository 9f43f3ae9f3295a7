"""What an answer says, sentence by sentence: what it cites and which passage supports it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragablate.judge.faithfulness import Faithfulness, is_claim
from ragablate.judge.markers import Marker, find_markers, resolve
from ragablate.records import ContextPassage, Verdict
from ragablate.text.sentences import sentences

_LEXICAL = "ragablate.judge.faithfulness.Faithfulness"

Supporting = Callable[[str, tuple[ContextPassage, ...]], str | None]
"""From a claim and passages to the pid of the one that supports it."""
Piece = str | tuple[str, tuple[str, ...]]
"""A stretch of text, or a marker as written with the pids it points to, none if to nothing."""


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of an answer, with the white space before it."""

    pieces: tuple[Piece, ...]
    """In order; joined they are the sentence, verbatim."""
    claim: bool
    """Whether it is known what supports it, or that nothing does."""
    support: str
    """The passage that supports it; empty where none does or it is not known."""


def lexical_judge(config: Mapping[str, Any]) -> Faithfulness | None:
    """The shipped judge of faithfulness, as a plan has it; ``None`` where another judged."""
    node = next(
        (n for n in (config.get("judge") or {}).values() if n and n.get("_target_") == _LEXICAL),
        None,
    )
    if node is None:
        return None
    knobs = {k: v for k, v in node.items() if k in ("threshold", "match_names")}
    return Faithfulness(**knobs)


def said(
    answer: str,
    passages: Sequence[ContextPassage],
    pids: Sequence[str],
    verdict: Verdict | None,
    supporting: Supporting | None,
) -> tuple[Said, ...]:
    """An answer in sentences.

    Support is shown only where it accounts for the verdict that was given: the same claims,
    as many of them held.

    Args:
        answer: Verbatim.
        passages: The context it was given.
        pids: Every pid it could name.
        verdict: Its faithfulness, where it was measured.
        supporting: The rule it was measured by, where it is known.
    """
    spans = _covering(answer)
    markers = find_markers(answer, pids)
    texts = [_without(answer, span, markers) for span in spans]
    support = _support(texts, passages, verdict, supporting)
    shown = [passage.pid for passage in passages]
    return tuple(
        Said(_pieces(answer, span, markers, shown), pid is not None, pid or "")
        for span, pid in zip(spans, support, strict=True)
    )


def _covering(answer: str) -> list[tuple[int, int]]:
    """Sentences with the white space around them, so that nothing of the answer is lost."""
    ends = [end for _, end in sentences(answer)]
    if not ends:
        return [(0, len(answer))] if answer else []
    ends[-1] = len(answer)
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _support(
    texts: Sequence[str],
    passages: Sequence[ContextPassage],
    verdict: Verdict | None,
    supporting: Supporting | None,
) -> list[str | None]:
    """By sentence the pid that supports it, empty for none, ``None`` for not known."""
    unknown: list[str | None] = [None] * len(texts)
    if supporting is None or verdict is None or verdict.value is None:
        return unknown
    claims = [is_claim(text) for text in texts]
    # The verdict names every passage that supports anything, which spares the others.
    named = tuple(passage for passage in passages if passage.pid in verdict.reason)
    if verdict.value == 1.0 and len(named) == 1:
        return [named[0].pid if claim else None for claim in claims]
    found = [
        (supporting(text, named) or "") if claim else None
        for text, claim in zip(texts, claims, strict=True)
    ]
    held = sum(bool(pid) for pid in found)
    agrees = any(claims) and abs(held / sum(claims) - verdict.value) < 1e-9
    return found if agrees else unknown


def _inside(span: tuple[int, int], markers: Sequence[Marker]) -> Iterator[Marker]:
    return (m for m in markers if span[0] <= m.start and m.end <= span[1])


def _without(answer: str, span: tuple[int, int], markers: Sequence[Marker]) -> str:
    """A sentence without its markers."""
    kept, done = [], span[0]
    for marker in _inside(span, markers):
        if marker.start >= done:
            kept.append(answer[done : marker.start])
            done = marker.end
    return " ".join([*kept, answer[done : span[1]]]).strip()


def _pieces(
    answer: str, span: tuple[int, int], markers: Sequence[Marker], shown: Sequence[str]
) -> tuple[Piece, ...]:
    cited: dict[tuple[int, int], list[str]] = {}
    for marker in _inside(span, markers):
        pid = resolve(marker.item, shown)
        cited.setdefault((marker.start, marker.end), []).extend([pid] if pid else [])
    pieces: list[Piece] = []
    done = span[0]
    for (start, end), found in cited.items():
        pieces += [answer[done:start], (answer[start:end], tuple(dict.fromkeys(found)))]
        done = end
    pieces.append(answer[done : span[1]])
    return tuple(piece for piece in pieces if piece)
