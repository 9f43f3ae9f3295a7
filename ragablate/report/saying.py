"""What an answer says, sentence by sentence: what it cites and which passage supports it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragablate.judge.markers import Marker, find_markers, resolve
from ragablate.records import Claim, ContextPassage, Verdict
from ragablate.text.sentences import sentences

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


def said(
    answer: str,
    passages: Sequence[ContextPassage],
    pids: Sequence[str],
    verdict: Verdict | None,
) -> tuple[Said, ...]:
    """An answer in sentences.

    A sentence of several claims is supported where all of them are; the passage named is that
    of the first.

    Args:
        answer: Verbatim.
        passages: The context it was given.
        pids: Every pid it could name.
        verdict: Its faithfulness, where it was measured.
    """
    spans = _covering(answer)
    markers = find_markers(answer, pids)
    texts = [_without(answer, span, markers) for span in spans]
    support = _support(texts, verdict.claims if verdict is not None else ())
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


def _support(texts: Sequence[str], claims: Sequence[Claim]) -> list[str | None]:
    """By sentence the pid that supports it, empty for none, ``None`` for not known."""
    found: list[str | None] = []
    waiting = list(claims)
    for text in texts:
        own: list[Claim] = []
        place = 0
        while waiting:
            # The number of a list item is a dash in its claim.
            wanted = waiting[0].text.removeprefix("- ")
            at = text.find(wanted, place)
            if at < 0:
                break
            place = at + len(wanted)
            own.append(waiting.pop(0))
        held = bool(own) and all(claim.status == "supported" for claim in own)
        judged = bool(own) and all(claim.status != "unclear" for claim in own)
        found.append((own[0].pid if held else "") if judged else None)
    return found


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
