"""Whether an answer's citation markers point somewhere, and to what."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.gold import covered, is_gap
from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.figures import bulleted, figures
from ragablate.judge.markers import Statement, marked_pids, resolve, statements
from ragablate.judge.outcome import Items, Measured, same, unspoken, verdicts
from ragablate.protocols import JudgeRequest
from ragablate.records import Measure


class Citation:
    """``citation_valid``, ``cites_gold`` and ``number_cited``, all in [0, 1].

    A marker is a passage's position in the context, from 1, or its pid, in brackets.
    ``citation_valid`` is the share of markers that point to a passage of the context;
    ``cites_gold`` is 1 where one of those passages carries gold as text; both are unmeasured
    without a marker, the second also without gold to cite. ``number_cited`` is 1 where every
    sentence with a figure carries a marker, whatever it points to, and unmeasured without a
    figure.
    Abstentions, empty and failed answers are unmeasured. None of the three says that a cited
    passage supports what it is cited for.

    Args:
        phrases: What counts as declining (see ``is_abstention``).
    """

    cheap = True

    def __init__(self, phrases: Sequence[str] = ()) -> None:
        self.phrases = phrases

    def problems(self) -> list[str]:
        """Phrases that can never be found."""
        return phrase_problems(self.phrases)

    def measures(self) -> tuple[Measure, ...]:
        """``citation_valid``, ``cites_gold``, ``number_cited``."""
        return (
            Measure("citation_valid", "read", "citations that point to a passage"),
            Measure("cites_gold", "read", "answers that cite gold"),
            Measure("number_cited", "read", "answers whose figures are cited"),
        )

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """Three verdicts per request."""
        return verdicts(requests, self.measures(), self._measure)

    def _measure(self, request: JudgeRequest) -> dict[str, Measured]:
        trace = request.trace
        missing = unspoken(trace, is_abstention(trace, self.phrases))
        if missing is not None or trace.answer is None:
            return same(self.measures(), missing or (None, "no answer was recorded"))
        said = statements(bulleted(trace.answer.text), marked_pids(trace))
        pids = [passage.pid for passage in trace.context.passages]
        cited = {item: resolve(item, pids) for s in said for item in s.items}
        return {
            "citation_valid": _valid([item for s in said for item in s.items], cited),
            "cites_gold": _cites_gold(request, cited),
            "number_cited": _number_cited(said),
        }


def _valid(items: Sequence[str], cited: dict[str, str | None]) -> Measured:
    if not items:
        return None, "no marker"
    astray = [item for item in items if cited[item] is None]
    reason = f"point nowhere: {', '.join(astray)}" if astray else f"{len(items)} markers"
    return (len(items) - len(astray)) / len(items), reason


def _cites_gold(request: JudgeRequest, cited: dict[str, str | None]) -> Measured:
    if not request.gold.answerable:
        return None, "unanswerable: there is no gold to cite"
    if is_gap(request.resolved):
        return None, "eval gap: answerable, but without gold"
    if not cited:
        return None, "no marker"
    gold = [g for part in request.resolved.parts for a in part for g in a.passages]
    shown = [p for p in request.trace.context.passages if p.pid in cited.values()]
    hits = [p.pid for p in shown if any(covered(g, [p]) for g in gold)]
    return float(bool(hits)), f"cites {', '.join(hits)}" if hits else "cites no gold"


def _number_cited(said: Sequence[Statement]) -> Measured:
    with_figure = [statement for statement in said if figures(statement.text)]
    if not with_figure:
        return None, "no figure"
    n = sum(bool(statement.items) for statement in with_figure)
    return float(n == len(with_figure)), f"{n} of {len(with_figure)} sentences with a figure cite"
