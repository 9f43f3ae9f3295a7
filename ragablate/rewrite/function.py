"""A researcher's own rewriter, as a plain function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ragablate.failures import RAISED, failure_of
from ragablate.functions import function_problems, function_version, load_function
from ragablate.protocols import RewriteRequest
from ragablate.records import Failure, Item, Searches
from ragablate.rewrite.wording import check, fusion_problems

_WHERE = "rewriter.function"


class FunctionRewriter:
    """Searches of a function ``(question, history) -> search or list of searches``.

    ``question`` is the question's text and ``history`` its earlier turns, oldest first, each
    with ``speaker`` and ``text``. Where the function has parameters of these names it also
    gets ``round`` (how often the question was searched before), ``passages`` (records of what
    was found, best first) and ``broaden`` (whether a gate asked for a broader search). Several
    searches are fused by the pipeline; an empty list searches nothing.

    With ``rounds`` above 1 it is called again with what was found, until it returns nothing
    new or the rounds are used up. An exception or a wrong return value fails that question
    only: ``OSError`` is unmeasured and tried again, anything else is an outcome.

    Args:
        function: ``package.module:name``.
        rounds: How often a question is searched at most.
        k: How much the fusion of several searches levels the top ranks: see
            ``rewriter=decompose``.
        version: What stands for the function's source in the fingerprint; change it when
            the function comes to answer otherwise. Empty takes a hash of its source.
        args: Further keyword arguments for the function.
    """

    def __init__(
        self,
        function: str,
        rounds: int = 1,
        k: int = 60,
        version: str = "",
        args: Mapping[str, Any] | None = None,
    ) -> None:
        self.function = function
        self.rounds = rounds
        self.k = k
        self.version = version
        self.args = args

    def problems(self) -> list[str]:
        """A function that cannot be found, a number of rounds without a meaning."""
        return self._knobs() + function_problems(self.function, _WHERE)

    def identity(self) -> dict[str, object]:
        """The function's version, or its source."""
        return {"version": function_version(self.function, self.version)}

    def rewrite(self, requests: Sequence[RewriteRequest]) -> Iterator[Item[Searches]]:
        """Rewrite one question after the other; raises AdapterError for a meaningless knob."""
        check(self._knobs())
        function = load_function(self.function, _WHERE)
        accepts = _accepted(function)
        for request in requests:
            yield self._rewrite(function, accepts, request)

    def _knobs(self) -> list[str]:
        if isinstance(self.rounds, int) and not isinstance(self.rounds, bool) and self.rounds >= 1:
            return fusion_problems(self.k)
        return [f"rounds is {self.rounds!r}: give a number from 1"]

    def _rewrite(
        self, function: Callable[..., Any], accepts: frozenset[str], request: RewriteRequest
    ) -> Item[Searches]:
        offered = {
            "round": request.round,
            "passages": list(request.passages),
            "broaden": request.broaden,
        }
        extra = {key: value for key, value in offered.items() if key in accepts}
        what = f"{_WHERE} {self.function}"
        try:
            question = request.question
            said = function(question.text, question.history, **{**extra, **(self.args or {})})
            texts = (said,) if isinstance(said, str) else tuple(said)
        except RAISED as error:
            return Item(request.id, None, failure_of(error, what))
        if not all(isinstance(text, str) for text in texts):
            reason = f"{what} returned something other than a text or a list of texts"
            return Item(request.id, None, Failure("pipeline", reason))
        # A subclass, such as NumPy's, has its own idea of what it is; stored is the text.
        plain = tuple(dict.fromkeys(str.__str__(text) for text in texts))
        final = not plain or request.round + 1 >= self.rounds
        return Item(request.id, Searches(plain, final, self.k))


def _accepted(function: Callable[..., Any]) -> frozenset[str]:
    """Names of the function's parameters; none where it does not tell."""
    try:
        return frozenset(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return frozenset()
