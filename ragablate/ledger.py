"""The ledger of looks: how many plans have scored a question set.

Every look is another chance to find something by luck. The ledger only warns; executing
the same plan again is not another look.
"""

from __future__ import annotations

from pathlib import Path

from ragablate.errors import StoreError


def looks(store: Path, question_set: str, plan_digest: str) -> int:
    """Record a look and return how many plans have scored the set, this one included.

    Args:
        store: Root of the stage store.
        question_set: Digest of the question set.
        plan_digest: What identifies the plan.

    Raises:
        StoreError: The ledger cannot be written.
    """
    folder = store / "looks" / question_set[:32]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / plan_digest[:32]).touch()
        return sum(1 for _ in folder.iterdir())
    except OSError as error:
        raise StoreError(f"cannot write the ledger of looks {folder}: {error.strerror}") from error
