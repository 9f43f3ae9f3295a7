"""Seeds derived from the one explicit seed of a plan.

None depends on the plan's content, so adding an experiment changes no other arm.
"""

from __future__ import annotations

import hashlib


def derive(seed: int, *parts: str | int) -> int:
    """A 63-bit seed: the first bytes of sha256 over the seed and ``parts``."""
    h = hashlib.sha256(str(seed).encode())
    for part in parts:
        h.update(b"\0")
        h.update(str(part).encode("utf-8", "surrogatepass"))
    return int.from_bytes(h.digest()[:8], "big") >> 1


def decode_seed(seed: int, qid: str, replicate: int) -> int:
    """Seed of one decode: the same in every arm (common random numbers)."""
    return derive(seed, qid, replicate)
