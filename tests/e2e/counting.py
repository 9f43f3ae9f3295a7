"""A reader that appends every question it is asked to a file, for counting calls."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence


def read(question: str, passages: Sequence[str]) -> str:
    with open(os.environ["CALL_LOG"], "a", encoding="utf-8") as log:
        log.write(f"{question}\t{len(passages)}\t{hash_of(passages)}\n")
    time.sleep(float(os.environ.get("CALL_SECONDS", "0")))
    return passages[0] if passages else "I do not know."


def hash_of(passages: Sequence[str]) -> str:
    import hashlib

    return hashlib.sha256("\x00".join(passages).encode()).hexdigest()[:12]
