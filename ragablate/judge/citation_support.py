"""Whether the passages an answer cites carry what they are cited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragablate.judge.batches import Batched, Wanted
from ragablate.judge.claims import is_claim
from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.figures import bulleted
from ragablate.judge.markers import marked_pids, resolve, statements
from ragablate.judge.outcome import Detailed, Items, Measured, unspoken
from ragablate.judge.support import Ask, Support, joined
from ragablate.protocols import JudgeRequest
from ragablate.records import Claim, ContextPassage, Measure, Trace
from ragablate.text.clauses import clauses

_Held = Literal["yes", "no", "unclear"]


class CitationSupport:
    """``citation_recall`` and ``citation_precision``, both in [0, 1].

    The definitions are those of Gao et al. (2023, "Enabling Large Language Models to Generate
    Text with Citations", section 3, "ALCE"). A statement is a sentence with a content word or a
    figure; it is entailed by passages where these, read as one text, support every claim in it.

    * ``citation_recall``: share of the statements that cite something and are entailed by all
      they cite together.
    * ``citation_precision``: share of the citations that count. One counts where its statement
      has recall and it is not irrelevant; it is irrelevant where it does not entail the statement
      alone and the others do without it.

    A marker that points nowhere is a citation of an empty text, so that it never counts; the
    reason names it. A passage cited twice by one statement is one citation. ``support`` decides;
    recall keeps what it said of each claim of the statements that cite.

    Unmeasured: abstentions, failed answers and answers without a statement; precision also
    without a citation; either where the judge gave no usable answer that it depends on.

    Args:
        support: What decides; ``ragablate.judge.lexical.Lexical`` without a model.
        phrases: What counts as declining (see ``is_abstention``).
    """

    def __init__(self, support: Support, phrases: Sequence[str] = ()) -> None:
        self.support = support
        self.phrases = phrases

    @property
    def cheap(self) -> bool:
        """As what decides."""
        return self.support.cheap

    def problems(self) -> list[str]:
        """Phrases that can never be found; what decides says its own."""
        return phrase_problems(self.phrases)

    def measures(self) -> tuple[Measure, ...]:
        """``citation_recall``, ``citation_precision``."""
        return (
            Measure("citation_recall", "read", "statements that their citations support"),
            Measure("citation_precision", "read", "citations that support their statement"),
        )

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """Two verdicts per request."""
        return Batched(self.support, self.measures(), self._wanted).judge(requests)

    def _wanted(self, request: JudgeRequest) -> Wanted:
        trace = request.trace
        missing = unspoken(trace, is_abstention(trace, self.phrases))
        said = [] if missing is not None else _cited(trace)
        if missing is not None or not said:
            return Wanted.settled(self.measures(), missing or (None, "no statement"))
        asks = list(dict.fromkeys(ask for each in said for ask in each.asks()))
        return Wanted(asks, lambda found: _measured(said, dict(zip(asks, found, strict=True))))


@dataclass(frozen=True, slots=True)
class _Statement:
    """One statement and what it cites."""

    claims: tuple[str, ...]
    cited: tuple[ContextPassage, ...]
    astray: tuple[str, ...]
    """Markers that point nowhere, as written."""

    def asks(self) -> list[Ask]:
        """All that recall and precision may depend on."""
        sides = [self.cited] if self.cited else []
        if len(self.cited) > 1:
            sides += [(one,) for one in self.cited]
        if len(self.cited) > 2:
            sides += [self._others(one) for one in self.cited]
        return [ask for side in sides for ask in self._asked(side)]

    def together(self, found: Mapping[Ask, Claim]) -> list[Claim]:
        """What all it cites says of each of its claims."""
        return [found[ask] for ask in self._asked(self.cited)] if self.cited else []

    def recall(self, found: Mapping[Ask, Claim]) -> _Held:
        """Whether all it cites entails it."""
        return _all_held(self.together(found)) if self.cited else "no"

    def precision(self, found: Mapping[Ask, Claim]) -> dict[str, _Held]:
        """Of each citation, whether it counts."""
        recall = self.recall(found)
        precise: dict[str, _Held] = dict.fromkeys(self.astray, "no")
        for one in self.cited:
            needed = len(self.cited) == 1 or recall != "yes"
            precise[one.pid] = recall if needed else self._counts(one, found)
        return precise

    def _counts(self, one: ContextPassage, found: Mapping[Ask, Claim]) -> _Held:
        """Whether one of several citations that together entail it is not irrelevant."""
        alone = _all_held([found[ask] for ask in self._asked((one,))])
        rest = _all_held([found[ask] for ask in self._asked(self._others(one))])
        if alone == "yes" or rest == "no":
            return "yes"
        return "no" if (alone, rest) == ("no", "yes") else "unclear"

    def _others(self, one: ContextPassage) -> tuple[ContextPassage, ...]:
        return tuple(other for other in self.cited if other is not one)

    def _asked(self, side: tuple[ContextPassage, ...]) -> list[Ask]:
        return [Ask(claim, (joined(side),)) for claim in self.claims]


def _cited(trace: Trace) -> list[_Statement]:
    """The statements of an answer, in order."""
    answer = trace.answer.text if trace.answer is not None else ""
    shown = {passage.pid: passage for passage in reversed(trace.context.passages)}
    pids = [passage.pid for passage in trace.context.passages]
    found = []
    for statement in statements(bulleted(answer), marked_pids(trace)):
        said = tuple(clause for clause in clauses(statement.text) if is_claim(clause))
        items = dict.fromkeys(statement.items)
        aimed = {item: resolve(item, pids) for item in items}
        cited = dict.fromkeys(pid for pid in aimed.values() if pid is not None)
        if said:
            astray = tuple(item for item, pid in aimed.items() if pid is None)
            found.append(_Statement(said, tuple(shown[pid] for pid in cited), astray))
    return found


def _all_held(found: Sequence[Claim]) -> _Held:
    if any(claim.status in ("unsupported", "contradicted") for claim in found):
        return "no"
    return "unclear" if any(claim.status == "unclear" for claim in found) else "yes"


def _measured(
    said: Sequence[_Statement], found: Mapping[Ask, Claim]
) -> dict[str, Measured | Detailed]:
    held = [statement.recall(found) for statement in said]
    judged = tuple(claim for statement in said for claim in statement.together(found))
    bare = sum(not (statement.cited or statement.astray) for statement in said)
    recall, reason = _share(held, "statements are supported by what they cite")
    reason += f"; {bare} cite nothing" if bare and recall is not None else ""
    return {
        "citation_recall": (recall, reason, judged),
        "citation_precision": _precision([statement.precision(found) for statement in said], said),
    }


def _precision(precise: Sequence[Mapping[str, _Held]], said: Sequence[_Statement]) -> Measured:
    every = [held for each in precise for held in each.values()]
    if not every:
        return None, "no citation"
    value, reason = _share(every, "citations support their statement")
    idle = dict.fromkeys(c.pid for s, each in zip(said, precise, strict=True) for c in s.cited
                         if each[c.pid] == "no")  # fmt: skip
    astray = dict.fromkeys(item for statement in said for item in statement.astray)
    for lead, names in (("does not count", idle), ("points nowhere", astray)):
        reason += f"; {lead}: {', '.join(names)}" if names and value is not None else ""
    return value, reason


def _share(held: Sequence[_Held], what: str) -> Measured:
    unclear = held.count("unclear")
    if unclear:
        return None, f"the judge gave no usable answer on {unclear} of {len(held)}"
    return held.count("yes") / len(held), f"{held.count('yes')} of {len(held)} {what}"
