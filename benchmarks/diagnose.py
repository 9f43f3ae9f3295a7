"""How long ``ragablate diagnose`` takes over a large log, and how much memory.

    python benchmarks/diagnose.py [--lines 100000] [--size 2000] [--seed 0] [--log FILE]

It writes a seeded log of a production pipeline (rankings of ten passages with scores, what was
shown, answers with citation markers, gold and verdicts), diagnoses it in a process of its own and
prints seconds, processor seconds and peak memory. ``--log`` keeps the log.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

DEPTH, SHOWN = 10, 5
TEXT = (
    "leave policy parental weeks benefit employee handbook contract notice period manager "
    "claim travel expense report approval annual holiday sick pay scheme pension remote"
)


def main() -> int:
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        log = args.log or Path(folder) / "log.jsonl"
        write(log, args.lines, args.size, args.seed)
        size = log.stat().st_size
        print(f"{args.lines:,} lines of {size / args.lines / 1000:.2f} kB, {size / 1e6:.0f} MB")
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "ragablate.cli", "diagnose", str(log), "--json"],
            stdout=subprocess.PIPE,
            check=False,
        )
        seconds = time.perf_counter() - started
    if done.returncode:
        return done.returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(done.stdout)["diagnosis"]
    print(f"{found['questions']:,} questions, {found['ok']:,} OK")
    print(f"{seconds:.1f} s, {used.ru_utime + used.ru_stime:.1f} processor seconds")
    print(f"peak memory {used.ru_maxrss / 1000:.0f} MB")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=2_000, help="bytes of a line, about")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, help="where the log is kept")
    return parser.parse_args()


def write(path: Path, lines: int, size: int, seed: int) -> None:
    """A log whose failures surface in every stage."""
    chance = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            file.write(json.dumps(row(number, chance, size)) + "\n")


def row(number: int, chance: random.Random, size: int) -> dict[str, Any]:
    """One answered question."""
    pids = [f"doc{chance.randrange(50_000)}:{chance.randrange(9)}" for _ in range(DEPTH)]
    gold = chance.choice([pids[0], pids[2], pids[8], "doc-lost:1"])
    length = max(4, (size - 900) // (DEPTH * 7))
    return {
        "qid": f"q{number:06d}",
        "question": f"What of {said(chance, 6)}?",
        "retrieved": [
            {
                "pid": pid,
                "score": round(9 - rank / 7, 4),
                "section": "s",
                "text": said(chance, length),
            }
            for rank, pid in enumerate(pids)
        ],
        "prompt_pids": pids[:SHOWN],
        "answer": answer(chance),
        "model": "m-8b",
        "prompt_version": "7",
        "timestamp": "2026-01-01T00:00:00Z",
        "gold_pids": [gold],
        "slices": {"topic": chance.choice(["leave", "travel", "pension"])},
        "verdicts": {
            "correct": float(chance.random() < 0.7),
            "faithfulness": round(chance.random(), 2),
        },
    }


def answer(chance: random.Random) -> str:
    kind = chance.randrange(6)
    if not kind:
        return "Not covered by the provided documents."
    marker = f" [{chance.randint(1, SHOWN + (kind == 1))}]" if kind < 5 else ""
    return f"It is {chance.randrange(90)} {said(chance, 12)}{marker}."


def said(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(TEXT.split(), k=words))


if __name__ == "__main__":
    sys.exit(main())
