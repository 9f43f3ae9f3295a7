"""The primary measure, by a chat model that grades against the references."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.endpoint import (
    ChatEndpoint,
    filled,
    shipped,
    template_identity,
    template_problems,
)
from ragablate.judge.markers import marked_pids, without_markers
from ragablate.judge.outcome import Items, Measured, item, no_answer
from ragablate.protocols import JudgeRequest
from ragablate.records import Answer, Failure, Item, Measure, Prompt

_GRADE = re.compile(r"\W*(right|wrong|not[ _-]attempted)\W*", re.IGNORECASE)
_TOGETHER = 64


class CorrectLlm:
    """``correct``: a chat model grades each answer as right, wrong or not attempted.

    The grades are those of Wei et al. (2024, "Measuring short-form factuality in large language
    models"). An answerable question is worth 1 where its answer is right, an unanswerable one
    where it is not attempted. Each answer is graded by itself, against the references in sorted
    order and without its citation markers: no other answer, no arm, no passage and no position is
    seen. Abstentions by rule, empty answers and failures are worth what the rule says and are not
    sent. A reply that is none of the three grades is unmeasured, as is an answer that the
    endpoint did not grade.

    Args:
        endpoint: The model.
        prompt: A name in ``conf/judge/prompts``, or a path.
        phrases: What counts as declining (see ``is_abstention``).
    """

    cheap = False

    def __init__(
        self, endpoint: ChatEndpoint, prompt: str = "correct", phrases: Sequence[str] = ()
    ) -> None:
        self.endpoint = endpoint
        self.prompt = prompt
        self.phrases = phrases

    def problems(self) -> list[str]:
        """Phrases that can never be found, and what is wrong with the prompt."""
        return phrase_problems(self.phrases) + template_problems(self.prompt)

    def identity(self) -> dict[str, object]:
        """The prompt by its content."""
        return template_identity(prompt=self.prompt)

    def measures(self) -> tuple[Measure, ...]:
        """``correct``."""
        return (Measure("correct", "read", "right answers"),)

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """One verdict per request, in order, as every batch is graded.

        Raises:
            AdapterError: As ``ChatEndpoint.ask``.
        """
        for start in range(0, len(requests), _TOGETHER):
            yield from self._batch(requests[start : start + _TOGETHER])

    def _batch(self, requests: Sequence[JudgeRequest]) -> Items:
        ruled = {r.id: self._ruled(r) for r in requests}
        open_ = [r for r in requests if ruled[r.id] is None]
        said = self.endpoint.ask([self._prompt(r) for r in open_]) if open_ else []
        graded = dict(zip([r.id for r in open_], said, strict=True))
        for request in requests:
            reply = graded.get(request.id)
            if isinstance(reply, Failure) and reply.kind == "judge":
                yield Item(request.id, None, reply)
            else:
                value = ruled[request.id] or _graded(reply, request.gold.answerable)
                yield item(request, self.measures(), {"correct": value})

    def _ruled(self, request: JudgeRequest) -> Measured | None:
        """What needs no grade."""
        trace, gold = request.trace, request.gold
        if gold.answerable and not any(text.strip() for text in gold.answers):
            return None, "no reference answer"
        missing = no_answer(trace)
        if missing is not None:
            return missing
        if is_abstention(trace, self.phrases):
            return (0.0 if gold.answerable else 1.0), "not attempted: abstained"
        if trace.answer is None or not trace.answer.text.strip():
            return 0.0, "empty answer"
        return None

    def _prompt(self, request: JudgeRequest) -> Prompt:
        trace, gold = request.trace, request.gold
        text = trace.answer.text if trace.answer is not None else ""
        references = (
            sorted({t.strip() for t in gold.answers if t.strip()}) if gold.answerable else []
        )
        answer = without_markers(text, marked_pids(trace))
        asked = " ".join([*(f"{t.speaker}: {t.text}" for t in trace.history), trace.question])
        return filled(shipped(self.prompt), asked, [answer, *references])


def _graded(reply: Answer | Failure | None, answerable: bool) -> Measured:
    if not isinstance(reply, Answer):
        return None, f"the judge gave no grade: {reply.message if reply else 'no reply'}"
    match = _GRADE.fullmatch(reply.text)
    grade = re.sub(r"[\W_]", " ", match[1]).lower() if match else ""
    if not grade or (grade == "right" and not answerable):
        return None, "the judge gave no usable grade"
    return float(grade == ("right" if answerable else "not attempted")), f"graded {grade}"
