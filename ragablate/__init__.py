"""ragablate: prove which stage of a RAG pipeline loses the answers."""

from typing import Any

__version__ = "0.1.0"

_API = (
    "Bundle",
    "Checked",
    "Finding",
    "Outcome",
    "check",
    "effects_frame",
    "load",
    "run",
    "traces_frame",
    "verdicts_frame",
    "verify",
)

__all__ = ["__version__", *_API]


def __getattr__(name: str) -> Any:
    """The API, imported on first use so that the command line starts quickly."""
    if name in _API:
        from ragablate import api

        return getattr(api, name)
    raise AttributeError(f"module 'ragablate' has no attribute '{name}'")


def __dir__() -> list[str]:
    """Everything that can be imported from here."""
    return sorted(__all__)
