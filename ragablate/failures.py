"""Turning an exception of user code into the failure of one item."""

from __future__ import annotations

from ragablate.functions import one_line
from ragablate.records import Failure, FailureKind

RAISED = (Exception, SystemExit, GeneratorExit)
"""What user code may raise without more than its own item failing: all but an interrupt."""


UNASKED = "the judge could not be asked"
"""Begins the reason of a verdict that is missing because a judge's endpoint was not reached."""


def failure_of(error: BaseException, what: str) -> Failure:
    """Why one item has no value.

    Args:
        error: What user code raised. ``OSError`` and with it timeouts and lost connections
            are infrastructure, asked again by the next execution; anything else is an
            outcome of the pipeline.
        what: Whose code it was, such as ``reader.function my_rag:answer``.
    """
    kind: FailureKind = "infrastructure" if isinstance(error, OSError) else "pipeline"
    return Failure(kind, f"{what} raised {one_line(error)}")
