"""OpenInference spans: what Phoenix exports, and OTLP in JSON.

Field names are those of the OpenInference semantic conventions: ``retrieval.documents``,
``reranker.output_documents``, ``llm.input_messages``, ``llm.output_messages``,
``llm.model_name``, ``llm.invocation_parameters``, ``input.value``, ``output.value``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ragablate.codec import digest
from ragablate.logs.entry import Entry, LoggedPassage, as_shown, pid_of, qid_of
from ragablate.logs.nesting import at, nested, otel_value, parsed
from ragablate.records import ContextPassage

Rows = Iterable[tuple[str, Mapping[str, Any]]]
_LEAST_CUT = 80


class Span(NamedTuple):
    """One span, its attributes nested."""

    place: str
    trace: str
    parent: str
    start: str
    kind: str
    error: str
    attributes: Mapping[str, Any]


def entries(rows: Rows) -> Iterator[Entry]:
    """One entry a trace, in the order the traces begin in the file.

    A trace without a retriever span and without an LLM span is none of a pipeline's answers
    and passed over.
    """
    traces: dict[str, list[Span]] = {}
    for place, row in rows:
        for span in _spans(place, row):
            traces.setdefault(span.trace, []).append(span)
    asked: Counter[str] = Counter()
    for trace, spans in traces.items():
        kinds = {span.kind for span in spans}
        if kinds & {"RETRIEVER", "LLM"}:
            entry = _entry(trace, sorted(spans, key=lambda s: s.start))
            asked[entry.qid] += 1
            # Users ask the same thing again; each time it is a question of its own.
            again = asked[entry.qid]
            yield entry if again == 1 else replace(entry, qid=f"{entry.qid}-{again}")


def is_spans(row: Mapping[str, Any]) -> bool:
    """Whether a row looks like a span or an export of spans."""
    if "resourceSpans" in row:
        return True
    return any(
        str(name).startswith(("attributes.", "openinference.", "context.trace_id", "span_kind"))
        or (name == "attributes" and isinstance(parsed(value), dict | list))
        for name, value in row.items()
    )


def _spans(place: str, row: Mapping[str, Any]) -> Iterator[Span]:
    if "resourceSpans" not in row:
        yield _span(place, row)
        return
    for resource in row["resourceSpans"] or ():
        for scope in resource.get("scopeSpans") or ():
            for span in scope.get("spans") or ():
                yield _span(place, span)


def _span(place: str, row: Mapping[str, Any]) -> Span:
    given = {name: parsed(value) if name == "attributes" else value for name, value in row.items()}
    if isinstance(given.get("attributes"), list):
        pairs = given["attributes"]
        given["attributes"] = {p["key"]: otel_value(p.get("value")) for p in pairs}
    tree = nested(given)
    attributes = tree.get("attributes")
    attributes = attributes if isinstance(attributes, dict) else {}
    trace = at(tree, "context.trace_id") or row.get("traceId") or row.get("trace_id") or place
    status = at(tree, "status.status_code") or at(tree, "status.code") or row.get("status_code")
    failed = str(status).upper() in ("ERROR", "STATUS_CODE_ERROR", "2")
    kind = row.get("span_kind") or at(attributes, "openinference.span.kind") or ""
    return Span(
        place,
        str(trace),
        str(row.get("parent_id") or row.get("parentSpanId") or ""),
        str(row.get("start_time") or row.get("startTimeUnixNano") or ""),
        str(kind).upper(),
        str(row.get("status_message") or at(tree, "status.message") or "error") if failed else "",
        attributes,
    )


def _entry(trace: str, spans: Sequence[Span]) -> Entry:
    root = next((s for s in spans if not s.parent), spans[0])
    reader = next((s for s in reversed(spans) if s.kind == "LLM"), None)
    found = _ranking(spans)
    question = _question(root, spans)
    prompt = _prompt(reader) if reader is not None else None
    context = None if prompt is None or found is None else _shown(prompt, found)
    return Entry(
        place=root.place,
        qid=str(at(root.attributes, "metadata.qid") or qid_of(question)),
        question=question,
        answer=_answer(root, reader),
        retrieved=found,
        searches=_searches(spans),
        candidates=_candidates(spans),
        shown=None if context is None else tuple(p.pid for p in context),
        context=context,
        frame_digest="" if context is None or prompt is None else _frame(prompt, context, question),
        model=str(at(reader.attributes, "llm.model_name") or "") if reader is not None else "",
        decoding=_decoding(reader),
        error=next((s.error for s in spans if s.error and s in (root, reader)), ""),
        meta={"trace_id": trace, "attributes": dict(root.attributes)},
    )


def _ranking(spans: Sequence[Span]) -> tuple[LoggedPassage, ...] | None:
    """What the last reranker or else the last retriever put out."""
    for path in ("reranker.output_documents", "retrieval.documents"):
        for span in reversed(spans):
            documents = at(span.attributes, path)
            if isinstance(documents, list):
                return tuple(_document(d) for d in documents if isinstance(d, Mapping))
    return None


def _searches(spans: Sequence[Span]) -> tuple[str, ...] | None:
    """What every retriever span was asked, each once, in order."""
    asked = (at(s.attributes, "input.value") for s in spans if s.kind == "RETRIEVER")
    return tuple(dict.fromkeys(a for a in map(_asked, asked) if a)) or None


def _candidates(spans: Sequence[Span]) -> tuple[str, ...] | None:
    """What the retrievers put out, each passage once, in order."""
    found = [
        _document(d).pid
        for span in spans
        for d in at(span.attributes, "retrieval.documents") or ()
        if isinstance(d, Mapping)
    ]
    return tuple(dict.fromkeys(found)) or None


def _document(member: Mapping[str, Any]) -> LoggedPassage:
    inside = member.get("document")
    fields = inside if isinstance(inside, Mapping) else member
    text = fields.get("content")
    text = None if text is None else str(text)
    pid = fields.get("id")
    score = fields.get("score")
    meta = parsed(fields.get("metadata"))
    return LoggedPassage(
        str(pid) if pid not in (None, "") else pid_of(text or ""),
        text,
        score=float(score) if isinstance(score, int | float) else None,
        meta=dict(meta) if isinstance(meta, Mapping) else {},
    )


def _question(root: Span, spans: Sequence[Span]) -> str:
    for span in (root, *(s for s in spans if s.kind == "RETRIEVER")):
        asked = _asked(at(span.attributes, "input.value"))
        if asked:
            return asked
    return ""


def _asked(value: Any) -> str:
    """The question in an input, bare or under one of its usual names; empty where there is none."""
    value = parsed(value)
    if isinstance(value, Mapping):
        value = next((value[k] for k in ("question", "query", "query_str", "input") if k in value),
                     None)  # fmt: skip
    return value if isinstance(value, str) and value.strip() else ""


def _answer(root: Span, reader: Span | None) -> str | None:
    if reader is not None:
        messages = at(reader.attributes, "llm.output_messages")
        texts = [_content(m) for m in messages or () if isinstance(m, Mapping)]
        if any(texts):
            return "\n".join(text for text in texts if text)
    for span in (reader, root):
        value = None if span is None else at(span.attributes, "output.value")
        if isinstance(value, str):
            return value
    return None


def _prompt(reader: Span) -> list[tuple[str, str]] | None:
    """Roles and contents of what the model was given; ``None`` where the span lacks it."""
    messages = at(reader.attributes, "llm.input_messages")
    if not isinstance(messages, list):
        return None
    found = []
    for message in messages:
        if isinstance(message, Mapping):
            inside = message.get("message")
            inside = inside if isinstance(inside, Mapping) else message
            found.append((str(inside.get("role", "")), _content(message)))
    return found


def _content(message: Mapping[str, Any]) -> str:
    inside = message.get("message")
    fields = inside if isinstance(inside, Mapping) else message
    content = fields.get("content")
    if content is None:
        pieces = [p.get("message_content", p) for p in fields.get("contents") or ()]
        content = "".join(str(p.get("text") or "") for p in pieces if isinstance(p, Mapping))
    return str(content)


def _shown(
    prompt: Sequence[tuple[str, str]], ranking: Sequence[LoggedPassage]
) -> tuple[ContextPassage, ...] | None:
    """Which passages the prompt holds, in its order, told by their text.

    A passage whose beginning alone stands there, up to the end of a piece, was truncated.
    ``None`` where a passage's text is not in the log, so that it cannot be looked for.
    """
    if any(p.text is None for p in ranking):
        return None
    whole = "\n".join(content for _, content in prompt)
    found: dict[str, tuple[int, ContextPassage]] = {}
    for passage in ranking:
        text = (passage.text or "").strip()
        body = _beginning(text, whole) if text else ""
        if body and passage.pid not in found:
            cut = body != text
            kept = body if cut else (passage.text or "").strip()
            found[passage.pid] = (whole.find(body), as_shown(passage.pid, kept, truncated=cut))
    return tuple(p for _, p in sorted(found.values(), key=lambda pair: pair[0]))


def _beginning(text: str, whole: str) -> str:
    """The longest beginning of a text that stands in a prompt, if it is long enough to tell."""
    if text in whole:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text[:middle] in whole else (low, middle - 1)
    return text[:low].rstrip() if low >= _LEAST_CUT else ""


def _frame(
    prompt: Sequence[tuple[str, str]], context: Sequence[ContextPassage], question: str
) -> str:
    """Digest of the prompt with question and passages cut out."""
    pieces = []
    for role, content in prompt:
        for passage in sorted(context, key=lambda p: -len(p.text)):
            content = content.replace(passage.text, "")
        pieces.append((role, content.replace(question, "") if question else content))
    return digest(pieces)


def _decoding(reader: Span | None) -> dict[str, Any] | None:
    given = None if reader is None else parsed(at(reader.attributes, "llm.invocation_parameters"))
    if not isinstance(given, Mapping):
        return None
    return {k: v for k, v in given.items() if k not in ("model", "seed", "messages")}
