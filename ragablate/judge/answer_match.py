"""How closely the answer's words match a reference answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.markers import marked_pids, without_markers
from ragablate.judge.outcome import Items, Measured, no_answer, same, verdicts
from ragablate.protocols import JudgeRequest
from ragablate.records import Measure
from ragablate.text.normalize import answer_tokens, holds_sequence, squad_normalize

_RULES = ("words", "squad")


class AnswerMatch:
    """``exact_match``, ``token_f1`` and ``contains``, each the best over the references.

    Exact match and F1 over the bag of tokens as Rajpurkar et al. (2016, "SQuAD: 100,000+
    Questions for Machine Comprehension of Text") define them; ``contains`` asks whether a
    reference occurs as a sequence of tokens. All are in [0, 1]. An abstention and an empty
    answer are 0. Unanswerable questions and those without a reference are unmeasured.

    Args:
        phrases: What counts as declining (see ``is_abstention``).
        normalization: ``words``: tokens for every script, one per letter where words are not
            spaced, citation markers apart. ``squad``: the English script of SQuAD to the
            letter, split at white space, markers left in.
    """

    cheap = True

    def __init__(self, phrases: Sequence[str] = (), normalization: str = "words") -> None:
        self.phrases = phrases
        self.normalization = normalization

    def problems(self) -> list[str]:
        """Phrases that can never be found, and an unknown normalization."""
        found = phrase_problems(self.phrases)
        if self.normalization not in _RULES:
            found.append(
                f"normalization is {self.normalization!r}: set it to one of {', '.join(_RULES)}"
            )
        return found

    def measures(self) -> tuple[Measure, ...]:
        """``exact_match``, ``token_f1``, ``contains``."""
        return (
            Measure("exact_match", "read", "exact matches"),
            Measure("token_f1", "read", "token F1"),
            Measure("contains", "read", "answers that hold a reference"),
        )

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """Three verdicts per request."""
        return verdicts(requests, self.measures(), self._measure)

    def _measure(self, request: JudgeRequest) -> dict[str, Measured]:
        trace, gold = request.trace, request.gold
        references = [text for text in gold.answers if text.strip()]
        if not gold.answerable:
            return same(self.measures(), (None, "unanswerable: there is nothing to match"))
        if not references:
            return same(self.measures(), (None, "no reference answer"))
        missing = no_answer(trace)
        if missing is not None:
            return same(self.measures(), missing)
        if is_abstention(trace, self.phrases):
            return same(self.measures(), (0.0, "abstained"))
        if trace.answer is None or not trace.answer.text.strip():
            return same(self.measures(), (0.0, "empty answer"))
        text = trace.answer.text
        if self.normalization == "words":
            text = without_markers(text, marked_pids(trace))
        answer = self._tokens(text)
        scored = [(reference, self._tokens(reference)) for reference in references]
        return {
            "exact_match": _best((float(answer == wanted), name) for name, wanted in scored),
            "token_f1": _best((_f1(answer, wanted), name) for name, wanted in scored),
            "contains": _best((float(_holds(answer, wanted)), name) for name, wanted in scored),
        }

    def _tokens(self, text: str) -> list[str]:
        return (
            squad_normalize(text).split() if self.normalization == "squad" else answer_tokens(text)
        )


def _best(scored: Iterable[tuple[float, str]]) -> Measured:
    value, reference = max(scored, key=lambda pair: pair[0])
    return value, f"closest reference {reference!r}" if value else "matches no reference"


def _holds(answer: list[str], wanted: list[str]) -> bool:
    return answer == wanted or holds_sequence(answer, wanted)


def _f1(answer: list[str], wanted: list[str]) -> float:
    """Twice the shared tokens over all tokens; 1 where both have none."""
    if not answer and not wanted:
        return 1.0
    shared = sum((Counter(answer) & Counter(wanted)).values())
    return 2 * shared / (len(answer) + len(wanted))
