"""A researcher's own gate, as a plain function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragablate.failures import RAISED, failure_of
from ragablate.functions import function_problems, function_version, load_function
from ragablate.gate.signals import OUTCOMES, signals_of
from ragablate.protocols import GateRequest
from ragablate.records import Corpus, Failure, GateDecision, Item


class FunctionGate:
    """What a function ``(question, passages, signals) -> outcome or (outcome, reason)`` says.

    ``question`` is the question's text, ``passages`` are the ``Passage`` records of the ranking
    and ``signals`` the numbers of both rankings by name. The outcome is ``go``, ``refuse``,
    ``clarify`` or ``broaden``. An exception or another value fails that question only.

    Args:
        function: ``package.module:name``.
        version: What stands for the function's source in the fingerprint; empty takes a hash of
            its source.
        args: Further keyword arguments for the function.
    """

    def __init__(
        self, function: str, version: str = "", args: Mapping[str, Any] | None = None
    ) -> None:
        self.function = function
        self.version = version
        self.args = args

    def problems(self) -> list[str]:
        """A function that cannot be loaded."""
        return function_problems(self.function, "gate.function")

    def identity(self) -> dict[str, object]:
        """The function's version, or its source."""
        return {"version": function_version(self.function, self.version)}

    def decide(
        self, corpus: Corpus, requests: Sequence[GateRequest]
    ) -> Iterator[Item[GateDecision]]:
        """One call a question."""
        function = load_function(self.function, "gate.function")
        for request in requests:
            yield self._decided(function, corpus, request)

    def _decided(self, function: Any, corpus: Corpus, request: GateRequest) -> Item[GateDecision]:
        what = f"gate.function {self.function}"
        found = signals_of(request)
        try:
            passages = [corpus.by_pid[hit.pid] for hit in request.retrieved]
            said = function(request.question.text, passages, dict(found), **(self.args or {}))
        except RAISED as error:
            return Item(request.id, None, failure_of(error, what))
        outcome, reason = said if isinstance(said, tuple) and len(said) == 2 else (said, "")
        if outcome not in ("go", *OUTCOMES):
            wrong = f"{what} returned {said!r}, not go, {', '.join(OUTCOMES)}"
            return Item(request.id, None, Failure("pipeline", wrong))
        return Item(request.id, GateDecision(outcome, str(reason), found))
