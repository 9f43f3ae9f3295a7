"""A reader that is asked whether what was found answers the question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ragablate.errors import AdapterError
from ragablate.gate.signals import FIRST_RERANKED, OUTCOMES, signals_of, unmeasured
from ragablate.judge.claims import is_claim
from ragablate.protocols import GateRequest, Reader
from ragablate.read.asking import ask
from ragablate.read.templates import Template
from ragablate.records import (
    Answer,
    Context,
    ContextPassage,
    Corpus,
    Failure,
    GateDecision,
    Item,
    Passage,
    Prompt,
)
from ragablate.text.quotes import bare, quoted_in

_PASSAGE = "<passage {n}>\n{text}\n</passage {n}>"
_YES = re.compile(r"yes\s*[:,.–—-]*\s*(.+)", re.IGNORECASE | re.DOTALL)
_NO = re.compile(r"no(?:\s*[.!]?|\s*[:–—-]\s*(?P<lacking>.+))", re.IGNORECASE)
_FAR = "No passage is near enough to this question to answer from."
_NONE = "None of the passages that were found answers this question."


class RelevanceRead:
    """Goes on where a reader says that a passage answers the question and quotes it.

    The reader has to reply YES with words copied from a passage, or NO, perhaps with what is
    missing. The words must occur in one of the passages it was shown, but for case, white space
    and quotation marks, and hold a content word or a figure. Any other reply is unclear: a
    failure of the gate, which scores 0. A reader that could not be asked leaves the question
    unmeasured. A question with nothing found is refused without asking.

    In the signals, ``answers`` is 1 or 0, and ``quoted`` the place of the quoted passage in the
    ranking, from 1.

    Args:
        reader: Who is asked.
        system: Its instruction.
        user: What it is given; ``{question}`` and ``{passages}``, and where wanted
            ``{history}``, are filled in.
        first: How many passages it is shown, from the best, 1 to 20.
        floor: Least score of the best candidate; a question below it is refused without asking.
            ``None`` asks always.
        below: What happens where the reader says no: ``refuse``, ``clarify`` or ``broaden``.
        seed: Of the reader's decoding.
        calibrated_for: Fingerprints of the stages the floor was found with.
    """

    def __init__(
        self,
        reader: Reader,
        system: str,
        user: str,
        first: int = 5,
        floor: float | None = None,
        below: str = "refuse",
        seed: int = 0,
        calibrated_for: Mapping[str, str] | None = None,
    ) -> None:
        self.reader = reader
        self.system = system
        self.user = user
        self.first = first
        self.floor = floor
        self.below = below
        self.seed = seed
        self.calibrated_for = calibrated_for

    @property
    def decides_on(self) -> tuple[str, ...]:
        """The retriever's score, where it has a floor."""
        return () if self.floor is None else ("top",)

    def problems(self) -> list[str]:
        """Wordings without their placeholders, knobs without a meaning."""
        found = [
            f"user has no {{{name}}}: put it where it belongs"
            for name in ("question", "passages")
            if f"{{{name}}}" not in self.user
        ]
        if "{passages}" in self.system:
            found.append("system holds {passages}: put them into user")
        whole = isinstance(self.first, int) and not isinstance(self.first, bool)
        if not whole or not 1 <= self.first <= FIRST_RERANKED:
            found.append(f"first is {self.first!r}: give a number of passages from 1 to 20")
        number = isinstance(self.floor, int | float) and not isinstance(self.floor, bool)
        if self.floor is not None and not number:
            found.append(f"floor is {self.floor!r}: give a number, or null")
        if self.below not in OUTCOMES:
            found.append(f"below is {self.below!r}: give {', '.join(OUTCOMES)}")
        return found

    def decide(
        self, corpus: Corpus, requests: Sequence[GateRequest]
    ) -> Iterator[Item[GateDecision]]:
        """One decision a question; failures are the reader's, or an unclear reply.

        Raises:
            AdapterError: A knob has no meaning, or the reader cannot be asked.
        """
        for problem in self.problems():
            raise AdapterError(f"gate: {problem}")
        shown = {r.id: [corpus.by_pid[hit.pid] for hit in r.retrieved[: self.first]]
                 for r in requests}  # fmt: skip
        early = {r.id: decision for r in requests if (decision := self._early(r)) is not None}
        prompts = {r.id: self._prompt(r, shown[r.id]) for r in requests if r.id not in early}
        answers = ask(self.reader, prompts, self.seed)
        for request in requests:
            if request.id in early:
                yield Item(request.id, early[request.id])
            else:
                yield self._decided(request, answers[request.id], shown[request.id])

    def _early(self, request: GateRequest) -> GateDecision | None:
        """The decision about a question that nobody has to be asked about."""
        found = signals_of(request)
        if self.floor is not None:
            found["top_floor"] = self.floor
        if not request.retrieved or "top" not in found:
            return unmeasured(request, self.below, found)
        if self.floor is not None and found["top"] < self.floor:
            return GateDecision("refuse", _FAR, found)
        return None

    def _prompt(self, request: GateRequest, shown: Sequence[Passage]) -> Prompt:
        template = Template("", "", (("system", self.system), ("user", self.user)), _PASSAGE)
        context = Context(tuple(ContextPassage(p.pid, _titled(p), p.text) for p in shown))
        return template.render(request.question, context, "")

    def _decided(
        self, request: GateRequest, answer: Item[Answer], shown: Sequence[Passage]
    ) -> Item[GateDecision]:
        if answer.value is None:
            failure = answer.failure or Failure("pipeline", "the reader gave no answer")
            message = f"gate.reader: {failure.message}"
            return Item(request.id, None, Failure(failure.kind, message))
        told = signals_of(request)
        if self.floor is not None:
            told["top_floor"] = self.floor
        text = answer.value.text.strip()
        no = _NO.fullmatch(text)
        if no:
            lacking = (no["lacking"] or "").strip()
            reason = f"The passages that were found do not say: {lacking}" if lacking else _NONE
            decision = GateDecision(self.below, reason, {**told, "answers": 0.0})  # type: ignore[arg-type]
            return Item(request.id, decision)
        place = _quoted(text, shown)
        if not place:
            reason = "the gate's reader replied neither NO nor YES with words of a passage"
            return Item(request.id, None, Failure("pipeline", reason))
        return Item(request.id, GateDecision("go", "", {**told, "answers": 1.0, "quoted": place}))


def _quoted(text: str, shown: Sequence[Passage]) -> float:
    """The place of the first passage that a yes quotes, from 1; 0 where it quotes none."""
    match = _YES.fullmatch(text)
    quote = bare(match[1]) if match else ""
    if not is_claim(quote):
        return 0.0
    places = (n for n, p in enumerate(shown, 1) if quoted_in(quote, _titled(p)))
    return float(next(places, 0))


def _titled(passage: Passage) -> str:
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text
