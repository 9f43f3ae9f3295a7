"""F1: searches for an identifier that bring back what is merely related."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.decision import PARTIAL, SPARSE, UNFOUND, Sparse
from ragablate.diagnose.guide.finding import Evidence

_CODE = r"(?<![\w./-])(?=[\w./-]*\d)(?=[\w./-]*[^\W\d_])\w+(?:[-_./]\w+)*(?![\w-])"
_PLAIN = re.compile(
    r"\d+(?:[.,]\d+)?(?:st|nd|rd|th|s|h|d|k|m|x|gb|mb|kb|tb|kg|g|km|cm|mm|ml|ghz|mhz|px)"
    r"|\d+(?:[.,]\d+)?-[^\W\d_]+(?:-[^\W\d_]+)*|[^\W\d_]\d|\d[^\W\d_]",
    re.IGNORECASE,
)
_PATTERN = re.compile(
    rf"(?P<mail>[\w.+-]+@[\w-]+\.[\w.-]*\w)|(?P<call>[^\W\d][\w.]*\(\))"
    rf"|(?P<snake>(?<!\w)[^\W\d_]+(?:_\w+)+)|(?P<camel>(?<!\w)[a-z]+[A-Z]\w+)"
    rf"|(?P<code>{_CODE})|(?P<number>(?<![\w.,])\d{{5,}}(?![\w.,]\d|\w))"
)
_NAME = re.compile(r"(?<=[^\W\d_][\s,]\s|.[^\W\d_]\s)(?:[A-Z][^\W\d_]+\s)+[A-Z][^\W\d_]+")
_ALIKE = 3


def identifiers(text: str) -> tuple[str, ...]:
    """Codes, long numbers, functions and addresses in a text, in order, each once.

    Ordinals, sizes with their unit and compounds such as ``30-day`` are none.
    """
    found = (m[0] for m in _PATTERN.finditer(text) if not (m["code"] and _PLAIN.fullmatch(m[0])))
    return tuple(dict.fromkeys(found))


def names_of_people(text: str) -> tuple[str, ...]:
    """Two or more capitalised words in a row behind the beginning, which a name may be."""
    return tuple(dict.fromkeys(m[0] for m in _NAME.finditer(text)))


def found_by_bm25(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Questions whose gold the log's ranking lacks and BM25 over the corpus finds."""
    if known.given is None:
        return
    sparse = Sparse(known, cuts.depth)
    for case in cases:
        wanted = identifiers(case.entry.question)
        if case.label != SPARSE and not (case.label == PARTIAL and wanted):
            continue
        first = sparse.first(case.entry.question)
        absent = frozenset(p for part in _absent(case) for p in part)
        ranks = {pid: rank for rank, pid in enumerate(first, 1) if pid in absent}
        if ranks:
            yield _proof(case, ranks, wanted or names_of_people(case.entry.question))


def _absent(case: Case) -> list[tuple[str, ...]]:
    ranked = frozenset(case.ranked)
    return [part for part in case.parts if ranked.isdisjoint(part)]


def _proof(case: Case, ranks: dict[str, int], wanted: Sequence[str]) -> Evidence:
    pid, rank = min(ranks.items(), key=lambda pair: pair[1])
    of = f" of the search for {', '.join(wanted)}" if wanted else ""
    return Evidence(
        (case.qid,),
        f"BM25 alone ranks {pid} {rank}{_th(rank)}; the ranking{of} lacks it",
        (pid,),
        {"bm25_rank": float(rank)},
        tuple(wanted),
    )


def _th(rank: int) -> str:
    if rank % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")


def never_in_the_ranking(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Searches with an identifier that no passage of their ranking holds.

    Only without a corpus: with one, BM25 is run and says more.
    """
    if known.given is not None:
        return
    for case in cases:
        wanted = identifiers(case.entry.question) or names_of_people(case.entry.question)
        texts = [known.text(pid) for pid in case.ranked[: cuts.depth]]
        if case.label not in UNFOUND or not wanted or not texts or not all(texts):
            continue
        lost = [one for one in wanted if not any(_holds(text, one) for text in texts)]
        if lost:
            yield _suspicion(case, known, lost, case.ranked[: cuts.depth])


def _suspicion(case: Case, known: Known, lost: Sequence[str], ranked: Sequence[str]) -> Evidence:
    near = [(pid, one) for pid in ranked for one in identifiers(known.text(pid))
            if any(_alike(one, asked) for asked in lost)][:_ALIKE]  # fmt: skip
    says = f"no passage of the ranking holds {', '.join(lost)}"
    if near:
        says += "; it brought back " + ", ".join(f"{one} ({pid})" for pid, one in near)
    return Evidence(
        (case.qid,), says, tuple(dict.fromkeys(pid for pid, _ in near)), {},
        (*lost, *(one for _, one in near)),
    )  # fmt: skip


def _holds(text: str, identifier: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(identifier)}(?!\w)", text, re.IGNORECASE) is not None


def _alike(one: str, other: str) -> bool:
    """Whether two identifiers differ in their digits alone."""
    return one != other and re.sub(r"\d", "0", one.lower()) == re.sub(r"\d", "0", other.lower())
