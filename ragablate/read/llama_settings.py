"""Which settings of the reader ``llama_cpp`` make sense."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RUNTIME: Mapping[str, Any] = {
    "servers": 1,
    "threads": None,
    "timeout_s": 600.0,
    "start_timeout_s": 300.0,
}
"""Runtime knobs, and what they are where nobody says."""

_RANGES: Mapping[str, tuple[type, float, float]] = {
    "max_tokens": (int, 1, 1_000_000),
    "temperature": (float, 0, 100),
    "top_p": (float, 0, 1),
    "top_k": (int, 0, 1_000_000),
    "min_p": (float, 0, 1),
    "repeat_penalty": (float, 0.01, 100),
    "n_ctx": (int, 1, 10_000_000),
    "slots": (int, 1, 256),
    "gpu_layers": (int, -1, 10_000),
    "servers": (int, 1, 256),
    "threads": (int, 1, 1024),
    "timeout_s": (float, 0.001, 1_000_000),
    "start_timeout_s": (float, 0.001, 1_000_000),
}


def setting_problems(reader: object) -> list[str]:
    """Settings of a reader that are out of range or of the wrong kind, one sentence each."""
    found = [
        problem
        for name in _RANGES
        if name not in RUNTIME and (problem := _wrong(name, name, getattr(reader, name)))
    ]
    stop = getattr(reader, "stop", ())
    if isinstance(stop, str) or not all(isinstance(text, str) and text for text in stop):
        found.append(f"stop is {stop!r}: give a list of texts, none of them empty")
    return found + _runtime_problems(getattr(reader, "runtime", None) or {})


def _runtime_problems(runtime: Mapping[str, Any]) -> list[str]:
    found = [
        f"runtime.{name} is unknown; known: {', '.join(RUNTIME)}"
        for name in runtime
        if name not in RUNTIME
    ]
    for name, value in runtime.items():
        absent = name == "threads" and value is None
        if name in RUNTIME and not absent and (problem := _wrong(f"runtime.{name}", name, value)):
            found.append(problem)
    return found


def _wrong(where: str, name: str, value: Any) -> str:
    kind, low, high = _RANGES[name]
    right = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    if right and low <= value <= high:
        return ""
    noun = "a whole number" if kind is int else "a number"
    return f"{where} is {value!r}: give {noun} from {low} to {high}"
