"""Support by asking a chat model closed questions, whose answers have to be shown in a passage."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragablate.judge.claims import is_claim
from ragablate.judge.endpoint import (
    ChatEndpoint,
    filled,
    shipped,
    template_identity,
    template_problems,
)
from ragablate.judge.support import Ask
from ragablate.records import Answer, Claim, Failure
from ragablate.text.quotes import bare, quoted_in

_YES = re.compile(
    r"yes\s*[\[(]?\s*(?:passage\s*)?(\d{1,4})\s*[\])]?\s*[:,.–—-]*\s*(.+)", re.I | re.S
)
_NO = re.compile(r"no[.!]?", re.IGNORECASE)


class Llm:
    """``llm``: a chat model is asked whether one of the passages says that the claim is true, and
    where none does, whether one says that it is false.

    It has to answer NO, or YES with a passage's number and words copied from it. The words must
    occur in that passage, but for case, white space and quotation marks, and hold a content word
    or a figure. Anything else is unclear, and the claim unmeasured. The model sees the claim and
    the passages, not the question, the arm or the other claims.

    Args:
        endpoint: The model.
        supports: Prompt of the first question: a name in ``conf/judge/prompts``, or a path.
        contradicts: Prompt of the second question; ``None`` does not ask it, and no claim is
            found to be contradicted.
    """

    cheap = False

    def __init__(
        self,
        endpoint: ChatEndpoint,
        supports: str = "supports",
        contradicts: str | None = "contradicts",
    ) -> None:
        self.endpoint = endpoint
        self.supports = supports
        self.contradicts = contradicts

    def problems(self) -> list[str]:
        """What is wrong with the endpoint or a prompt; the endpoint is not asked."""
        return self.endpoint.problems() + template_problems(*self._prompts().values())

    def identity(self) -> dict[str, object]:
        """The prompts by their content."""
        return template_identity(**self._prompts())

    def _prompts(self) -> dict[str, str]:
        found = {"supports": self.supports, "contradicts": self.contradicts}
        return {knob: name for knob, name in found.items() if name is not None}

    def check(self, asks: Sequence[Ask]) -> list[Claim | Failure]:
        """What the passages say of each claim; a failure where the endpoint was not reached.

        Raises:
            AdapterError: As ``ChatEndpoint.ask``.
        """
        found: dict[Ask, Claim | Failure] = {}
        open_ = [ask for ask in dict.fromkeys(asks) if ask.passages]
        if open_:
            found = self._asked(open_, self.supports, "supported")
        open_ = [ask for ask in open_ if _said_no(found[ask])]
        if open_ and self.contradicts is not None:
            found |= self._asked(open_, self.contradicts, "contradicted")
        return [found.get(ask, Claim(ask.claim, "unsupported")) for ask in asks]

    def _asked(self, asks: Sequence[Ask], prompt: str, yes: str) -> dict[Ask, Claim | Failure]:
        template = shipped(prompt)
        prompts = [filled(template, a.claim, [p.text for p in a.passages]) for a in asks]
        said = self.endpoint.ask(prompts)
        return {ask: _claim(ask, reply, yes) for ask, reply in zip(asks, said, strict=True)}


def _said_no(found: Claim | Failure) -> bool:
    return isinstance(found, Claim) and found.status == "unsupported"


def _claim(ask: Ask, said: Answer | Failure, yes: str) -> Claim | Failure:
    if isinstance(said, Failure):
        return said if said.kind == "judge" else Claim(ask.claim, "unclear", "", said.message)
    text = said.text.strip()
    if _NO.fullmatch(text):
        return Claim(ask.claim, "unsupported")
    match = _YES.fullmatch(text)
    number = int(match[1]) if match else 0
    if match is None or not 1 <= number <= len(ask.passages):
        return Claim(ask.claim, "unclear")
    passage, quote = ask.passages[number - 1], bare(match[2])
    if not is_claim(quote) or not quoted_in(quote, passage.text):
        return Claim(ask.claim, "unclear")
    return Claim(
        ask.claim, "supported" if yes == "supported" else "contradicted", passage.pid, quote
    )
