"""Python's collector of reference cycles, held back while records pile up."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_ALLOCATIONS = 100_000


@contextmanager
def rarely() -> Iterator[None]:
    """Look for cycles only now and then.

    An execution makes millions of small records, none of them part of a cycle. By default the
    collector walks through them every 700, which takes as long as making them.
    """
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
