"""What the outcomes of many requests say about the endpoint they were made to."""

from __future__ import annotations

from ragablate.errors import AdapterError
from ragablate.read.http_reply import Unexplained
from ragablate.records import Answer, Failure, Item

_TELLING = 20
"""Requests in a row without an answer that tell something of the endpoint."""
_ALONE = 3
"""Unexplained refusals that tell as much, where there was nothing else."""


class EndpointError(AdapterError):
    """The endpoint answers nothing any more, or never did."""

    exit_code = 1


class Settling:
    """Explains those refusals of one reader's requests that the endpoint left unexplained.

    Once anything was answered, the endpoint can be asked as it is, so the prompt must be the
    reason: an outcome of the pipeline. Until then a refusal is held back, since an endpoint
    that rejects a setting refuses every prompt.

    Args:
        places: How many requests are open at once: that many may fail before one that was
            made earlier is answered.
    """

    def __init__(self, places: int) -> None:
        self._telling = max(_TELLING, 2 * places)
        self._held: list[tuple[str, Unexplained]] = []
        self._answered = False
        self._failed = 0
        self._last = ""

    def take(self, request_id: str, got: Answer | Failure | Unexplained) -> list[Item[Answer]]:
        """The items that can be given out after what came of one more request.

        Raises:
            AdapterError: Nothing was answered and everything refused.
        """
        if isinstance(got, Answer):
            ready = [_outcome(*each) for each in self._held]
            self._held, self._answered, self._failed = [], True, 0
            return [*ready, Item(request_id, got)]
        if isinstance(got, Unexplained):
            if self._answered:
                return [_outcome(request_id, got)]
            self._held.append((request_id, got))
            if len(self._held) >= self._telling:
                raise _refused(got)
            return []
        if got.kind == "infrastructure":
            self._failed += 1
            self._last = got.message
        return [Item(request_id, None, got)]

    def check(self) -> None:
        """Go on only where there is hope; asked once the items are given out.

        Raises:
            EndpointError: So many requests in a row failed that the rest would too.
        """
        if self._failed >= self._telling:
            raise EndpointError(
                f"reader: {self._failed} requests in a row got no answer, the last one because "
                f"{self._last}; finished work is kept, the same command resumes"
            )

    def finish(self) -> list[Item[Answer]]:
        """What is still held back when there is nothing more to come: unmeasured.

        Raises:
            AdapterError: Nothing was answered and everything refused.
        """
        if len(self._held) >= _ALONE:
            raise _refused(self._held[-1][1])
        return [
            Item(request_id, None, Failure("infrastructure", got.message))
            for request_id, got in self._held
        ]


def _refused(got: Unexplained) -> AdapterError:
    return AdapterError(
        f"reader: {got.message}; it refuses every request, so a setting must be the reason"
    )


def _outcome(request_id: str, got: Unexplained) -> Item[Answer]:
    return Item(request_id, None, Failure("pipeline", got.message))
