"""F7: filtered searches that return less than the passages passing the filter hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.decision import CUT, HELD, UNFOUND, UNTOLD
from ragablate.diagnose.guide.finding import Evidence
from ragablate.protocols import SearchRequest
from ragablate.records import Passage, Question
from ragablate.retrieve.bm25 import BM25
from ragablate.retrieve.restrict import restriction


def filtered(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Filtered searches beside an exhaustive search of the passages that pass the filter."""
    if known.given is None:
        return
    bm25 = BM25(variant="lucene", depth=cuts.depth, apply_filter=True, fill=True)
    for case in cases:
        if case.entry.filter and case.label in (*UNFOUND, HELD, UNTOLD, CUT):
            found = _evidence(case, known, cuts, bm25)
            if found is not None:
                yield found


def _evidence(case: Case, known: Known, cuts: Cuts, bm25: BM25) -> Evidence | None:
    text = case.sent[0]
    question = Question(case.qid, text, filter=dict(case.entry.filter))
    passes = restriction(known.corpus, question, pool=False, apply_filter=True)
    if passes is None:
        return None
    passing = [p for p in known.corpus.passages if passes(p)]
    first = _exhaustive(text, question, passing, known, cuts, bm25)
    own = case.ranked[: cuts.depth]
    outside = [p for p in own if p in known.passages and not passes(known.passages[p])]
    here, there = _recall(case, own), _recall(case, first)
    wanted = min(len(passing), cuts.depth)
    kept = ", ".join(f"{key}={value}" for key, value in sorted(case.entry.filter.items()))
    says = [f"{len(passing)} of {len(known.corpus.passages)} passages pass {kept}"]
    if not any(p.pid in case.gold for p in passing):
        says.append("none of them carries the gold")
    if there > here:
        says.append(f"an exhaustive search of these by {_by(known)} finds {there:.0%} of the gold "
                    f"among its first {cuts.depth}, the log {here:.0%}")  # fmt: skip
    if len(own) - len(outside) < wanted:
        says.append(f"the log's ranking holds {len(own) - len(outside)} that pass where "
                    f"{wanted} could be had")  # fmt: skip
    if outside:
        says.append(f"it holds {len(outside)} that do not pass")
    if len(says) == 1:
        return None
    scores = {
        "pass_rate": round(len(passing) / len(known.corpus.passages), 4),
        "recall": here,
        "exhaustive_recall": there,
    }
    pids = tuple(dict.fromkeys([*(p for p in first if p in case.gold), *outside]))
    return Evidence((case.qid,), "; ".join(says), pids, scores, (text,))


def _by(known: Known) -> str:
    return "BM25" if known.embed is None else known.embedder


def _exhaustive(
    text: str, question: Question, passing: Sequence[Passage], known: Known, cuts: Cuts, bm25: BM25
) -> tuple[str, ...]:
    """Pids of the first passages among those that pass, every one of them compared."""
    if known.embed is None or not passing:
        (item,) = bm25.retrieve(known.corpus, [SearchRequest("0", text, question)])
        return tuple(hit.pid for hit in item.value or ())
    query = known.embed("query", [text])[0]
    vectors = known.embed("document", [p.text for p in passing])
    near = [
        (-math.fsum(a * b for a, b in zip(query, v, strict=True)) / (math.hypot(*v) or 1.0), p.pid)
        for p, v in zip(passing, vectors, strict=True)
    ]
    return tuple(pid for _, pid in sorted(near)[: cuts.depth])


def _recall(case: Case, pids: Sequence[str]) -> float:
    """Share of the parts of the gold that have a passage among these."""
    there = frozenset(pids)
    return sum(not there.isdisjoint(part) for part in case.parts) / len(case.parts)
