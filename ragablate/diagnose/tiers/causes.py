"""What the tiers tell apart, and what to look at for each."""

from __future__ import annotations

from collections.abc import Mapping

PIPELINE_ERROR = "pipeline_error"
EMPTY_ANSWER = "empty_answer"
RETRIEVAL_MISS = "retrieval_miss"
RANKING = "ranking"
CONTEXT_INSUFFICIENT = "context_insufficient"
HALLUCINATION = "generation_hallucination"
INCOMPLETE = "generation_incomplete"
UNDETERMINED = "undetermined"
"""Judged wrong by the log, and nothing that was looked at fails."""

ADVICE: Mapping[str, str] = {
    PIPELINE_ERROR: "Mend the calls that fail before anything else: they hide every other signal.",
    RETRIEVAL_MISS: "The gold does not come back: chunk size and overlap, query rewriting, hybrid "
    "retrieval, depth (ragablate run 'experiment=[oracle_context,swap_retriever]').",
    RANKING: "The gold comes back below other passages: a reranker, or fewer near-duplicates "
    "(ragablate run experiment=swap_reranker).",
    EMPTY_ANSWER: "Nothing was said: the limit of tokens, a stop word, a filter of the model.",
    CONTEXT_INSUFFICIENT: "The right documents came back without the words that answer: chunking "
    "that splits answers, larger chunks, parent passages (chunker=parent).",
    HALLUCINATION: "The passages suffice and the answer leaves them: a stricter prompt, another "
    "model, a lower temperature (ragablate run experiment=swap_reader).",
    INCOMPLETE: "The answer stops short: a prompt that asks for every part, a larger limit of "
    "tokens (ragablate run experiment=swap_reader).",
    UNDETERMINED: "Metrics cannot tell: ask the judged tier (--judge-url, --judge-model), or a "
    "person.",
}
"""By cause; the order breaks ties."""
