"""What a redacted bundle brings along, because it can no longer be worked out from its texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ragablate.codec import decode
from ragablate.errors import BundleError
from ragablate.records import Proof

NAME = "redacted.json"
HIDDEN = "[redacted]"


@dataclass(frozen=True, slots=True)
class Given:
    """Worked out from the full bundle when it was redacted."""

    bundle_id: str
    """Of the full bundle."""
    files: Mapping[str, str]
    """sha256 of every file of the full bundle, so that whoever has it can show that it is it."""
    proofs: Mapping[str, tuple[Proof, ...]]
    """By contrast or analysis."""
    reasons: Mapping[str, Mapping[str, str]]
    """By stage and qid, what lost the evidence."""
    buckets: Mapping[str, Mapping[str, str]]
    """By measure and qid, where control's failures surfaced by the log."""


def read_given(folder: Path) -> Given | None:
    """What a redacted bundle brings along; ``None`` of a full one.

    Raises:
        BundleError: The file does not hold what it should.
    """
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        return decode(path.read_bytes(), Given)
    except (OSError, ValueError) as error:
        raise BundleError(f"{path} does not hold what it should: {error}") from error
