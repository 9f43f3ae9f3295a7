"""How long a full comparison takes, and how its memory grows.

    python benchmarks/comparison.py

Ten arms, eight measures and 5,000 questions in one process; then half the questions, for the
ratio of memory. Absolute seconds depend on the machine; the ratios say whether time and
memory are linear in questions.
"""

from __future__ import annotations

import random
import time
import tracemalloc

from ragablate.compare import compare
from ragablate.records import Contrast, Measure, Study

MEASURES = (
    Measure("correct", "read", "correct"),
    Measure("faithfulness", "read", "faithful"),
    Measure("abstained", "read", "abstained", None),
    Measure("contains", "read", "contains"),
    Measure("token_f1", "read", "token F1"),
    Measure("evidence_retrieved", "retrieve", "evidence retrieved"),
    Measure("evidence_in_context", "assemble", "evidence in context"),
    Measure("ndcg@10", "retrieve", "nDCG@10"),
)
FRACTIONAL = {"token_f1", "ndcg@10", "faithfulness"}


def study(questions: int, arms: int = 10, seed: int = 0) -> Study:
    """Arms that differ from control on about a fifth of the questions."""
    rng = random.Random(seed)
    qids = tuple(f"q{i:05d}" for i in range(questions))
    names = ["control", *(f"retriever=r{i}" for i in range(1, arms))]
    control = {m.name: {q: (_draw(rng, m.name),) for q in qids} for m in MEASURES}
    scores = {"control": control}
    for name in names[1:]:
        scores[name] = {
            m: {q: v if rng.random() > 0.2 else (_draw(rng, m),) for q, v in values.items()}
            for m, values in control.items()
        }
    contrasts = tuple(
        Contrast(
            f"swap/{n}", "swap", "?", "upstream", "retriever", n, "control", n, "correct", 0.05
        )
        for n in names[1:]
    )
    return Study(
        qids=qids,
        answerable=dict.fromkeys(qids, True),
        eval_gaps=frozenset(),
        clusters={q: q for q in qids},
        slices={q: {"type": "ab"[i % 2]} for i, q in enumerate(qids)},
        measures={m.name: m for m in MEASURES},
        scores=scores,
        errors={},
        contrasts=contrasts,
        proofs={},
        arms={n: n for n in names},
        reader="reader",
        top_k=10,
        seed=seed,
    )


def _draw(rng: random.Random, measure: str) -> float:
    return round(rng.random(), 4) if measure in FRACTIONAL else float(rng.random() < 0.5)


def main() -> None:
    """Print seconds for the full size, and the ratios of time and memory to half of it."""
    seconds, peaks = [], []
    for questions in (2_500, 5_000):
        made = study(questions)
        start = time.process_time()
        effects = len(compare(made).effects)
        seconds.append(time.process_time() - start)
        tracemalloc.start()
        compare(made)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    print(
        f"10 arms x 8 measures x 5,000 questions: {seconds[1]:.1f} CPU-seconds, {effects} effects"
    )
    print(f"twice the questions: {seconds[1] / seconds[0]:.2f} times the time")
    print(f"twice the questions: {peaks[1] / peaks[0]:.2f} times the memory")


if __name__ == "__main__":
    main()
