"""EX-26: a reader that samples, but says the same to the same prompt and seed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests_support import write_dataset

import ragablate
from ragablate.records import Proof

READER = """
import hashlib

def sample(question, passages, seed):
    drawn = int(hashlib.sha256(f"{question}/{seed}".encode()).hexdigest(), 16)
    text = " ".join(passages).split() or ["Varn"]
    return " ".join(text[drawn % len(text):][:6])
"""


@pytest.fixture
def plan(tmp_path: Path) -> Iterator[list[str]]:
    (tmp_path / "seeded_sampler.py").write_text(READER)
    sys.path.insert(0, str(tmp_path))
    data = write_dataset(tmp_path / "toy")
    yield [
        "dataset=jsonl", f"dataset.path={data}", f"outputs={tmp_path / 'outputs'}",
        "reader=function", "reader.function=seeded_sampler:sample", "reader.stochastic=true",
        "experiment=[oracle_context,placebo]", "judge=[correct,abstention]",
    ]  # fmt: skip
    sys.path.remove(str(tmp_path))
    sys.modules.pop("seeded_sampler", None)


def probe(outcome: ragablate.Outcome) -> Proof:
    proofs = outcome.bundle.proofs["oracle_context/oracle"]
    return next(p for p in proofs if p.invariant == "INV-9")


def said(outcome: ragablate.Outcome, arm: str) -> dict[tuple[str, int], str | None]:
    return {(t.qid, t.replicate): t.answer for t in outcome.bundle.traces[arm]}


def test_the_same_seed_gives_the_same_answers_and_a_new_replicate_others(
    plan: list[str], tmp_path: Path
) -> None:
    first = ragablate.run(*plan)
    shutil.rmtree(tmp_path / "outputs" / ".store")
    again = ragablate.run(*plan)
    assert again.calls == first.calls > 0
    assert again.bundle_id == first.bundle_id
    assert said(again, "control") == said(first, "control")

    control = {qid: text for (qid, _), text in said(first, "control").items()}
    anew = {qid: text for (qid, _), text in said(first, "placebo").items()}
    changed = sum(control[qid] != text for qid, text in anew.items())
    assert changed >= len(anew) - 2
    found = probe(first)
    assert found.status == "warn"
    assert f"asked again, {changed} of {len(anew)} answers changed on identical" in found.text
    assert "The reader samples: set its temperature to 0" in found.text
    assert first.bundle.plan["observed"]["readers"]["control"]["stochastic"] is True


def test_three_decodes_of_every_question_satisfy_the_probe(plan: list[str]) -> None:
    outcome = ragablate.run(*plan, "replicates=3")
    found = probe(outcome)
    assert found.status == "pass"
    assert "every question was decoded 3 times" in found.text
    decodes = said(outcome, "control")
    assert len({decodes["q1", number] for number in (1, 2, 3)}) > 1
    cache = next(
        p for p in outcome.bundle.proofs["oracle_context/oracle"] if p.invariant == "INV-10"
    )
    assert cache.status == "pass"
