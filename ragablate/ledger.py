"""The ledger of looks: how many plans have scored a question set.

Every look is another chance to find something by luck. The ledger only warns; executing
the same plan again is not another look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragablate.errors import StoreError


@dataclass(frozen=True, slots=True)
class Looks:
    """What was asked of a question set so far."""

    count: int
    """Plans that have scored it, this one included."""
    added: tuple[str, ...]
    """Claims of this plan that no plan before it has asked for, where there was one."""


def looks(store: Path, question_set: str, plan_digest: str, claims: Sequence[str] = ()) -> Looks:
    """Record a look, and say which one it is.

    Args:
        store: Root of the stage store.
        question_set: Digest of the question set.
        plan_digest: What identifies the plan.
        claims: Ids of the plan's contrasts and analyses.

    Raises:
        StoreError: The ledger cannot be read or written.
    """
    folder = store / "looks" / question_set[:32]
    own = folder / plan_digest[:32]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not own.exists():
            own.write_text("".join(f"{claim}\n" for claim in claims), encoding="utf-8")
        entries = [(path.stat().st_mtime_ns, path) for path in folder.iterdir()]
        born = own.stat().st_mtime_ns
        earlier = [path for at, path in entries if path != own and at <= born]
        known = {line for path in earlier for line in path.read_text("utf-8").splitlines()}
        added = tuple(claim for claim in claims if earlier and claim not in known)
        return Looks(len(entries), added)
    except OSError as error:
        raise StoreError(f"cannot write the ledger of looks {folder}: {error.strerror}") from error
