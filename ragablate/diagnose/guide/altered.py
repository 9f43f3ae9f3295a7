"""F11: figures and names that differ from those of the passages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.decision import UNGROUNDED, UNMEASURED, WRONG
from ragablate.diagnose.guide.finding import Evidence
from ragablate.judge.claims import claims_in
from ragablate.judge.content import content_words, names, vocabulary
from ragablate.judge.figure_tracing import figured_sentences, traced_figures
from ragablate.judge.figures import figures, kinds
from ragablate.judge.vagueness import vague_claims
from ragablate.records import Claim
from ragablate.text.sentences import sentences

_NAMED_ALIKE = 0.7


def altered(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Figures, units and names of answers that no passage of the context states.

    Looked for where all of the evidence was shown; each with the sentence of the passages that
    says it otherwise, where one does. A word in place of a figure ("small teams") counts too.
    """
    for case in cases:
        if case.label not in (UNGROUNDED, UNMEASURED, WRONG) or not case.shown:
            continue
        found = list(differing(case))
        if found:
            says = "; ".join(_says(claim) for claim in found)
            pids = tuple(dict.fromkeys(claim.pid for claim in found if claim.pid))
            yield Evidence((case.qid,), says, pids, {}, tuple(_quotes(found)))


def _says(claim: Claim) -> str:
    if not claim.pid:
        return f'the answer says "{claim.text}", no passage of the context does'
    return f'the answer says "{claim.text}", {claim.pid} says "{claim.quote}"'


def _quotes(found: Sequence[Claim]) -> Iterator[str]:
    for claim in found:
        yield claim.text
        if claim.quote:
            yield claim.quote


def differing(case: Case) -> Iterator[Claim]:
    """What was altered, each with the passage and the sentence that say it otherwise."""
    answer = case.entry.answer or ""
    asked = [case.entry.question, *(turn.text for turn in case.entry.history)]
    pids = frozenset(case.entry.shown or ())
    for claim in traced_figures(answer, case.shown, asked, pids):
        if claim.status != "supported":
            yield claim if claim.quote else _rival(claim, answer, case)
    yield from vague_claims(answer, case.shown, asked, pids)
    yield from _named(answer, asked, case)


def _rival(claim: Claim, answer: str, case: Case) -> Claim:
    """The same with the most similar sentence that has a figure of its kind, if there is one."""
    pieces = [answer[a:b] for a, b in sentences(answer)]
    words = content_words(next((p for p in pieces if claim.text in p), answer))
    wanted = frozenset().union(*(kinds(figure) for figure in figures(claim.text)))
    best = (0, "", "")
    for passage in case.shown:
        for sentence, inside in figured_sentences(passage.text):
            common = len(words & vocabulary(sentence))
            if common > best[0] and any(kinds(other.figure) & wanted for other in inside):
                best = (common, passage.pid, sentence)
    return Claim(claim.text, claim.status, best[1], best[2])


def _named(answer: str, asked: Sequence[str], case: Case) -> Iterator[Claim]:
    """Names of the answer that the passages spell otherwise."""
    held = frozenset().union(
        *(vocabulary(text) for text in (*asked, *(p.text for p in case.shown)))
    )
    told = [(name, p.pid) for p in case.shown for a, b in sentences(p.text)
            for name in names(p.text[a:b])]  # fmt: skip
    for sentence in claims_in(answer, frozenset(case.entry.shown or ())):
        for name in sorted(names(sentence) - held):
            near = [(SequenceMatcher(None, name, other).ratio(), other, pid) for other, pid in told]
            likeness, other, pid = max(near, default=(0.0, "", ""))
            if likeness >= _NAMED_ALIKE:
                yield Claim(_spelled(name, sentence), "contradicted", pid, _spelled(other, *(
                    p.text for p in case.shown if p.pid == pid)))  # fmt: skip


def _spelled(word: str, *texts: str) -> str:
    """A word as a text writes it."""
    for text in texts:
        found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
        if found:
            return found[0]
    return word
