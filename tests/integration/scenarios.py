"""What the scenarios of failures and fixes share: shipped text, and one change through the runner.

The text is Wikipedia's, as it ships in ``ragablate/data/quickstart`` (HotpotQA and XQuAD, CC BY-SA
4.0; see SOURCE.md there).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import ragablate as api
from ragablate.bundle.verify import verify
from ragablate.records import Effect

SHIPPED = Path(api.__file__).parent / "data" / "quickstart"
CONF = f"hydra.searchpath=[file://{Path(__file__).parent / 'conf'}]"
Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    return [json.loads(line) for line in (SHIPPED / name).read_text("utf-8").splitlines()]


CORPUS = {row["id"]: row for row in rows("corpus.jsonl")}
QUESTIONS = [row for row in rows("questions.jsonl") if row["answerable"]]
SINGLE = [row for row in QUESTIONS if "answer_start" in row]
PAIRED = [row for row in QUESTIONS if "evidence" in row]


def written(folder: Path, corpus: Iterable[Row], questions: Iterable[Row]) -> Path:
    folder.mkdir()
    for name, records in (("corpus", corpus), ("questions", questions)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def fixed_by(
    data: Path, variable: str, levels: str, *more: str, measure: str = "evidence_in_context"
) -> Mapping[str, Effect]:
    """Effects on the evidence by level, after every proof of the one change was checked."""
    outcome = api.run(
        "dataset=jsonl",
        f"dataset.path={data}",
        f"outputs={data.parent / 'outputs'}",
        f"experiment=swap_{variable}",
        f"experiment.swap_{variable}.treatments={levels}",
        f"experiment.swap_{variable}.measure={measure}",
        *more,
    )
    found = {}
    for contrast in outcome.bundle.contrasts:
        proofs = {p.invariant: p for p in outcome.bundle.proofs[contrast.id]}
        failed = [p.text for p in proofs.values() if p.status == "fail"]
        assert not failed, failed
        assert proofs["INV-4"].status == "pass"
        assert "one variable changed" in proofs["INV-4"].text
        effects = outcome.comparison.effects
        found[contrast.level] = next(
            e for e in effects if e.contrast == contrast.id and e.role == "primary"
        )
    assert verify(outcome.folder).wrong == ""
    return found
