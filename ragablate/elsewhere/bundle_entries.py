"""The answers of one arm of a bundle, with what its judges say of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ragablate.bundle.read import Bundle, load
from ragablate.bundle.write import arm_folder
from ragablate.diagnose.guide.commands import Control
from ragablate.errors import EvidenceError
from ragablate.judge.distractor import WRONG_PASSAGE
from ragablate.logs import Entry
from ragablate.records import Claim, Verdict


def log_of(path: Path, arm: str) -> Path:
    """The log itself, or that of an arm of a bundle, control by default.

    Raises:
        BundleError: The folder is no bundle.
        EvidenceError: The bundle has no such arm.
    """
    if not path.is_dir():
        return path
    arms = list(load(path).arms)
    if arm and arm not in arms:
        raise EvidenceError(f"{path} has no arm '{arm}': it has {', '.join(arms)}.")
    return path / "arms" / arm_folder(arm or arms[0]) / "traces.jsonl"


def with_verdicts(entries: Iterable[Entry], bundle: Bundle, arm: str) -> Iterator[Entry]:
    """Entries of an arm's log with the bundle's verdicts, and the passages of wrong answers."""
    found: dict[tuple[str, int], list[Verdict]] = {}
    for verdict in bundle.verdicts[arm or next(iter(bundle.arms))]:
        found.setdefault((verdict.qid, verdict.replicate), []).append(verdict)
    for entry in entries:
        own = found.get((entry.qid, entry.replicate), [])
        yield replace(
            entry,
            verdicts={v.measure: v.value for v in own if v.value is not None},
            claims=next((_traced(v) for v in own if v.measure == WRONG_PASSAGE), ()),
        )


def _traced(verdict: Verdict) -> tuple[Claim, ...]:
    if verdict.value is None:
        return ()
    return verdict.claims if verdict.value else (Claim("", "unsupported"),)


def control_of(bundle: Bundle, arm: str) -> Control:
    """The pipeline of an arm of a bundle, as a control to experiment on.

    An intervention on the context is no pipeline: experiments are on what it intervened in.
    """
    changed = next((row["overrides"] for row in bundle.plan["arms"] if row["name"] == arm), ())
    added = [o for o in changed if not o.startswith("context")]
    return Control((*bundle.overrides, *added), dict(bundle.plan["choices"]))
