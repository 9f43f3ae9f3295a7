"""``ragablate freeze``: what one arm showed its reader, in a small file that is committed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ragablate.bundle.pack import opened
from ragablate.bundle.read import Bundle, load
from ragablate.bundle.verify import verify
from ragablate.codec import encode, plain
from ragablate.errors import BundleError
from ragablate.logs.frozen import MARK
from ragablate.traces import TraceLine
from ragablate.versus.demands import arm_of


def freeze(folder: Path, arm: str, out: Path) -> int:
    """Write every question of an arm with the exact context its reader saw, and the gold.

    The file is a data set of its own: ``dataset=traces dataset.path=FILE`` shows a reader the
    same bytes, with no retriever and no corpus, and refuses a context that was changed.

    Args:
        folder: The bundle.
        arm: The arm, or the experiment whose treatment it is; empty for control.
        out: The file, which must not exist.

    Returns:
        How many questions were written.

    Raises:
        BundleError: The bundle does not hold, or its texts were taken out; the file exists or
            cannot be written.
        DesignError: There is no such arm.
    """
    found = verify(folder)
    if found.wrong:
        raise BundleError(f"{folder} does not hold, and is not frozen: {found.wrong}")
    if found.redacted:
        raise BundleError(f"{folder} is redacted: its contexts are gone. Freeze the full bundle")
    if out.exists():
        raise BundleError(f"{out} exists: give another name, --out")
    bundle = load(folder)
    rows = list(_rows(bundle, arm_of(arm, bundle), found.bundle_id))
    try:
        out.write_bytes(b"".join(encode(row) + b"\n" for row in rows))
    except OSError as error:
        raise BundleError(f"{out} cannot be written: {error.strerror}") from error
    return len(rows)


def _rows(bundle: Bundle, arm: str, bundle_id: str) -> Iterator[dict[str, Any]]:
    shown: dict[str, TraceLine] = {}
    for line in bundle.traces[arm]:
        if line.context_digest:
            shown.setdefault(line.qid, line)
    corpus = bundle.corpus_of(arm)
    for qid, question in bundle.questions.items():
        if qid not in shown or question.eval_gap:
            continue
        seen = shown[qid]
        yield {
            MARK: bundle_id,
            "arm": arm,
            "qid": qid,
            "question": question.question,
            "history": plain(seen.history),
            "answerable": question.gold.answerable,
            "answers": plain(question.gold.answers),
            "slices": dict(question.slices),
            "context_digest": seen.context_digest,
            "context": plain(bundle.contexts[seen.context_digest].passages),
            "gold": plain(question.gold_in(corpus)),
        }


def freeze_command(arguments: Sequence[str]) -> int:
    """Freeze an arm from the command line.

    Raises:
        BundleError: As ``freeze``.
        DesignError: There is no such arm.
    """
    parser = argparse.ArgumentParser(
        prog="ragablate freeze",
        description="Write what one arm showed its reader to a small file, which a CI run reads "
        "again with no retriever and no corpus: ragablate run dataset=traces dataset.path=FILE",
    )
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="a folder, or a packed file")
    parser.add_argument(
        "--arm", default="", help="the arm, or the experiment whose treatment it is (control)"
    )
    parser.add_argument("--out", type=Path, default=Path("frozen.jsonl"), help="frozen.jsonl")
    try:
        asked = parser.parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    with opened(asked.bundle) as folder:
        written = freeze(folder, asked.arm, asked.out)
    print(f"{asked.out}: {written} contexts, {asked.out.stat().st_size / 1000:,.0f} kB")
    print(f"ragablate run dataset=traces dataset.path={asked.out} experiment=swap_reader")
    return 0
