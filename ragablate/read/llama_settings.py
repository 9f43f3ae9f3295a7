"""Which settings of the reader ``llama_cpp`` make sense."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragablate.read.ranges import Range, knob_problems, runtime_problems, stop_problems

RUNTIME: Mapping[str, Any] = {
    "servers": 1,
    "threads": None,
    "timeout_s": 600.0,
    "start_timeout_s": 300.0,
}
"""Runtime knobs, and what they are where nobody says."""

_KNOBS: Mapping[str, Range] = {
    "max_tokens": Range(int, 1, 1_000_000),
    "temperature": Range(float, 0, 100),
    "top_p": Range(float, 0, 1),
    "top_k": Range(int, 0, 1_000_000),
    "min_p": Range(float, 0, 1),
    "repeat_penalty": Range(float, 0.01, 100),
    "n_ctx": Range(int, 1, 10_000_000),
    "slots": Range(int, 1, 256),
    "gpu_layers": Range(int, -1, 10_000),
}
_RUNTIME: Mapping[str, Range] = {
    "servers": Range(int, 1, 256),
    "threads": Range(int, 1, 1024, optional=True),
    "timeout_s": Range(float, 0.001, 1_000_000),
    "start_timeout_s": Range(float, 0.001, 1_000_000),
}


def setting_problems(reader: object) -> list[str]:
    """Settings of a reader that are out of range or of the wrong kind, one sentence each."""
    found = knob_problems(reader, _KNOBS) + stop_problems(getattr(reader, "stop", ()))
    return found + runtime_problems(getattr(reader, "runtime", None) or {}, _RUNTIME)
