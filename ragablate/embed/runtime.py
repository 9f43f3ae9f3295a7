"""How models are run: knobs that change how long it takes, not what comes out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Runtime:
    """The node ``runtime`` of an adapter that runs a model."""

    batch_size: int | None = None
    """Texts a step; ``None`` is 1 on a CPU, where a batch gains nothing, and 64 elsewhere."""
    device: str | None = None
    """``cpu``, ``cuda``, ``cuda:1``, ``mps``; ``None`` takes the best there is."""
    threads: int = 1
    """Threads of a CPU that work on one step."""
    cache: str | None = None
    """Folder that keeps embeddings; ``None`` keeps them while the process runs."""
    search_block: int = 8192
    """Passages compared at once."""


def runtime_of(given: Mapping[str, object] | None) -> Runtime:
    """The knobs given, with defaults for the rest; those without a meaning are left out."""
    known = {field.name for field in fields(Runtime)}
    return Runtime(**{k: v for k, v in (given or {}).items() if k in known})  # type: ignore[arg-type]


def runtime_problems(
    given: Mapping[str, object] | None, without: Collection[str] = ()
) -> list[str]:
    """Knobs that do not exist or have no meaning.

    Args:
        given: The node ``runtime``.
        without: Knobs that mean nothing to the adapter.
    """
    known = [field.name for field in fields(Runtime) if field.name not in without]
    found = [
        f"runtime.{name} is no knob: the knobs are {', '.join(known)}"
        for name in given or {}
        if name not in known
    ]
    runtime = runtime_of(given)
    for name, value in (
        ("batch_size", runtime.batch_size),
        ("threads", runtime.threads),
        ("search_block", runtime.search_block),
    ):
        if not (_is_count(value) or (value is None and name == "batch_size")):
            found.append(f"runtime.{name} is {value!r}: give a number from 1")
    found += [
        f"runtime.{name} is {value!r}: give {wanted}, or null"
        for name, value, wanted in (
            ("device", runtime.device, "a device such as cpu or cuda"),
            ("cache", runtime.cache, "a folder"),
        )
        if not (value is None or (isinstance(value, str) and value))
    ]
    return found


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
