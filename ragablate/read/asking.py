"""Asking a reader from inside another stage: a rewriter, a chunker, a gate or a judge."""

from __future__ import annotations

from collections.abc import Mapping

from ragablate.errors import AdapterError
from ragablate.protocols import Reader
from ragablate.records import Answer, Item, Prompt, ReadRequest
from ragablate.seeds import decode_seed


def ask(reader: Reader, prompts: Mapping[str, Prompt], seed: int) -> dict[str, Item[Answer]]:
    """One answer a prompt, by its id; a failure stays the failure it is.

    The seed of a decode depends on ``seed`` and the prompt's ``qid`` alone, as it does where
    the reader answers the question.

    Args:
        reader: The adapter's argument ``reader``.
        prompts: By an id of the caller's.
        seed: The adapter's argument ``seed``, ``${seed}`` in its YAML, so that it counts in
            the fingerprint of what the adapter makes of the answers.

    Raises:
        AdapterError: The reader left a prompt unanswered.
        BudgetError: The plan's budget allows no further call.
    """
    requests = [
        ReadRequest(key, prompt, 1, decode_seed(seed, prompt.qid, 1))
        for key, prompt in prompts.items()
    ]
    found = {item.id: item for item in reader.read(requests)} if requests else {}
    for key in prompts:
        if key not in found:
            raise AdapterError(
                f"the reader ({type(reader).__name__}) left '{key}' unanswered: every prompt must "
                "be answered once"
            )
    return found
