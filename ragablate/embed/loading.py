"""Loading models with sentence-transformers, quietly and from this machine alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ragablate.embed.models import Located
from ragablate.errors import AdapterError
from ragablate.functions import one_line


def load(what: str, located: Located, make: Callable[..., Any], **options: Any) -> Any:
    """A model in single precision, ready to answer.

    Args:
        what: Name of the model, for messages.
        located: Where it lies.
        make: ``SentenceTransformer`` or ``CrossEncoder``.
        options: Further arguments of ``make``.

    Raises:
        AdapterError: The model cannot be loaded.
    """
    try:
        with quiet():
            model = make(str(located.folder), local_files_only=True, **options)
        # Half precision would make an answer depend on the batch far above rounding.
        return model.float().eval()
    except Exception as error:
        raise AdapterError(
            f"the model '{what}' cannot be loaded from {located.folder}: {one_line(error)}"
        ) from error


def check_length(what: str, network: Any, length: int | None, knob: str) -> None:
    """Refuse texts longer than a network has positions for, on which it would crash.

    Raises:
        AdapterError: ``length`` is more than its positions.
    """
    config = getattr(network, "config", None)
    limit = getattr(config, "max_position_embeddings", None)
    if length is not None and isinstance(limit, int) and 0 < limit < length:
        raise AdapterError(f"{knob} is {length}, but the model '{what}' takes at most {limit}")


@contextmanager
def threads(count: int) -> Iterator[None]:
    """The number of threads torch uses for one step on a CPU, restored afterwards."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def quiet() -> Iterator[None]:
    """Without the progress bars and reports that transformers prints while it loads."""
    from transformers.utils import logging

    log: Any = logging
    verbosity, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(verbosity)
        if bars:
            log.enable_progress_bar()
