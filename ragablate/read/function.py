"""A researcher's own reader, as a plain function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ragablate.failures import RAISED, failure_of
from ragablate.functions import function_problems, function_version, load_function
from ragablate.read.evidence import show, shown
from ragablate.records import Answer, Context, Failure, Item, Prompt, Question, ReadRequest

_INSTRUCTION = "Answer the question from the passages."
_WHERE = "reader.function"


class FunctionReader:
    """Answers of a function ``(question, passages) -> answer``.

    ``question`` is the question's text and ``passages`` are the texts of the context as the
    assembler shows them, headers included, in prompt order; there may be none. Where the
    function has parameters of these names it also gets ``prompt`` (the whole prompt as
    text, with earlier turns) and ``seed`` (of this decode, the same in every arm). It
    returns the answer's text, or an ``Answer``.

    An exception fails that answer only: timeouts, lost connections and other ``OSError`` are
    unmeasured and tried again, anything else is an outcome that scores 0.

    Args:
        function: ``package.module:name``.
        stochastic: Whether equal inputs may give different answers; it should then use
            ``seed``.
        remote: Whether it asks a model elsewhere, which may change without notice.
        sentinel: An answer that is exactly this text, white space around it apart, is an
            abstention; empty knows none.
        version: What stands for the function's source in the fingerprint; change it when
            the function comes to answer otherwise. Empty takes a hash of its source.
        args: Further keyword arguments for the function.
    """

    def __init__(
        self,
        function: str,
        stochastic: bool = False,
        remote: bool = False,
        sentinel: str = "",
        version: str = "",
        args: Mapping[str, Any] | None = None,
    ) -> None:
        self.function = function
        self.stochastic = stochastic
        self.remote = remote
        self.sentinel = sentinel
        self.version = version
        self.args = args

    def problems(self) -> list[str]:
        """A function that cannot be found."""
        return function_problems(self.function, _WHERE)

    def identity(self) -> dict[str, object]:
        """The function's version, or its source."""
        return {"version": function_version(self.function, self.version)}

    def prompt(self, question: Question, context: Context) -> Prompt:
        """Instruction, numbered passages, earlier turns, question."""
        return show(question, context, _INSTRUCTION)

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """One call a decode, one after the other."""
        function = load_function(self.function, _WHERE)
        accepts = _accepted(function)
        for request in requests:
            yield self._read(function, accepts, request)

    def _read(
        self, function: Callable[..., Any], accepts: frozenset[str], request: ReadRequest
    ) -> Item[Answer]:
        prompt = request.prompt
        offered = {
            "seed": request.seed,
            "prompt": "".join(segment.text for segment in prompt.segments),
        }
        extra = {key: value for key, value in offered.items() if key in accepts}
        passages = [passage.text for passage in shown(prompt)]
        what = f"{_WHERE} {self.function}"
        try:
            said = function(prompt.question, passages, **{**extra, **(self.args or {})})
        except RAISED as error:
            return Item(request.id, None, failure_of(error, what))
        if isinstance(said, Answer):
            return Item(request.id, said)
        if not isinstance(said, str):
            reason = f"{what} returned a {type(said).__name__}, not the text of an answer"
            return Item(request.id, None, Failure("pipeline", reason))
        declined = bool(self.sentinel) and said.strip() == self.sentinel.strip()
        # A subclass, such as NumPy's, has its own idea of what it is; stored is the text.
        text = str.__str__(said)
        return Item(request.id, Answer(text, abstained=declined, model=self.function))


def _accepted(function: Callable[..., Any]) -> frozenset[str]:
    """Names of the function's parameters; none where it does not tell."""
    try:
        return frozenset(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return frozenset()
