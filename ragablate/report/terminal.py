"""What ``check`` and ``run`` print."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, TextIO

from ragablate.codec import plain
from ragablate.stages import Progress

if TYPE_CHECKING:
    from ragablate.checked import Checked
    from ragablate.session import Outcome


class Screen:
    """The terminal, or whatever stands in its place.

    Args:
        quiet: Print nothing.
        as_json: Print one JSON object and nothing else.
        stream: Where to; standard output by default.
    """

    def __init__(self, quiet: bool, as_json: bool, stream: TextIO | None = None) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self.stream = stream

    def plan(self, checked: Checked, final: bool = False) -> None:
        """The plan, before anything is spent.

        Args:
            checked: The plan.
            final: Whether nothing will follow: every leaf is listed, and JSON is the plan's.
        """
        if self.quiet:
            return
        if self.as_json:
            if final:
                from ragablate.report.planned import plan_object

                self._object(plan_object(checked))
            return
        from ragablate.report.page import Page
        from ragablate.report.planned import print_plan

        print_plan(Page(self.stream), checked, every_leaf=final)

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Progress bars while the block runs; silent where nobody watches.

        What a user's function prints meanwhile goes to standard error where standard output
        has to stay empty or one JSON object.
        """
        if self.quiet or self.as_json:
            with redirect_stdout(sys.stderr):
                yield _silent
            return
        from ragablate.report.page import Page

        page = Page(self.stream)
        if not page.terminal:
            yield _silent
            return
        from ragablate.report.progress import Bars, display

        with display(console=page.console) as shown:
            shown.add_task("working", total=None)
            yield Bars(shown)

    def outcome(self, outcome: Outcome) -> None:
        """What came out, how sure it is, and where it lies."""
        if self.quiet:
            return
        if self.as_json:
            self._object(_outcome_object(outcome))
            return
        # Numbers are written as in sentences, whose module needs scipy; check does without.
        from ragablate.report.outcome import print_outcome
        from ragablate.report.page import Page

        print_outcome(Page(self.stream), outcome)

    def _object(self, content: dict[str, object]) -> None:
        text = json.dumps(plain(content), sort_keys=True, allow_nan=False)
        print(text, file=self.stream or sys.stdout)


def _silent(stage: str, done: int, total: int) -> None:
    pass


def _outcome_object(outcome: Outcome) -> dict[str, object]:
    comparison = outcome.comparison
    return {
        "id": outcome.bundle_id,
        "folder": str(outcome.folder),
        "effects": comparison.effects,
        "conclusions": comparison.conclusions,
        "analyses": comparison.analyses,
        "signals": comparison.signals,
        "notes": comparison.notes,
        "proofs": outcome.bundle.proofs,
        "calls": outcome.calls,
        "looks": outcome.looks,
    }
