"""Old versions that rank above the new ones, and the two rerankers that mend it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragablate import session
from ragablate.config import composing

TOPICS = (
    "refunds", "parcels", "invoices", "vouchers", "returns", "repairs", "trials", "upgrades",
    "transfers", "bookings", "deposits", "licences",
)  # fmt: skip


def write(folder: Path) -> Path:
    folder.mkdir()
    corpus, questions = [], []
    for i, topic in enumerate(TOPICS):
        said = "How long {t} take: {t} take at most {n} days, counted from the day of the request."
        for version, days, date, status in (
            ("old", 30 + i, "2023-02-01", "superseded"),
            ("new", 10 + i, "2026-02-01", "current"),
        ):
            text = said.format(t=topic, n=days) + (f" See {topic}." if version == "old" else "")
            meta = {"updated_at": date, "status": status}
            corpus.append({"id": f"{topic}-{version}", "text": text, "meta": meta})
        asked = f"How many days do {topic} take at most?"
        gold = {"answers": [f"{10 + i} days"], "gold_ids": [f"{topic}-new"]}
        questions.append({"id": topic, "question": asked, **gold})
    for name, rows in (("corpus", corpus), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return folder


@pytest.mark.parametrize("reranker", ["dedupe_versions", "status"])
def test_superseded_passages_are_found_to_be_the_reranker_s_to_mend(
    tmp_path: Path, reranker: str
) -> None:
    folder = write(tmp_path / "data")
    with composing():
        outcome = session.run(
            [
                "dataset=jsonl", f"dataset.path={folder}", f"outputs={tmp_path / 'outputs'}",
                "reranker.top_k=1", "experiment=swap_reranker",
                f"experiment.swap_reranker.treatments=[{reranker}]",
            ]
        )  # fmt: skip
    effects = {e.measure: e for e in outcome.comparison.effects if e.population == "answerable"}
    assert effects["evidence_in_context"].state == "up"
    assert effects["evidence_in_context"].control_mean == 0.0
    assert effects["evidence_in_context"].treatment_mean == 1.0
    assert effects["correct"].state == "up"
    (conclusion,) = outcome.comparison.conclusions
    assert conclusion.verdict == "reranker improves answers"
    assert not [
        p for proofs in outcome.bundle.proofs.values() for p in proofs if p.status == "fail"
    ]
