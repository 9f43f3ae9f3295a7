"""Rank measures of the ranking, by ir-measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragablate.judge.outcome import Items, Measured, item, never_ranked
from ragablate.protocols import JudgeRequest
from ragablate.records import Gold, Measure, Ranking, ResolvedGold

_RANKINGS = ("retrieved", "candidates")
_LABELS = {"recall": "recall", "mrr": "reciprocal rank", "ndcg": "nDCG"}
_CANONICAL = {"recall": "R", "mrr": "RR", "ndcg": "nDCG"}


class Retrieval:
    """``recall@k``, ``mrr@k`` and ``ndcg@k`` of one ranking, in [0, 1].

    Recall and nDCG (log2 discount) are those of trec_eval, the reciprocal rank that of MS
    MARCO, all as ir-measures computes them. Every passage of every alternative of every part
    of the gold is relevant, with gain 1, whether or not the corpus holds it; for gold that
    names documents these are all their passages, so recall asks for each. Our order is the
    order: scores and ties are not looked at again. A question without gold is unmeasured, an
    empty ranking is 0; an unanswerable question that names gold is measured like any other.

    Args:
        recall: Depths of ``recall@k``.
        mrr: Depths of ``mrr@k``.
        ndcg: Depths of ``ndcg@k``.
        ranking: ``retrieved``, the ranking handed to the assembler, or ``candidates``, what
            the retriever returned. A depth beyond its end adds nothing.
    """

    cheap = True

    def __init__(
        self,
        recall: Sequence[int] = (10,),
        mrr: Sequence[int] = (10,),
        ndcg: Sequence[int] = (10,),
        ranking: str = "retrieved",
    ) -> None:
        self.recall = recall
        self.mrr = mrr
        self.ndcg = ndcg
        self.ranking = ranking

    def problems(self) -> list[str]:
        """Depths that are no positive whole numbers or occur twice, and an unknown ranking."""
        found = []
        for name in _LABELS:
            depths = getattr(self, name)
            if any(type(k) is not int or k < 1 for k in depths) or len({*depths}) < len(depths):
                found.append(f"{name} is {list(depths)}: give different whole numbers from 1")
        if self.ranking not in _RANKINGS:
            found.append(f"ranking is {self.ranking!r}: set it to one of {', '.join(_RANKINGS)}")
        return found

    def measures(self) -> tuple[Measure, ...]:
        """Recall, then reciprocal rank, then nDCG, each at its depths."""
        return tuple(
            Measure(f"{name}@{k}", "retrieve", f"{_LABELS[name]} at {k}")
            for name, k in self._depths()
        )

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """One verdict per measure and request, all computed in one pass."""
        measures = self.measures()
        gold = [relevant_pids(request.gold, request.resolved) for request in requests]
        rankings = [self._ranking(request) for request in requests]
        values = self._evaluate(rankings, gold)
        for request, ranking, pids, measured in zip(requests, rankings, gold, values, strict=True):
            reason = _unranked(request, ranking, pids)
            yield item(request, measures, {m.name: reason or measured[m.name] for m in measures})

    def _depths(self) -> Iterator[tuple[str, int]]:
        for name in _LABELS:
            for k in getattr(self, name):
                yield name, k

    def _ranking(self, request: JudgeRequest) -> list[str]:
        trace = request.trace
        hits: Ranking = trace.candidates if self.ranking == "candidates" else trace.retrieved
        return list(dict.fromkeys(hit.pid for hit in hits))

    def _evaluate(
        self, rankings: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]
    ) -> list[Mapping[str, Measured]]:
        import ir_measures

        names = {
            ir_measures.parse_measure(f"{_CANONICAL[name]}@{k}"): f"{name}@{k}"
            for name, k in self._depths()
        }
        # Row numbers stand for ids, so no id can upset the evaluator; scores fall by one from
        # rank to rank, so it has no tie to break.
        qrels: dict[str, dict[str, int]] = {}
        run: dict[str, dict[str, float]] = {}
        for row, (ranking, relevant) in enumerate(zip(rankings, gold, strict=True)):
            number = {pid: str(i) for i, pid in enumerate(dict.fromkeys((*ranking, *relevant)))}
            if relevant:
                qrels[str(row)] = {number[pid]: 1 for pid in relevant}
                run[str(row)] = {number[p]: float(-rank) for rank, p in enumerate(ranking)}
        values: list[dict[str, Measured]] = [
            dict.fromkeys(names.values(), (0.0, _where(ranking, relevant)))
            for ranking, relevant in zip(rankings, gold, strict=True)
        ]
        for metric in _computed(ir_measures, names, qrels, run):
            row = int(metric.query_id)
            name = names[metric.measure]
            values[row][name] = (float(metric.value), values[row][name][1])
        return list(values)


def relevant_pids(gold: Gold, resolved: ResolvedGold) -> list[str]:
    """Pids of all passages of the gold, each once, in the order of the parts.

    The gold of an unanswerable question is not resolved; its bare pids are taken as they are.
    """
    pids = [g.passage.pid for part in resolved.parts for a in part for g in a.passages]
    if not gold.answerable and not pids:
        pids = [a.pid for part in gold.parts for a in part.alternatives if a.pid]
    return list(dict.fromkeys(pids))


def _computed(
    library: Any, names: Mapping[Any, str], qrels: dict[str, Any], run: dict[str, Any]
) -> Iterator[Any]:
    if qrels and names:
        yield from library.iter_calc(list(names), qrels, run)


def _unranked(
    request: JudgeRequest, ranking: Sequence[str], relevant: Sequence[str]
) -> Measured | None:
    if not relevant:
        return None, "no gold to look for"
    return None if ranking else never_ranked(request.trace)


def _where(ranking: Sequence[str], relevant: Sequence[str]) -> str:
    wanted = set(relevant)
    ranks = [str(rank) for rank, pid in enumerate(ranking, 1) if pid in wanted]
    if not ranks:
        return f"no gold among {len(ranking)} passages"
    return f"gold at rank {', '.join(ranks)} of {len(ranking)}"
