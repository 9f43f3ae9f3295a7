"""Chunkers on XQuAD's articles, rewriters on MTRAG-UN's conversations and on HotpotQA.

    python benchmarks/upstream/compare.py --data DIR [--only chunkers conversations parts]
        [--model] [--limit N]

``DIR`` holds ``xquad``, ``mtrag_un`` and ``hotpotqa_100`` in the format of ``dataset=jsonl``.
Every figure is a mean of verdicts, or an effect, of a bundle that ``ragablate run`` leaves; the
commands are printed. The small model (SmolLM2-135M) that rewrites is far too small for the task:
what it shows is that the seam works, and what a bad rewriter costs.

XQuAD's paragraphs are joined to the articles they were taken from, and the answers' offsets
moved with them. Nothing else is changed.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent
LANGUAGES = ("en", "de", "zh", "ar")
CHUNKERS = ("sentence", "section", "recursive", "parent", "contextual")
NAME = re.compile(r"[A-Z][\w.'’-]*(?: (?:of|the|de|and|von) (?=[A-Z])| (?=[A-Z])[\w.'’-]*)*")


def names(question: str, history: object) -> list[str]:
    """The question, and apart from it every name in it: a decomposition without a model."""
    found = [name.strip(" .'’") for name in NAME.findall(question)]
    kept = [name for name in found if len(name) > 3 and not question.startswith(name)]
    return [question, *dict.fromkeys(kept)]


def main() -> int:
    args = arguments()
    parts = {"chunkers": chunkers, "conversations": conversations, "parts": multi_part}
    with TemporaryDirectory() as scratch:
        for name in args.only or parts:
            print(f"== {name}\n")
            parts[name](args, Path(scratch))
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--model", action="store_true", help="also rewrite by SmolLM2: slow")
    parser.add_argument("--limit", type=int, default=40, help="questions a model rewrites")
    parser.add_argument("--only", nargs="*", help="chunkers, conversations, parts")
    return parser.parse_args()


def chunkers(args: argparse.Namespace, scratch: Path) -> None:
    for language in LANGUAGES:
        folder = articles(args.data / "xquad", language, scratch / f"xquad-{language}")
        bundle = run(
            scratch,
            "dataset=jsonl",
            f"dataset.path={folder}",
            "dataset.unit=documents",
            "chunker=fixed",
            f"retriever.analyzer.language={language}",
            "experiment=[swap_chunker,oracle_context]",
            f"experiment.swap_chunker.treatments=[{','.join(CHUNKERS)}]",
            "experiment.swap_chunker.measure=evidence_in_context",
            "assembler.budget_tokens=600",
        )
        print(f"{'arm':<22} passages  resolved  two-passage  evidence in context (600 tokens)")
        for arm in bundle["plan"]["arms"]:
            if not arm["name"].startswith("context"):
                print(chunker_row(bundle, arm))
        print_effects(bundle)


def articles(source: Path, language: str, folder: Path) -> Path:
    """XQuAD's paragraphs joined to articles, gold as spans of answers in them."""
    folder.mkdir(parents=True)
    documents: dict[int, dict[str, str]] = {}
    places: dict[str, tuple[str, int]] = {}
    for row in rows(source / f"corpus.{language}.jsonl"):
        article = row["meta"]["article"]
        whole = documents.setdefault(
            article, {"id": f"{language}-{article:02d}", "title": row["title"], "text": ""}
        )
        whole["text"] += "\n\n" if whole["text"] else ""
        places[row["id"]] = (whole["id"], len(whole["text"]))
        whole["text"] += row["text"]
    questions = []
    for row in rows(source / f"questions.{language}.jsonl"):
        document, offset = places[row["gold_ids"][0]]
        spans = [
            {"doc_id": document, "start": offset + start, "end": offset + start + len(answer)}
            for start, answer in zip(row["answer_start"], row["answers"], strict=True)
        ]
        kept = {key: row[key] for key in ("id", "question", "answers")}
        questions.append({**kept, "gold": [spans]})
    write(folder / "corpus.jsonl", documents.values())
    write(folder / "questions.jsonl", questions)
    return folder


def chunker_row(bundle: Mapping[str, Any], arm: Mapping[str, Any]) -> str:
    corpus, name = arm["corpus"], arm["name"]
    control = bundle["plan"]["arms"][0]["corpus"]["digest"]
    golds = [
        q["resolved"] if corpus["digest"] == control else q["elsewhere"][corpus["digest"]]
        for q in bundle["questions"]
    ]
    indexed = [
        bool(g["parts"])
        and all(any(all(p["indexed"] for p in a["passages"]) for a in part) for part in g["parts"])
        for g in golds
    ]
    straddling = sum(
        any(min(len(a["passages"]) for a in part) > 1 for part in g["parts"]) for g in golds
    )
    shown = mean(bundle, name, "evidence_in_context")
    share = f"{sum(indexed)}/{len(golds)}"
    return f"{name:<22} {corpus['passages']:>8} {share:>9} {straddling:>12}  {shown:.4f}"


def conversations(args: argparse.Namespace, scratch: Path) -> None:
    levels = ["last_turn_concat"]
    if args.model:
        both = "['rewriter=standalone','rewriter.keep_question=true']"
        levels += ["standalone", f"{{standalone_and_question: {both}}}"]
    folder = scratch / "mtrag"
    folder.mkdir()
    write(folder / "corpus.jsonl", rows(args.data / "mtrag_un" / "corpus.jsonl"))
    asked = [r for r in rows(args.data / "mtrag_un" / "questions.jsonl") if r["answerable"]]
    followed = [{k: v for k, v in r.items() if k != "slices"} for r in asked if r["history"]]
    write(folder / "questions.jsonl", followed)
    bundle = run(
        scratch,
        "dataset=jsonl",
        f"dataset.path={folder}",
        "dataset.gold_rule=any",
        "experiment=swap_rewriter",
        f"experiment.swap_rewriter.treatments=[{','.join(levels)}]",
        "experiment.swap_rewriter.measure=evidence_in_context",
        *([f"limit={args.limit}"] if args.model else []),
    )
    report(bundle, "recall@10", "evidence_in_context")


def multi_part(args: argparse.Namespace, scratch: Path) -> None:
    levels = ["{names: ['rewriter=function','rewriter.function=\"compare:names\"']}"]
    if args.model:
        levels += ["decompose", "hyde"]
    bundle = run(
        scratch,
        "dataset=jsonl",
        f"dataset.path={args.data / 'hotpotqa_100'}",
        "experiment=swap_rewriter",
        f"experiment.swap_rewriter.treatments=[{','.join(levels)}]",
        "experiment.swap_rewriter.measure=evidence_in_context",
        "assembler.budget_tokens=600",
        *([f"limit={args.limit}"] if args.model else []),
    )
    report(bundle, "evidence_in_context", "evidence_in_context_partial")


def run(scratch: Path, *overrides: str) -> dict[str, Any]:
    """One study by the command line; its bundle as plain values."""
    outputs = scratch / "outputs"
    line = [*overrides, f"outputs={outputs}", "json=true"]
    shown = shlex.join(["ragablate", "run", *overrides]).replace(str(scratch), "SCRATCH")
    print(f"$ {re.sub(r'dataset.path=/[^ ]*/', 'dataset.path=DIR/', shown)}\n", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "ragablate.cli", "run", *line],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=HERE,
    )
    folder = Path(json.loads(done.stdout)["folder"])
    arms = {}
    for verdicts in sorted((folder / "arms").glob("*/verdicts.jsonl")):
        first = json.loads((verdicts.parent / "traces.jsonl").open(encoding="utf-8").readline())
        arms[first["arm"]] = list(rows(verdicts))
    return {
        "plan": json.loads((folder / "plan.json").read_text(encoding="utf-8")),
        "effects": json.loads((folder / "effects.json").read_text(encoding="utf-8")),
        "questions": list(rows(folder / "questions.jsonl")),
        "arms": arms,
    }


def report(bundle: Mapping[str, Any], *measures: str) -> None:
    print(f"{'arm':<34}" + "".join(f"{measure:>30}" for measure in measures))
    for arm in bundle["arms"]:
        values = [f"{mean(bundle, arm, measure):.4f}" for measure in measures]
        print(f"{arm:<34}" + "".join(f"{value:>30}" for value in values))
    print_effects(bundle)


def print_effects(bundle: Mapping[str, Any]) -> None:
    print()
    for sentence in sentences(bundle["effects"]):
        print(f"* {sentence}")
    print(flush=True)


def sentences(effects: Mapping[str, Any]) -> Iterator[str]:
    for conclusion in effects["conclusions"]:
        yield f"{conclusion['contrast']}: {conclusion['sentences'][0]}"


def mean(bundle: Mapping[str, Any], arm: str, measure: str) -> float:
    values = [
        v["value"]
        for v in bundle["arms"][arm]
        if v["measure"] == measure and v["value"] is not None
    ]
    return math.fsum(values) / len(values)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def write(path: Path, records: Iterable[Mapping[str, Any]] | Sequence[Mapping[str, Any]]) -> None:
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
