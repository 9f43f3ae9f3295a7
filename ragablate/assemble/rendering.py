"""How a passage looks in a prompt: a header of title and metadata, then its own text."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.assemble.cleaning import cleaned
from ragablate.records import ContextPassage, Passage
from ragablate.text.tokens import count_tokens


def header(passage: Passage, show_title: bool, show_meta: Sequence[str]) -> str:
    """The lines above a passage's own text, each ended by a line feed; empty for none.

    The title stands alone, then ``key: value; key: value`` of the named metadata the
    passage has, in the given order. White space inside a value becomes single spaces, so
    that no value can look like a second line.
    """
    lines = [" ".join(passage.title.split())] if show_title else []
    shown = [(key, passage.meta.get(key)) for key in show_meta]
    lines.append("; ".join(f"{k}: {_plain(v)}" for k, v in shown if v is not None))
    return "".join(f"{line}\n" for line in lines if line)


def render(
    passage: Passage,
    show_title: bool,
    show_meta: Sequence[str],
    tokenizer: str,
    clean: bool = False,
) -> ContextPassage:
    """A passage in full, or without the orders in it that are meant for a model."""
    body, removed = cleaned(passage.text) if clean else (passage.text, ())
    text = header(passage, show_title, show_meta) + body
    return ContextPassage(
        pid=passage.pid,
        text=text,
        body=body,
        tokens=count_tokens(text, tokenizer),
        removed=removed,
    )


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(str(value).split())
