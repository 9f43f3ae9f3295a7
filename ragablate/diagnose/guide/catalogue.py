"""What each failure mode looks like, which test looks for it, and what to try."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragablate.diagnose.guide import (
    altered,
    answers,
    dilution,
    filters,
    followups,
    identifiers,
    orders,
    parts,
    tables,
    versions,
)
from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.finding import Evidence

Test = Callable[[Sequence[Case], Known, Cuts], Iterable[Evidence]]


@dataclass(frozen=True, slots=True)
class Mode:
    """One failure mode."""

    title: str
    """In a few words."""
    symptom: str
    """What is noticed."""
    fix: str
    """What to try once it is proven."""


MODES: Mapping[str, Mode] = {
    "F1": Mode(
        "identifiers are missed",
        "a question for a code, a number or a name brings back related passages without it",
        "hybrid retrieval with rank fusion; lean on BM25 where a question holds an identifier",
    ),
    "F2": Mode(
        "one sentence in a long passage",
        "the passage is not found, though one sentence of it is close to the question",
        "smaller chunks; search small passages and hand over the large ones around them",
    ),
    "F3": Mode(
        "a follow-up searched alone",
        "the search holds words that only the conversation explains",
        "rewrite it into a question that stands alone before it is searched",
    ),
    "F4": Mode(
        "outdated passages",
        "the answer rests on a passage that metadata or a newer version call outdated",
        "filter by status, prefer the newest version, mark what is superseded when it is indexed",
    ),
    "F5": Mode(
        "the same passages whatever is asked",
        "a few passages are near the top of far more rankings than others",
        "normalise the vectors; leave out or weigh down boilerplate; remove duplicates",
    ),
    "F6": Mode(
        "tables and scans that lost their structure",
        "the text of passages that carry the answer is damaged",
        "read it beside the original; extract it again as structured text, or index page images",
    ),
    "F7": Mode(
        "filters that lose passages",
        "a filtered search returns fewer or other passages than pass the filter",
        "filter before the search where few passages pass; partition by a filter that is always on",
    ),
    "F8": Mode(
        "part of the evidence",
        "one part of the question is answered, and the passage for another never arrived",
        "one search a part (rewriter=decompose), or searching again after a first read",
    ),
    "cut": Mode(
        "found, and cut before the prompt",
        "the passage was found and lost by the reranker or the budget",
        "a larger budget, a deeper cut of the reranker, fewer duplicates",
    ),
    "F9": Mode(
        "made up where nothing could be known",
        "an answer to what the corpus does not cover",
        "a calibrated floor, then a check whether a passage answers, and a prompt that says what "
        "is missing",
    ),
    "F10": Mode(
        "the context is ignored",
        "the evidence is in the context, and claims of the answer trace to no passage of it",
        "a prompt that allows the sources alone and asks for a citation a claim; the question last",
    ),
    "distractor": Mode(
        "answered from another passage",
        "a wrong answer rests on a passage that does not carry the evidence",
        "rerank, show fewer passages, ask for a citation a claim",
    ),
    "F11": Mode(
        "figures and names altered",
        "a number, date, unit or name differs from the source, or a word stands in its place",
        "a prompt that asks for exact figures; the best passages at both ends; a smaller budget",
    ),
    "F12": Mode(
        "orders inside passages",
        "a retrieved passage tells a model what to do",
        "mark sources as data in the prompt; clean them when they are indexed or assembled; give "
        "tools the least rights",
    ),
}
"""By mode, in the guide's order."""


def _by_bm25(known: Known) -> str:
    return f"BM25 over {known.place}"


def _by_similarity(known: Known) -> str:
    return _by_bm25(known) if known.embed is None else f"embeddings by {known.embedder}"


def _words(text: str) -> Callable[[Known], str]:
    return lambda known: text


TESTS: Sequence[tuple[str, Test, Callable[[Known], str]]] = (
    ("F1", identifiers.found_by_bm25, _by_bm25),
    ("F1", identifiers.never_in_the_ranking, _words("identifiers looked up in the ranking")),
    ("F2", dilution.diluted, _by_similarity),
    ("F3", followups.follow_ups, _words("words of the search")),
    ("F4", versions.superseded, _words("metadata and five-word runs in common")),
    ("F6", tables.broken, _words("signs of damage in the text")),
    ("F7", filters.filtered, _by_similarity),
    ("F8", parts.partial, _words("gold by part in the context")),
    ("cut", parts.cut_away, _words("gold in the ranking")),
    ("F9", answers.made_up, _words("answers to unanswerable questions")),
    ("F10", answers.ungrounded, _words("claims looked up in the context, word by word")),
    ("distractor", answers.from_another_passage, _words("claims looked up in each passage")),
    ("F11", altered.altered, _words("figures, units and names looked up in the context")),
    ("F12", orders.orders, _words("sentences that address a model")),
)
"""Mode, test, and by what it looks; F5 counts over the whole log and stands apart."""
