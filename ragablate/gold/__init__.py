"""Which passages carry the gold, and whether a context holds it as text.

* ``resolve`` turns gold into passages, after chunking;
* ``present`` and ``present_parts`` look for it in what a reader sees;
* ``retrieved_parts`` looks for it in a ranking, by pid alone.
"""

from ragablate.gold.presence import (
    covered,
    is_gap,
    present,
    present_parts,
    retrieved_parts,
)
from ragablate.gold.resolution import resolve

__all__ = [
    "covered",
    "is_gap",
    "present",
    "present_parts",
    "resolve",
    "retrieved_parts",
]
