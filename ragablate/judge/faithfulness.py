"""Whether what the answer claims stands in the given context; lexical, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ragablate.judge.content import content_words, denies, names, vocabulary
from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.figures import bulleted, facts, figures, stated
from ragablate.judge.markers import known_pids, statements
from ragablate.judge.outcome import Items, Measured, unspoken, verdicts
from ragablate.protocols import JudgeRequest
from ragablate.records import ContextPassage, Measure, Trace


class Faithfulness:
    """``faithfulness``: share of the answer's claims that the given context supports.

    The definition is that of Es et al. (2023, "RAGAs"); asking one passage to carry a claim is
    the citation view of Gao et al. (2023, "ALCE"). A claim is a sentence with a content word
    or a figure. One passage supports it, its header included, if it holds at least
    ``threshold`` of the claim's content words, all its names and all its figures, and a word
    of denial where the claim has one. In [0, 1]; without any passage every claim is
    unsupported.

    Words are compared, not meanings: a paraphrase counts as unsupported, a claim that a
    passage denies in the claim's own words as supported, and a claim that needs two passages
    as unsupported. Abstentions, failed answers and answers without a claim (yes, no, nothing)
    are unmeasured.

    Args:
        phrases: What counts as declining (see ``is_abstention``).
        threshold: Share of a claim's content words that one passage must hold, in (0, 1].
        match_names: Whether every capitalised word behind the first must be held, too.
    """

    cheap = True

    def __init__(
        self, phrases: Sequence[str] = (), threshold: float = 0.8, match_names: bool = True
    ) -> None:
        self.phrases = phrases
        self.threshold = threshold
        self.match_names = match_names

    def problems(self) -> list[str]:
        """Phrases that can never be found, and a threshold out of range."""
        found = phrase_problems(self.phrases)
        if not 0 < self.threshold <= 1:
            found.append(f"threshold is {self.threshold}: set it above 0 and up to 1")
        return found

    def measures(self) -> tuple[Measure, ...]:
        """``faithfulness``."""
        return (Measure("faithfulness", "read", "supported claims"),)

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """One verdict per request."""
        return verdicts(
            requests, self.measures(), lambda r: {"faithfulness": self._measure(r.trace)}
        )

    def _measure(self, trace: Trace) -> Measured:
        missing = unspoken(trace, is_abstention(trace, self.phrases))
        if missing is not None or trace.answer is None:
            return missing or (None, "no answer was recorded")
        said = statements(bulleted(trace.answer.text), known_pids(trace))
        claims = [s.text for s in said if is_claim(s.text)]
        if not claims:
            return None, "no claim"
        support = [self.supporting(claim, trace.context.passages) for claim in claims]
        held = sum(pid is not None for pid in support)
        return held / len(claims), _reason(support)

    def supporting(self, claim: str, passages: Sequence[ContextPassage]) -> str | None:
        """The pid of the passage that holds most of ``claim``, ties by pid, if one supports it."""
        words = content_words(claim)
        required = names(claim) if self.match_names else frozenset[str]()
        numbers, denied = figures(claim), denies(claim)
        best: tuple[float, str] | None = None
        for passage in passages:
            held = vocabulary(passage.text)
            share = len(words & held) / len(words) if words else 1.0
            if share < self.threshold or not required <= held or denied > denies(passage.text):
                continue
            said = facts(passage.text)
            if all(stated(figure, said) for figure in numbers):
                best = min(best or (1.0, passage.pid), (-share, passage.pid))
        return best[1] if best else None


@lru_cache(maxsize=4096)
def is_claim(sentence: str) -> bool:
    """Whether a sentence says something that could be supported: a content word or a figure."""
    return bool(content_words(sentence) or figures(sentence))


def _reason(support: Sequence[str | None]) -> str:
    pids = sorted({pid for pid in support if pid is not None})
    lost = sum(pid is None for pid in support)
    held = f"supported by {', '.join(pids)}" if pids else "supported by no passage"
    return f"{held}; {lost} of {len(support)} claims unsupported" if lost else held
