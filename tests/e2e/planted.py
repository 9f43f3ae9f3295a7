"""Readers that find an item's word if it is shown, and a data set to plant effects in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

_SHOWN = 3


def strict(question: str, passages: Sequence[str]) -> str:
    """Misled by any decoy."""
    if any("decoy" in passage for passage in passages):
        return "something else"
    return robust(question, passages)


def robust(question: str, passages: Sequence[str]) -> str:
    """Misled by nothing."""
    item = question.rstrip("?").split()[-1]
    sought = f"word of item {item} is vexor{item}."
    return f"vexor{item}" if any(sought in passage for passage in passages) else "something else"


def write(folder: Path, groups: Mapping[str, int], unanswerable: int = 0) -> Path:
    """A data set with two rankings, ``old.run`` and ``new.run``.

    Args:
        folder: Where to.
        groups: How many questions of each kind, which is four digits: whether the old ranking
            holds the gold and a decoy, and whether the new one does.
        unanswerable: Questions without an answer.
    """
    kinds = [kind for kind, times in groups.items() for _ in range(times)]
    kinds += ["0000"] * unanswerable
    answerable = len(kinds) - unanswerable
    corpus = [(f"f{j}", f"Filler number {j} is about nothing.") for j in range(2 * _SHOWN)]
    questions, runs = [], {"old": list[str](), "new": list[str]()}
    for i, kind in enumerate(kinds):
        corpus.append((f"d{i}", f"A decoy, which is about item {i}."))
        if i < answerable:
            corpus.append((f"g{i}", f"The word of item {i} is vexor{i}."))
        asked = {"id": f"q{i:03d}", "question": f"What is the word of item {i}?"}
        gold = {"answers": [f"vexor{i}"], "gold_ids": [f"g{i}"]}
        questions.append({**asked, **(gold if i < answerable else {"answerable": False})})
        for place, name in enumerate(runs):
            has_gold, has_decoy = kind[2 * place] == "1", kind[2 * place + 1] == "1"
            # The new ranking has other fillers, so that every context is a new one.
            pids = [f"d{i}"] * has_decoy + [f"g{i}"] * has_gold
            pids += [f"f{j + place * _SHOWN}" for j in range(_SHOWN)]
            runs[name] += [
                f"q{i:03d} Q0 {pid} {rank} {1 / rank} {name}" for rank, pid in enumerate(pids, 1)
            ]
    texts = {
        "corpus.jsonl": [json.dumps({"id": pid, "title": "", "text": t}) for pid, t in corpus],
        "questions.jsonl": list(map(json.dumps, questions)),
        **{f"{name}.run": lines for name, lines in runs.items()},
        **_options(folder),
    }
    for name, lines in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def _options(folder: Path) -> dict[str, list[str]]:
    """The two rankings and the two readers, as options of their groups."""
    conf = Path(__file__).parents[2] / "conf"
    run = (conf / "retriever" / "run_file.yaml").read_text(encoding="utf-8")
    reader = (conf / "reader" / "function.yaml").read_text(encoding="utf-8")
    found = {
        f"conf/retriever/{name}.yaml": run.replace("path: ???", f"path: {folder / name}.run")
        for name in ("old", "new")
    }
    found |= {
        f"conf/reader/{name}.yaml": reader.replace("function: ???", f"function: planted:{name}")
        for name in ("strict", "robust")
    }
    return {name: text.splitlines() for name, text in found.items()}


def overrides(folder: Path, *more: str) -> list[str]:
    """Control on a planted data set: the old ranking and the strict reader."""
    return [
        f"hydra.searchpath=[file://{folder / 'conf'}]",
        "dataset=jsonl",
        f"dataset.path={folder}",
        f"outputs={folder.parent / 'outputs'}",
        "retriever=old",
        "assembler.budget_tokens=null",
        "reader=strict",
        *more,
    ]


def both(question: str, passages: Sequence[str]) -> str:
    """Right with two passages of an item, and with fewer not."""
    item = question.rstrip("?").split()[-1]
    halves = [f"half {half} of item {item}." for half in "ab"]
    shown = [any(half in passage for passage in passages) for half in halves]
    return f"vexor{item}" if all(shown) else "something else"


def write_halves(folder: Path, questions: int) -> list[str]:
    """Questions that need two passages, of which one is cut from the context and one not found.

    Returns:
        Overrides that run on them.
    """
    folder.mkdir(parents=True)
    corpus, asked, run = [], [], []
    for i in range(questions):
        corpus += [
            (
                f"{name}{i}",
                f"Filler {name} of item {i}, which says nothing of use to anybody at all.",
            )
            for name in "xy"
        ]
        corpus += [(f"{half}{i}", f"This is half {half} of item {i}.") for half in "ab"]
        gold = {"answers": [f"vexor{i}"], "gold_ids": [f"a{i}", f"b{i}"]}
        asked.append({"id": f"q{i:03d}", "question": f"What is the word of item {i}?", **gold})
        run += [f"q{i:03d} Q0 {pid}{i} {n} {4 - n} r" for n, pid in enumerate("xya", 1)]
    texts = {
        "corpus.jsonl": [json.dumps({"id": pid, "title": "", "text": t}) for pid, t in corpus],
        "questions.jsonl": list(map(json.dumps, asked)),
        "r.run": run,
    }
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [
        "dataset=jsonl",
        f"dataset.path={folder}",
        f"outputs={folder.parent / 'outputs'}",
        "retriever=run_file",
        f"retriever.path={folder / 'r.run'}",
        "assembler.budget_tokens=34",
        "reader=function",
        "reader.function=planted:both",
    ]
