"""Writing a bundle: everything under a hidden name first, published by one rename."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragablate.bundle import manifest
from ragablate.codec import digest, encode, pretty
from ragablate.errors import StoreError
from ragablate.records import Comparison, HumanLabel, Prompt, Verdict
from ragablate.traces import ContextLine, PromptLine, QuestionLine, TraceLine

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789=._-")
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Contents:
    """What an execution leaves, before any comparison."""

    plan: Mapping[str, Any]
    """``plan.json``."""
    hydra: Mapping[str, str]
    """Files of ``.hydra/`` by name."""
    questions: tuple[QuestionLine, ...]
    """In order."""
    traces: Mapping[str, Callable[[], Sequence[TraceLine]]]
    """By arm what makes its lines, so that those of one arm are held at a time."""
    verdicts: Mapping[str, tuple[Verdict, ...]]
    """By arm."""
    contexts: tuple[ContextLine, ...]
    """Distinct, by digest."""
    prompts: Mapping[str, Prompt]
    """Distinct, by digest."""
    labels: tuple[HumanLabel, ...] = ()
    """What people said of answers, where they did."""


def arm_folder(arm: str) -> str:
    """Folder name of an arm: its name, with what a file system might refuse replaced.

    Where that leaves less than the name, a digest of it keeps arms apart, on file systems
    too that do not tell upper case from lower.
    """
    plain_name = "".join(c if c in _SAFE else "_" for c in arm)[:_LONGEST]
    return arm if plain_name == arm else f"{plain_name}-{digest(arm)[:12]}"


@contextmanager
def draft(folder: Path) -> Iterator[Path]:
    """A hidden folder that becomes ``folder`` when the block ends without an error.

    Raises:
        StoreError: It cannot be written, or the disk is full.
    """
    host = socket.gethostname()
    hidden = folder.with_name(f".{folder.name}.{host}.{os.getpid()}.partial")
    try:
        _sweep(folder.parent, host)
        hidden.mkdir(parents=True)
        yield hidden
        hidden.rename(folder)
    except OSError as error:
        raise StoreError(
            f"cannot write the bundle {folder}: {error.strerror}. Answers are kept in the store: "
            "make room or fix the folder, and run the same command again"
        ) from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _sweep(parent: Path, host: str) -> None:
    """Remove what killed executions on this machine left half written."""
    for path in parent.glob(f".*.{host}.*.partial"):
        pid = path.name.split(".")[-2]
        if pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def write(folder: Path, contents: Contents) -> None:
    """Write everything but effects, reports and MANIFEST into an existing folder."""
    _text(folder / "plan.json", pretty(contents.plan))
    for name, text in contents.hydra.items():
        _text(folder / ".hydra" / name, text)
    _lines(folder / "questions.jsonl", contents.questions)
    _lines(folder / "contexts.jsonl", contents.contexts)
    _lines(
        folder / "prompts.jsonl",
        (
            PromptLine(key, prompt.qid, prompt.question, prompt.segments)
            for key, prompt in sorted(contents.prompts.items())
        ),
    )
    if contents.labels:
        _lines(folder / "labels.jsonl", contents.labels)
    for arm, made in contents.traces.items():
        place, traces = folder / "arms" / arm_folder(arm), made()
        _lines(place / "traces.jsonl", traces)
        _lines(place / "verdicts.jsonl", contents.verdicts[arm])
        _text(place / "run.trec", "".join(trec_lines(traces)))


def effects_json(comparison: Comparison, proofs: Mapping[str, Any]) -> dict[str, Any]:
    """The content of ``effects.json``: every effect, analysis, conclusion and proof."""
    labelled = {"judged_rates": comparison.judged_rates, "corrected": comparison.corrected}
    return {
        **(labelled if comparison.judged_rates else {}),
        "effects": comparison.effects,
        "conclusions": comparison.conclusions,
        "analyses": comparison.analyses,
        "signals": comparison.signals,
        "notes": comparison.notes,
        "proofs": proofs,
    }


def write_effects(folder: Path, comparison: Comparison, proofs: Mapping[str, Any]) -> None:
    """Write ``effects.json``."""
    _text(folder / "effects.json", pretty(effects_json(comparison, proofs)))


def seal(folder: Path) -> str:
    """Write the MANIFEST and return the bundle's id."""
    digests = manifest.files(folder)
    _text(folder / manifest.NAME, manifest.render(digests))
    return manifest.bundle_id(digests)


def trec_lines(traces: Iterable[TraceLine]) -> Iterator[str]:
    """TREC run lines of the ranking handed to the assembler, replicate 1 standing for all."""
    seen: set[str] = set()
    for line in traces:
        if line.qid not in seen:
            seen.add(line.qid)
            for hit in line.retrieved:
                yield f"{line.qid} Q0 {hit.pid} {hit.rank} {hit.score!r} ragablate\n"


def _lines(path: Path, records: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for record in records:
            file.write(encode(record))
            file.write(b"\n")


def _text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
