"""``ragablate compare --arm control=A.jsonl --arm NAME=B.jsonl``."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Sequence
from functools import cache

from ragablate.codec import plain
from ragablate.elsewhere.arms import Arms, Choice, compare_arms
from ragablate.elsewhere.roles import LADDER, shape_of
from ragablate.errors import EvidenceError
from ragablate.logs import FORMATS, read_log, read_problems
from ragablate.report.escape import clean

_MARK = {"pass": "✓", "fail": "✗", "warn": "!", "not_checked": "?"}


def compare_command(arguments: Sequence[str]) -> int:
    """Compare logs of arms, and print what they show.

    Raises:
        EvidenceError: The logs cannot be compared.
        DatasetError: A log cannot be read.
    """
    options = _parser().parse_args(list(arguments))
    paths: dict[str, str] = {}
    for given in options.arm:
        role, _, path = given.partition("=")
        if not role or not path or role in paths:
            raise EvidenceError(f"--arm {given}: give each arm once, as NAME=LOG.")
        paths[role] = path
    fields = dict(pair.partition("=")[::2] for pair in options.field)
    problems = [p for path in paths.values() for p in read_problems(path, options.format, fields,
                                                                     "--arm")]  # fmt: skip
    if problems:
        raise EvidenceError("\n".join(problems))
    choice = Choice(
        measure=options.measure, margin=options.margin, seed=options.seed,
        phrases=(*abstention_phrases(), *options.phrase),
        selected_by_failure={"yes": True, "no": False}.get(options.selected_by_failure),
    )  # fmt: skip
    found = compare_arms(
        {role: read_log(path, options.format, fields) for role, path in paths.items()}, choice
    )
    text = json.dumps(_object(found), indent=2, sort_keys=True, ensure_ascii=False)
    print(text if options.json else "\n".join(_wrapped(line) for line in _lines(found)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ragablate compare",
        description="Compare arms that were run elsewhere, by what their logs hold.",
    )
    add = parser.add_argument
    add(
        "--arm",
        action="append",
        required=True,
        metavar="NAME=LOG",
        help="a log by role: control, oracle, closed_book, or any name",
    )
    add("--format", choices=FORMATS, default="auto")
    add(
        "--field",
        action="append",
        default=[],
        metavar="OURS=THEIRS",
        help="the field of the rows that holds one of ours, such as verdict=label",
    )
    add("--measure", default="correct")
    add("--margin", type=float, default=0.05)
    add("--seed", type=int, default=0)
    add("--phrase", action="append", default=[], help="another way this log declines to answer")
    add("--selected-by-failure", choices=("yes", "no", "unknown"), default="unknown")
    add("--json", action="store_true")
    return parser  # fmt: skip


def _wrapped(line: str) -> str:
    """A line within the width of a page; its indentation is kept, untrusted text cleaned."""
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        clean(line), 100, initial_indent=indent, subsequent_indent=indent + "  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


@cache
def abstention_phrases() -> tuple[str, ...]:
    """What counts as declining unless a plan says otherwise."""
    import yaml

    from ragablate.config import conf_dir

    config = yaml.safe_load((conf_dir() / "config.yaml").read_text(encoding="utf-8"))
    return tuple(config["abstention_phrases"])


def _lines(found: Arms) -> list[str]:
    lines = []
    for conclusion in found.comparison.conclusions:
        lines.append(f"{conclusion.contrast}: {conclusion.verdict} (claim: {conclusion.label})")
        lines += [f"  • {sentence}" for sentence in conclusion.sentences]
        if conclusion.limits:
            lines.append(f"  Limits: {'; '.join(conclusion.limits)}.")
        if conclusion.settle:
            lines.append(f"  To settle it: {conclusion.settle}.")
        for proof in found.study.proofs[conclusion.contrast]:
            lines.append(f"  {_MARK[proof.status]} {proof.invariant}: {proof.text}")
        role = conclusion.contrast.partition("/")[2]
        lines += _terms(found, conclusion.contrast)
        seen = None if role in LADDER else shape_of(found.comparison, conclusion.contrast)
        if seen is not None:
            said = f"Shape, by evidence and faithfulness (a description): {seen.name}. {seen.text}."
            lines.append("  " + said + (f" To settle it: {seen.settle}." if seen.settle else ""))
        if role in found.moves:
            moves = found.moves[role]
            lines.append(f"  Failure buckets, control to {role}: {moves.verdict}. {moves.sentence}")
            lines += [f"    {n:>5}  {a} → {b}" for (a, b), n in moves.counts.items()]
        lines.append("")
    return [*lines, *(f"• {note}" for note in (*found.comparison.notes, *found.notes))]


def _terms(found: Arms, contrast: str) -> list[str]:
    """What each rung of a ladder wins back, and what the log alone would have said."""
    lines = []
    for result in found.comparison.analyses:
        if result.id == contrast:
            lines.append(f"  {result.order}, on {result.population} questions:")
            lines += [f"    {term.value:+.3f} {term.name}" for term in result.terms]
            lines += [
                f"  By the log {row.bucket}, first turned right by {row.rung}: {row.questions}"
                for row in result.agreement
            ]
    return lines


def _object(found: Arms) -> dict[str, object]:
    return {
        "comparison": plain(found.comparison),
        "proofs": plain(dict(found.study.proofs)),
        "moves": {
            role: {
                "verdict": m.verdict, "sentence": m.sentence, "fixed": m.fixed,
                "broken": m.broken, "moved": m.moved, "n": m.n,
                "counts": [{"before": a, "after": b, "n": n} for (a, b), n in m.counts.items()],
            }
            for role, m in found.moves.items()
        },
        "shapes": {
            c.contrast.partition("/")[2]: plain(shape_of(found.comparison, c.contrast))
            for c in found.comparison.conclusions
        },
        "notes": list(found.notes),
    }  # fmt: skip
