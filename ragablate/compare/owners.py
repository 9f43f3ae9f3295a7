"""Who owns a stage: the knobs to turn once it is named."""

READER = "the reader: prompt, model, decoding"
RETRIEVER = "retrieval: chunking, query rewriting, embedding, depth, hybrid retrieval, reranking"
ASSEMBLER = "the assembler: token budget, near-duplicates, truncation, order"
GATE = "the gate: its floors and what it refuses on"
UPSTREAM = (
    "everything before the reader: chunking, query rewriting, retrieval, reranking, token "
    "budget, order, distractors"
)
GOLD = "the question set: gold evidence and reference answers"
CONTEXT = "the context: distractors, order, length"
ORDER = "the order of the context"
DISTRACTORS = "what stands beside the evidence: reranking, filters, duplicate versions, metadata"
