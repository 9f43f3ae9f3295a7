"""What an execution watches itself doing: what no trace of a single question can show.

Everything here is asked at the end, once all arms have searched and before anything is
scored, and nothing here changes an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragablate.adapters import Pipeline
from ragablate.codec import decode, digest, encode
from ragablate.config import STAGES
from ragablate.dataset.digests import corpus_digest, question_digest, set_digest
from ragablate.leakage import Leakage, leakage
from ragablate.observed import Observed, ReaderFacts, SearchedAgain
from ragablate.pipeline import Upstream
from ragablate.prepared import Found, fused, texts, value
from ragablate.protocols import SearchRequest
from ragablate.reading import Reading, Settings
from ragablate.records import Context, Corpus, Dataset, Item, Prompt, Question, Ranking
from ragablate.seeds import derive
from ragablate.stages import Progress, Work, run
from ragablate.store import Store

SEARCHED_AGAIN = 20
"""Questions whose searches are asked again at the end."""
_BREAK = "·"

Identities = Mapping[str, Mapping[str, object]]


def identities(pipelines: Mapping[str, Pipeline]) -> dict[str, Identities]:
    """By arm and stage what identifies the files and functions behind the adapters.

    The reader is left out: a model is read once, and reading it again can take minutes.
    """
    known: dict[int, Mapping[str, object]] = {}

    def identity(adapter: Any) -> Mapping[str, object]:
        if id(adapter) not in known:
            known[id(adapter)] = dict(adapter.identity())
        return known[id(adapter)]

    return {
        arm: {
            stage: identity(pipeline[stage])
            for stage in STAGES
            if stage != "reader" and hasattr(pipeline[stage], "identity")
        }
        for arm, pipeline in pipelines.items()
    }


@dataclass(frozen=True, slots=True)
class Watch:
    """Looks at an execution that is about to be scored.

    Args:
        dataset: Questions, gold and what is searched.
        upstream: With every arm prepared.
        store: Where what is found is kept, so that the same plan finds the same again.
        progress: Told as results arrive.
    """

    dataset: Dataset
    upstream: Upstream
    store: Store
    progress: Progress

    def observed(
        self,
        pipelines: Mapping[str, Pipeline],
        wanted: Sequence[Reading],
        settings: Settings,
        before: Mapping[str, Identities],
    ) -> Observed:
        """Everything that is watched.

        Args:
            pipelines: By arm.
            wanted: Every decode of the plan.
            settings: Seed and replicates.
            before: What ``identities`` was when the plan was built.
        """
        corpora = {arm: self.upstream.corpus(p) for arm, p in pipelines.items()}
        control = next(iter(pipelines.values()))["reader"]
        # What a file holds was said before the choice, whatever the seed of this execution.
        recorded = bool(getattr(control, "recorded", False))
        found = self._leakage(list({c.digest: c for c in corpora.values()}.values()))
        return Observed(
            decoding_seed=settings.seed,
            readers={arm: reader_facts(p["reader"]) for arm, p in pipelines.items()},
            corpora_changed=tuple(a for a, corpus in corpora.items() if not _intact(corpus)),
            inputs_changed=_differing(before, identities(pipelines)),
            searched_again=self._searched_again(pipelines, settings.seed),
            leaked=found.leaked,
            too_short=found.too_short,
            not_shown=_not_shown(wanted),
            selected_by_failure=settings.selected_by_failure,
            fresh_control=settings.fresh_control and not recorded,
        )

    def _leakage(self, corpora: Sequence[Corpus]) -> Leakage:
        """Questions that any of the corpora gives away, looked for once a question set."""
        of = digest("leakage", [c.digest for c in corpora])
        shelf = self.store.shelf("leakage", of)
        key = set_digest(self.dataset)
        entry = shelf.entries.get(key)
        if entry is not None:
            return decode(entry.value, Leakage)
        passages = (p for corpus in corpora for p in corpus.passages)
        found = leakage(self.dataset.questions, self.dataset.gold, passages)
        shelf.put(key, encode(found))
        return found

    def _searched_again(
        self, pipelines: Mapping[str, Pipeline], seed: int
    ) -> dict[str, SearchedAgain]:
        """Some searches of every arm asked again past the store, and whether they agree.

        Repetitions are kept by the retrievals of the whole plan: another plan, which may
        search at another time, asks anew, and the same plan does not.
        """
        lineages = {arm: self.upstream.found(arm).lineage for arm in pipelines}
        together = digest("searched again", sorted(set(lineages.values())))
        some = _sample(self.dataset.questions, seed)
        by_lineage: dict[str, SearchedAgain] = {}
        for arm, pipeline in pipelines.items():
            lineage = lineages[arm]
            if lineage not in by_lineage:
                by_lineage[lineage] = self._again(
                    pipeline, self.upstream.found(arm), some, digest(together, lineage)
                )
        return {arm: by_lineage[lineage] for arm, lineage in lineages.items()}

    def _again(
        self, pipeline: Pipeline, found: Found, some: Sequence[Question], own: str
    ) -> SearchedAgain:
        asked = [q for q in some if found.candidates[q.qid].value is not None]
        requests = {
            f"{q.qid}#{number}:{question_digest(q)[:16]}": SearchRequest(
                f"{q.qid}#{number}", text, q
            )
            for q in asked
            for number, text in enumerate(texts(found.searches[q.qid]))
        }
        view = self.upstream.searched(self.upstream.corpus(pipeline))

        def call(batch: Sequence[Any]) -> Any:
            return pipeline["retriever"].retrieve(view.corpus, batch)

        work: Work[SearchRequest, Ranking] = Work("searched_again", own, Item[Ranking], call)
        items = run(work, requests, self.store, self.progress)
        ranked = {requests[key].id: view.passages(item) for key, item in items.items()}
        again = {q.qid: fused(q.qid, found.searches[q.qid], ranked) for q in asked}
        # A search that fails this time says nothing of the index.
        answered = sorted(qid for qid, item in again.items() if item.value is not None)
        differ = [qid for qid in answered if _pids(again[qid]) != _pids(found.candidates[qid])]
        return SearchedAgain(len(answered), tuple(differ))


def reader_facts(reader: Any) -> ReaderFacts:
    """What a reader says of itself."""
    return ReaderFacts(
        stochastic=bool(getattr(reader, "stochastic", False)),
        remote=bool(getattr(reader, "remote", False)),
    )


def _sample(questions: Sequence[Question], seed: int) -> list[Question]:
    shuffled = sorted(questions, key=lambda q: (derive(seed, "searched again", q.qid), q.qid))
    # As the retriever saw them: slices are for reporting, and no stage is shown them.
    return [replace(q, slices={}) for q in shuffled[:SEARCHED_AGAIN]]


def _pids(item: Item[Ranking]) -> list[str]:
    return [hit.pid for hit in value(item)]


def _intact(corpus: Corpus) -> bool:
    """Whether the passages, and the same passages by pid, are still those of the digest."""
    by_pid = corpus.by_pid
    same = all(by_pid.get(p.pid) is p for p in corpus.passages)
    return (
        same and len(by_pid) == len(corpus.passages)
        and corpus_digest(corpus.passages) == corpus.digest
    )  # fmt: skip


def _differing(
    before: Mapping[str, Identities], after: Mapping[str, Identities]
) -> dict[str, tuple[str, ...]]:
    found = {
        arm: tuple(stage for stage in stages if stages[stage] != after[arm].get(stage))
        for arm, stages in before.items()
    }
    return {arm: stages for arm, stages in found.items() if stages}


def _not_shown(wanted: Sequence[Reading]) -> dict[str, tuple[str, ...]]:
    """By arm the questions whose prompt lacks a part of some passage of its context."""
    found: dict[str, set[str]] = {}
    checked: dict[tuple[str, int], bool] = {}
    for reading in wanted:
        if reading.prompt is None:
            continue
        key = (reading.digest, id(reading.prepared))
        if key not in checked:
            checked[key] = _shows(reading.prompt, reading.prepared.context)
        if not checked[key]:
            found.setdefault(reading.arm, set()).add(reading.prompt.qid)
    return {arm: tuple(sorted(qids)) for arm, qids in found.items()}


def _shows(prompt: Prompt, context: Context) -> bool:
    """Whether each passage's own text stands in the segments that carry its pid."""
    shown: dict[str, str] = {}
    for segment in prompt.segments:
        if segment.pid:
            shown[segment.pid] = shown.get(segment.pid, "") + segment.text
    return all(
        p.body in shown.get(p.pid, "") or _plain(p.body) in _plain(shown.get(p.pid, ""))
        for p in context.passages
    )


def _plain(text: str) -> str:
    """Without white space and the marks that keep a passage from closing its delimiter."""
    return "".join(text.replace(_BREAK, "").split())
