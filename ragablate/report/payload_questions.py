"""One question as the page shows it: its gold, and what every arm did with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ragablate.bundle.read import Bundle
from ragablate.codec import decode
from ragablate.compare.scores import FAITHFULNESS
from ragablate.judge.abstention_by_evidence import FITS
from ragablate.judge.distractor import WRONG_PASSAGE
from ragablate.records import ContextPassage, Prompt, Verdict
from ragablate.report.saying import Said, said
from ragablate.traces import QuestionLine, TraceLine

_WORTH_SHARING = 40
"""Characters from which a text of a prompt's frame is stored once for all questions."""

Pieces = list[str | int]
"""A text in stretches: literal ones, and numbers of shared texts."""


class Texts:
    """Texts that occur again and again, numbered in the order in which they are met."""

    def __init__(self) -> None:
        self.total = 0
        self._numbers: dict[str, int] = {}
        self._new: list[str] = []

    def number(self, text: str) -> int:
        """The number of a text."""
        if text not in self._numbers:
            self._numbers[text] = self.total
            self._new.append(text)
            self.total += 1
        return self._numbers[text]

    def around(self, text: str, body: str) -> Pieces:
        """A text that holds ``body``, which is shared."""
        start = text.find(body) if body else -1
        if start < 0:
            return [self.number(text) if len(text) >= _WORTH_SHARING else text] if text else []
        pieces: Pieces = [text[:start], self.number(body), text[start + len(body) :]]
        return [piece for piece in pieces if piece != ""]

    def taken(self) -> list[str]:
        """The texts met since this was last asked."""
        new, self._new = self._new, []
        return new


class Table:
    """What several arms have alike, once: contexts, prompts, answers."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._places: dict[Any, int] = {}

    def place(self, key: Any, make: Any) -> int:
        """The place of what ``key`` stands for, made when it is first asked for."""
        if key not in self._places:
            self._places[key] = len(self.rows)
            self.rows.append(make())
        return self._places[key]


class Questions:
    """The questions of a bundle, each as plain values.

    Args:
        bundle: The bundle.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.texts = Texts()
        self._measures = [m["name"] for m in bundle.plan["measures"]]
        self._prompts = dict(_prompts(bundle))
        self._lines = {arm: _by_question(traces) for arm, traces in bundle.traces.items()}
        self._verdicts = {
            arm: _by_answer(verdicts) for arm, verdicts in bundle.verdicts.items()
        }  # fmt: skip

    def row(self, qid: str) -> dict[str, Any]:
        """Everything about one question."""
        question = self.bundle.questions[qid]
        gold = list(_gold_pids(question))
        tables = {name: Table() for name in ("contexts", "prompts", "answers", "rankings")}
        arms = [
            [self._decode(arm, line, gold, tables) for line in self._lines[arm].get(qid, ())]
            for arm in self.bundle.arms
        ]
        history = next((t.history for a in self._lines.values() for t in a.get(qid, ())), ())
        return {
            "references": list(question.gold.answers),
            "parts": [[self._alternative(a) for a in part] for part in question.resolved.parts],
            "gold": gold,
            "history": [[turn.speaker, turn.text] for turn in history],
            "arms": arms,
            **{name: table.rows for name, table in tables.items()},
        }

    def _alternative(self, alternative: Any) -> dict[str, Any]:
        return {
            "any": alternative.any_of,
            "passages": [
                {
                    "pid": g.passage.pid,
                    "text": self.texts.around(g.passage.text, g.passage.body),
                    "evidence": list(g.evidence),
                    "indexed": g.indexed,
                }
                for g in alternative.passages
            ],
        }

    def _decode(
        self, arm: str, line: TraceLine, gold: Sequence[str], tables: Mapping[str, Table]
    ) -> dict[str, Any]:
        verdicts = self._verdicts.get(arm, {}).get((line.qid, line.replicate), {})
        stored = self.bundle.contexts.get(line.context_digest)
        passages = stored.passages if stored is not None else ()
        fits = verdicts.get(FITS)
        row = {
            "replicate": line.replicate,
            "searches": [] if line.searches == (line.question,) else list(line.searches),
            "ranking": tables["rankings"].place(
                tuple(hit.pid for hit in line.retrieved),
                lambda: [hit.pid for hit in line.retrieved],
            ),
            "context": tables["contexts"].place(
                line.context_digest, lambda: [self._passage(p) for p in passages]
            ),
            "evicted": [[e.pid, e.reason] for e in line.evicted],
            "found": [_rank(line, pid) for pid in gold],
            "gate": [line.gate.outcome, line.gate.reason] if line.gate is not None else None,
            "abstained": line.abstained,
            "finish": line.finish_reason,
            "model": line.model,
            "error": [line.error.kind, line.error.message] if line.error is not None else None,
            "fits": fits.reason if fits is not None and fits.value is not None else "",
            "astray": _astray(verdicts.get(WRONG_PASSAGE)),
            "verdicts": [_verdict(verdicts.get(name)) for name in self._measures],
        }
        if line.answer is not None:
            row["answer"] = tables["answers"].place(
                (line.context_digest, line.answer),
                lambda: self._answer(line, passages, verdicts.get(FAITHFULNESS)),
            )
        prompt = self._prompts.get(line.prompt_digest)
        if prompt is not None:
            row["prompt"] = tables["prompts"].place(
                line.prompt_digest, lambda: self._prompt(prompt, passages)
            )
        return row

    def _passage(self, passage: ContextPassage) -> list[Any]:
        text = self.texts.around(passage.text, passage.body)
        return [passage.pid, text, passage.truncated, passage.tokens]

    def _answer(
        self, line: TraceLine, passages: Sequence[ContextPassage], verdict: Verdict | None
    ) -> list[Any]:
        pids = [*line.prompt_pids, *(hit.pid for hit in line.retrieved)]
        known = list(dict.fromkeys(pids))
        # A declined answer was not judged, so its sentences are no claims.
        judged = None if line.abstained else verdict
        return [_said(each) for each in said(line.answer or "", passages, known, judged)]

    def _prompt(self, prompt: Prompt, passages: Sequence[ContextPassage]) -> list[Any]:
        bodies = {passage.pid: passage.body for passage in passages}
        return [
            [s.role, s.pid, self.texts.around(s.text, bodies.get(s.pid, ""))]
            for s in prompt.segments
        ]


def _said(each: Said) -> list[Any]:
    pieces = [p if isinstance(p, str) else [p[0], list(p[1])] for p in each.pieces]
    return [pieces, [[c.status, c.pid, c.text, c.quote] for c in each.claims]]


def _astray(verdict: Verdict | None) -> list[str]:
    """The passages without gold that a wrong answer was taken from."""
    return [] if verdict is None else list(dict.fromkeys(c.pid for c in verdict.claims))


def _verdict(verdict: Verdict | None) -> list[Any] | None:
    return None if verdict is None else [verdict.value, verdict.reason]


def _rank(line: TraceLine, pid: str) -> list[int]:
    """Rank of a passage among the candidates and in the ranking, 0 where it is in neither."""
    candidate = next((i for i, hit in enumerate(line.candidates, 1) if hit.pid == pid), 0)
    retrieved = next((hit.rank for hit in line.retrieved if hit.pid == pid), 0)
    return [candidate, retrieved]


def _gold_pids(question: QuestionLine) -> Iterator[str]:
    golds = (question.resolved, *question.elsewhere.values())
    parts = (part for gold in golds for part in gold.parts)
    return iter(dict.fromkeys(g.passage.pid for part in parts for a in part for g in a.passages))


def _by_question(traces: Sequence[TraceLine]) -> dict[str, list[TraceLine]]:
    found: dict[str, list[TraceLine]] = {}
    for line in sorted(traces, key=lambda line: line.replicate):
        found.setdefault(line.qid, []).append(line)
    return found


def _by_answer(verdicts: Sequence[Verdict]) -> dict[tuple[str, int], dict[str, Verdict]]:
    found: dict[tuple[str, int], dict[str, Verdict]] = {}
    for verdict in verdicts:
        found.setdefault((verdict.qid, verdict.replicate), {})[verdict.measure] = verdict
    return found


def _prompts(bundle: Bundle) -> Iterator[tuple[str, Prompt]]:
    path = bundle.folder / "prompts.jsonl"
    if not path.is_file():
        return
    with path.open("rb") as lines:
        for line in lines:
            row = decode(line, dict)
            yield str(row.pop("digest", "")), msgspec.convert(row, Prompt)
