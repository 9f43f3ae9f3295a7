"""Ragablate from Python: the same plans, bundles and numbers as on the command line.

import ragablate

outcome = ragablate.run("experiment=oracle_context", "limit=50")
print(outcome.comparison.conclusions[0].sentences[0])
ragablate.effects_frame(outcome.comparison)
"""

from __future__ import annotations

from pathlib import Path

from ragablate import session
from ragablate.bundle.read import Bundle
from ragablate.bundle.read import load as _load
from ragablate.bundle.verify import Finding
from ragablate.bundle.verify import verify as _verify
from ragablate.checked import Checked
from ragablate.config import composing
from ragablate.frames import effects_frame, traces_frame, verdicts_frame
from ragablate.session import Outcome

__all__ = [
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
]


def check(*overrides: str) -> Checked:
    """Compose and build every arm and read the data, without loading a model.

    Raises:
        DesignError: Everything that is wrong with the plan, in one message.
    """
    with composing():
        return session.check(overrides)


def run(*overrides: str) -> Outcome:
    """Check, execute, prove, compare and write a bundle.

    Raises:
        RagablateError: What is wrong with the request, or what stopped the execution.
    """
    with composing():
        return session.run(overrides)


def load(folder: str | Path) -> Bundle:
    """Read a bundle; raises ``BundleError`` where a file does not hold what it should."""
    return _load(Path(folder))


def verify(folder: str | Path) -> Finding:
    """Prove a bundle: its bytes, its numbers and its proofs."""
    return _verify(Path(folder))
