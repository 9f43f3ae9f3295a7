"""A pipeline whose every stage does what a world's draws say, and adapters that misbehave.

The data set is written once a set of draws; retriever and reader are told by its file
``script.json`` what happens to each question. Which passages a reader is shown, what it
says and how it is judged is all the product's own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from validation.worlds import Draws

from ragablate.protocols import SearchRequest
from ragablate.read.evidence import show, shown
from ragablate.records import (
    Answer,
    Context,
    Corpus,
    Hit,
    Item,
    Prompt,
    Question,
    Ranking,
    ReadRequest,
)

HERE = Path(__file__).parent
SHOWN = 4
"""Passages that fit into the context."""
SEARCHPATH = f"hydra.searchpath=[file://{HERE / 'conf'}]"


def word(number: int) -> str:
    """What a question asks for."""
    return f"vexor{number}"


def fact(number: int) -> str:
    """The gold passage of a question."""
    return f"Item {number} is kept under the word {word(number)}."


def write(folder: Path, draws: Draws, seed: int = 0) -> Path:
    """A data set on which scripted adapters realise the draws."""
    folder.mkdir(parents=True, exist_ok=True)
    n, rng = len(draws), np.random.default_rng(seed)
    corpus = [{"id": f"g{i}", "title": "", "text": fact(i)} for i in range(n)]
    corpus += [
        {"id": f"x{i}", "title": "", "text": f"Shelf {i} holds nothing of note."}
        for i in range(2 * SHOWN)
    ]
    questions, script = [], {}
    for i in range(n):
        reference = f"misprint{i}" if draws.mislabelled[i] else word(i)
        asked = f"Under which word is item {i} kept?"
        questions.append(
            {"id": f"q{i:03d}", "question": asked, "answers": [reference], "gold_ids": [f"g{i}"]}
        )
        ranking = [f"x{j}" for j in rng.permutation(2 * SHOWN)]
        if draws.retrieved[i]:
            place = SHOWN + 1 if draws.evicted[i] else int(rng.integers(1, SHOWN))
            ranking.insert(place, f"g{i}")
        script[f"q{i:03d}"] = {
            "number": i,
            "ranking": ranking,
            "able": bool(draws.able[i]),
            "mislabelled": bool(draws.mislabelled[i]),
            "distracted": bool(draws.distracted[i]),
            "known": bool(draws.known[i]),
        }
    for name, rows in (("corpus", corpus), ("questions", questions)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
    return folder


def overrides(folder: Path, *more: str) -> list[str]:
    """Control on a written data set: scripted retriever and reader, the rest as shipped."""
    return [
        SEARCHPATH,
        "dataset=jsonl",
        f"dataset.path={folder}",
        f"outputs={folder.parent / 'outputs'}",
        "retriever=scripted",
        f"retriever.script={folder / 'script.json'}",
        "reader=scripted",
        f"reader.script={folder / 'script.json'}",
        "assembler.budget_tokens=null",
        f"assembler.max_passages={SHOWN}",
        *more,
    ]


class Scripted:
    """What an adapter is told of every question.

    Args:
        script: Path of the file.
        fault: Which misbehaviour to show; empty for none.
    """

    def __init__(self, script: str, fault: str = "") -> None:
        self.script = script
        self.fault = fault

    def identity(self) -> dict[str, object]:
        """The file by its digest."""
        return {"script": hashlib.sha256(Path(self.script).read_bytes()).hexdigest()}

    @cached_property
    def questions(self) -> Mapping[str, Mapping[str, Any]]:
        """By qid."""
        found: Mapping[str, Mapping[str, Any]] = json.loads(Path(self.script).read_text("utf-8"))
        return found


class Retriever(Scripted):
    """Finds what the script says.

    Of the faults, ``better`` finds all gold and ``idle`` is another retriever with the same
    rankings. An index that is ``moving`` is replaced after its first use, one that is
    ``writing`` edits the corpus.
    """

    calls = 0

    def __init__(self, script: str, fault: str = "", index: str = "") -> None:
        super().__init__(script, fault)
        self.index = index

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        Retriever.calls += 1
        for request in requests:
            told = self.questions[request.question.qid]
            pids = [pid for pid in told["ranking"] if pid in corpus.by_pid]
            if self.fault == "better":
                gold = f"g{told['number']}"
                pids = [gold, *(pid for pid in pids if pid != gold)]
            if self.index == "moving" and Retriever.calls > 1:
                pids = pids[::-1]
            if self.index == "writing":
                corpus.by_pid[pids[0]] = corpus.by_pid[pids[1]]
            hits = tuple(Hit(pid, float(-place)) for place, pid in enumerate(pids))
            yield Item(request.id, hits)


class Reader(Scripted):
    """Says what the script makes it say, given what it is shown.

    With the gold alone it is right where it is able, with the gold among others where it is
    also not distracted, without the gold where it knows. Among others, a reader that is
    ``waning`` gets its last decodes of a prompt wrong, one that is ``waking`` its first: the
    same answers, in the opposite order of each three decodes.
    """

    def prompt(self, question: Question, context: Context) -> Prompt:
        """Instruction, numbered passages, question."""
        return show(question, context, "Answer from the passages.")

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """One answer a request."""
        for request in requests:
            yield Item(request.id, self.answer(request))

    def answer(self, request: ReadRequest) -> Answer:
        """What is said to one request."""
        told = self.questions[request.prompt.qid]
        bodies = [p.body for p in shown(request.prompt)]
        turn = (request.replicate - 1) % 3 + 1
        place = {"waning": turn, "waking": 4 - turn}.get(self.fault, 0)
        if len(bodies) > 1 and place > 1 + told["number"] % 3:
            told = {**told, "able": False, "known": False}
        return Answer(self.said(told, bodies))

    def said(self, told: Mapping[str, Any], bodies: Sequence[str]) -> str:
        """A sentence of the gold passage, or one that stands nowhere."""
        number = told["number"]
        has_gold = fact(number) in bodies
        if told["mislabelled"] and has_gold:
            return fact(number)
        if not has_gold:
            right = told["known"]
        else:
            right = told["able"] and (len(bodies) == 1 or not told["distracted"])
        return fact(number) if right else f"The word must be wrongly{number}."
