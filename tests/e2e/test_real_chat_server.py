"""A whole execution against llama.cpp's own OpenAI-compatible server, four requests at once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from ragablate.bundle.read import load
from ragablate.read.llama_cpp import LlamaCpp

LACKING = [problem for problem in LlamaCpp("smollm2").problems() if "pip install" in problem]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(LACKING), reason="; ".join(LACKING) or "nothing is missing"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, str]]:
    """Address and key of SmolLM2 in four slots."""
    from ragablate.read.gguf import find_gguf
    from ragablate.read.llama_process import LlamaServer, ServerSettings

    settings = ServerSettings(
        model=str(find_gguf("smollm2")),
        n_ctx=4096,
        slots=4,
        gpu_layers=0,
        threads=2,
        start_timeout_s=120,
    )
    each = LlamaServer(settings)
    yield f"{each.url}/v1", each.key
    each.close()


def run(folder: Path, key: str, *overrides: str) -> Path:
    """Manifest of the bundle that one execution writes."""
    done = subprocess.run(
        [sys.executable, "-m", "ragablate.cli", "run", *overrides],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SMOLLM2_KEY": key},
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (manifest,) = folder.glob("outputs/*/*/MANIFEST")
    return manifest


def holding(folder: Path, key: str) -> list[Path]:
    """Files in which the key stands."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if key.encode() in path.read_bytes()]


def test_four_requests_at_once_end_to_end(server: tuple[str, str], tmp_path: Path) -> None:
    url, key = server
    manifest = run(
        tmp_path, key,
        "reader=openai_chat", f"reader.base_url={url}", "reader.model=smollm2",
        "reader.api_key_env=SMOLLM2_KEY", "reader.prompt=question_last",
        "reader.max_tokens=24", "reader.runtime.max_concurrency=4",
        "reader.runtime.timeout_s=500", "experiment=closed_book", "limit=4",
        "assembler.budget_tokens=300",
    )  # fmt: skip
    bundle = load(manifest.parent)
    lines = [line for arm in bundle.traces.values() for line in arm]
    assert len(lines) == 8
    assert [line.error for line in lines if line.error is not None] == []
    assert all(line.answer is not None and line.model for line in lines)
    assert all(0 < line.usage["completion_tokens"] <= 24 for line in lines)
    assert all(line.finish_reason in ("stop", "length") for line in lines)

    ends = [datetime.fromisoformat(str(line.timestamp)).timestamp() for line in lines]
    spans = [(end - (line.latency_s or 0), end) for end, line in zip(ends, lines, strict=True)]
    # An answer is stored a moment after it came, so a place may look taken twice for that long.
    middles = [(begin + end) / 2 for begin, end in spans]
    assert max(sum(a <= middle <= b for a, b in spans) for middle in middles) >= 4
    assert holding(tmp_path, key) == []


def test_a_real_model_judges_end_to_end(server: tuple[str, str], tmp_path: Path) -> None:
    url, key = server
    endpoints = [
        f"{judge}.{knob}"
        for judge in ("judge.correct_llm.endpoint", "judge.faithfulness_llm.support.endpoint")
        for knob in (
            f"base_url={url}", "model=smollm2", "api_key_env=SMOLLM2_KEY", "max_tokens=24",
            "runtime.max_concurrency=4", "runtime.timeout_s=500",
        )
    ]  # fmt: skip
    overrides = [
        "judge=[correct_llm,abstention,faithfulness_llm]", *endpoints, "experiment=closed_book",
        "limit=4", "assembler.budget_tokens=200",
        # So small a model keeps to no format unless the server holds it to one.
        "+judge.correct_llm.endpoint.extra_body.grammar="
        """'root ::= "RIGHT" | "WRONG" | "NOT ATTEMPTED"'""",
    ]  # fmt: skip
    manifest = run(tmp_path, key, *overrides)
    bundle = load(manifest.parent)
    found = [v for arm in bundle.verdicts.values() for v in arm]
    grades = [v for v in found if v.measure == "correct"]
    supported = [v for v in found if v.measure == "faithfulness"]
    assert len(grades) == len(supported) == 8
    assert not any("could not be asked" in v.reason for v in found)
    assert {v.value for v in grades} <= {0.0, 1.0}
    assert any(v.reason.startswith("graded") for v in grades)
    # What does not keep to the format is unclear and leaves the answer unmeasured.
    assert all(v.value is None for v in supported if any(c.status == "unclear" for c in v.claims))
    statuses = {claim.status for v in supported for claim in v.claims}
    assert statuses <= {"supported", "contradicted", "unsupported", "unclear"}
    assert statuses, "no claim was put to the model"
    assert set(bundle.plan["judges"]) == {"correct_llm", "abstention", "faithfulness_llm"}
    assert holding(tmp_path, key) == []
