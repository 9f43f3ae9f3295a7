"""Where failures surfaced, by a log alone: gold that arrived at all counts as arrived."""

from __future__ import annotations

from ragablate.diagnose import traversal as at
from ragablate.diagnose.facts import ASTRAY, UNMARKED, Fact

UNSEPARATED = "retrieval or assembly"
"""Where the log does not say what was shown, and the gold was not seen to be lost earlier."""
UNSHOWN = "assembly or generation"
"""The gold was in the ranking, and the log does not say what was shown."""
UNMARKED_FIGURE = "generation: figure without a marker"
EMPTY = "generation: empty answer"
UNJUDGED = "answered from its context"
"""The last bucket of a log without verdicts: nothing in the log speaks against the answer."""
UNKNOWN = "not judged"
"""A log with verdicts that has none of this answer: neither OK nor a failure."""


def surfaced(fact: Fact, score: float | None, judged: bool, supported: float = at.SUPPORTED) -> str:
    """Where one answer failed; the first that applies.

    With verdicts, answers that are right are OK and answers nobody judged are ``UNKNOWN``.
    A question the corpus cannot answer is rightly declined or made up. Without gold nothing can
    be followed. Where support is judged, an answer that the prompt supports is for the source
    or the label to explain, wherever its gold got. Else gold is looked for in the prompt, then
    in the ranking; any of it counts as arrived. With gold in the prompt the reader is left: it
    declined, said nothing, cited what is not there, gave a figure and cited nothing, or was
    judged not to keep to its passages.

    Args:
        fact: The answer.
        score: What it is worth; ``None`` where nobody says.
        judged: Whether the log has verdicts at all.
        supported: Least share of supported claims of an answer that its prompt supports.
    """
    if fact.error:
        return at.PIPELINE_ERROR
    if score is not None and score >= at.RIGHT:
        return at.OK
    if not fact.answerable:
        return _unanswerable(fact)
    if judged and score is None:
        return UNKNOWN
    if not fact.gold:
        return at.EVAL_GAP
    if is_supported(fact, supported):
        return _last(judged)
    return _lost(fact) or _at_the_reader(fact, supported) or _last(judged)


def _unanswerable(fact: Fact) -> str:
    if fact.abstained is None:
        return UNKNOWN
    return at.OK if fact.abstained else at.FABRICATION


def is_supported(fact: Fact, supported: float = at.SUPPORTED) -> bool | None:
    """Whether the prompt supports an answer; ``None`` where nobody judged it."""
    if fact.support is None or fact.abstained:
        return None
    return fact.support >= supported


def _last(judged: bool) -> str:
    return at.SOURCE_OR_LABEL if judged else UNJUDGED


def _lost(fact: Fact) -> str:
    """The stage that all gold was lost in; empty where some was shown."""
    if fact.shown:
        return ""
    if fact.shown is None:
        return UNSHOWN if fact.ranked else UNSEPARATED
    if fact.ranked is None:
        return UNSEPARATED
    if not fact.ranked:
        return at.RETRIEVAL
    return at.GATE if fact.gated else at.ASSEMBLY


def _at_the_reader(fact: Fact, supported: float) -> str:
    if fact.abstained:
        return at.REFUSAL
    if fact.empty:
        return EMPTY
    if fact.cites == ASTRAY or fact.verdicts.get("citation_valid", 1.0) < 1.0:
        return at.CITATION
    if fact.cites == UNMARKED:
        return UNMARKED_FIGURE
    if fact.verdicts.get("numbers_supported", 1.0) < 1.0:
        return at.NUMBER
    return at.CLAIM if is_supported(fact, supported) is False else ""
