"""What an answer says, sentence by sentence: what it cites and which passages decide about it."""

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
    claims: tuple[Claim, ...] = ()
    """What it claims, each with the passage that decides; empty where that was not judged."""


def said(
    answer: str,
    passages: Sequence[ContextPassage],
    pids: Sequence[str],
    verdict: Verdict | None,
) -> tuple[Said, ...]:
    """An answer in sentences.

    Claims whose words stand in no sentence follow the answer without any text of their own.

    Args:
        answer: Verbatim.
        passages: The context it was given.
        pids: Every pid it could name.
        verdict: Its faithfulness, where it was measured.
    """
    spans = _covering(answer)
    markers = find_markers(answer, pids)
    texts = [_without(answer, span, markers) for span in spans]
    *placed, elsewhere = _placed(texts, verdict.claims if verdict is not None else ())
    shown = [passage.pid for passage in passages]
    found = [
        Said(_pieces(answer, span, markers, shown), tuple(claims))
        for span, claims in zip(spans, placed, strict=True)
    ]
    return (*found, Said((), tuple(elsewhere))) if elsewhere else tuple(found)


def _covering(answer: str) -> list[tuple[int, int]]:
    """Sentences with the white space around them, so that nothing of the answer is lost."""
    ends = [end for _, end in sentences(answer)]
    if not ends:
        return [(0, len(answer))] if answer else []
    ends[-1] = len(answer)
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _placed(texts: Sequence[str], claims: Sequence[Claim]) -> list[list[Claim]]:
    """Claims by the sentence that makes them, and last those that none does."""
    found: list[list[Claim]] = [[] for _ in (*texts, "")]
    sentence = place = 0
    for claim in claims:
        # The number of a list item is a dash in its claim.
        wanted = claim.text.removeprefix("- ")
        starts = [(n, place if n == sentence else 0) for n in range(sentence, len(texts))]
        at = next(((n, p) for n, s in starts if (p := texts[n].find(wanted, s)) >= 0), None)
        if at is None:
            found[-1].append(claim)
            continue
        sentence, place = at[0], at[1] + len(wanted)
        found[sentence].append(claim)
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
