"""An approximate search through the runner: its recall on the run's questions is said."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from tiny_models import embedding_model, needs_extra

from ragablate.cli import main

needs_faiss = pytest.mark.skipif(
    find_spec("faiss") is None, reason="needs pip install 'ragablate[approximate]'"
)


@needs_extra
@needs_faiss
def test_the_recall_of_an_approximate_search_is_printed_and_in_the_report(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = embedding_model(tmp_path / "tiny")
    asked = [
        "run",
        "dataset=jsonl",
        f"dataset.path={toy}",
        f"outputs={tmp_path / 'outputs'}",
        "retriever=dense",
        f"retriever.model={model}",
        "retriever.approximate.index=hnsw",
        "experiment=closed_book",
    ]
    told = "control: approximate search found 1.000 of the first ten of exact search"
    for _ in range(2):
        assert main(asked) == 0
        assert told in " ".join(capsys.readouterr().out.split())
    (report, *_) = sorted((tmp_path / "outputs").rglob("report.md"))
    assert f"{told} (mean of 8 questions, lowest 1.00)." in report.read_text(encoding="utf-8")
