"""How long a text is, in the tokens of a budget.

The rule ``words`` needs no package and no model. One token is

* a run of letters and digits of a script that puts spaces between words (``don't`` is
  three: ``don``, ``'``, ``t``),
* each single letter of a script that does not (Han, Kana, Thai, Lao, Khmer, Myanmar,
  Tibetan),
* each single punctuation mark, symbol or emoji.

Combining marks, variation selectors and invisible joiners belong to the character before
them; white space counts nothing. Any other name is a Hugging Face tokenizer: the path of
a ``tokenizer.json``, or a model name with an optional ``@revision``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragablate.errors import AdapterError, MissingExtra
from ragablate.text.scripts import SPACELESS, marks

WORDS = "words"
"""Name of the rule that needs no package."""


def count_tokens(text: str, tokenizer: str = WORDS) -> int:
    """Length of ``text`` in tokens; 0 for empty or blank text.

    Raises:
        MissingExtra: A Hugging Face tokenizer is named and ``tokenizers`` is absent.
        AdapterError: The named tokenizer cannot be loaded.
    """
    if tokenizer == WORDS:
        return sum(1 for _ in _pattern().finditer(text))
    return len(_ends(text, tokenizer))


def token_spans(text: str, tokenizer: str = WORDS) -> list[tuple[int, int]]:
    """Where the tokens of ``text`` are, in characters, in order; raises as ``count_tokens``."""
    if tokenizer == WORDS:
        return [match.span() for match in _pattern().finditer(text)]
    return list(_load(tokenizer).encode(text, add_special_tokens=False).offsets)


def truncate(text: str, tokens: int, tokenizer: str = WORDS) -> str:
    """The longest prefix of ``text`` that ends with a token and counts at most ``tokens``.

    White space after the last kept token is dropped, also where nothing else is cut, unless
    the whole text fits, which is returned unchanged.
    """
    if tokens <= 0:
        return ""
    ends = _ends(text, tokenizer)
    if len(ends) <= tokens:
        return text
    # A subword tokenizer may cut a prefix of a text into more pieces than the text had there.
    for keep in range(tokens, 0, -1):
        prefix = text[: ends[keep - 1]]
        if tokenizer == WORDS or len(_ends(prefix, tokenizer)) <= tokens:
            return prefix.rstrip()
    return ""


def tokenizer_problems(tokenizer: str) -> list[str]:
    """What would stop ``tokenizer`` from being used, found without loading it."""
    if tokenizer == WORDS:
        return []
    if _is_path(tokenizer) and not Path(tokenizer).is_file():
        return [f"The tokenizer file {tokenizer} does not exist."]
    from importlib.util import find_spec

    if find_spec("tokenizers") is None:
        return [str(_missing(tokenizer))]
    return []


def tokenizer_identity(tokenizer: str) -> str:
    """What ``tokenizer`` is: its name, or the sha256 of the file it names."""
    if tokenizer != WORDS and Path(tokenizer).is_file():
        import hashlib

        return "sha256:" + hashlib.sha256(Path(tokenizer).read_bytes()).hexdigest()
    return tokenizer


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    m = marks()
    return re.compile(
        # What the rest would find, in half the time: ASCII before more of it carries no mark.
        r"(?:[A-Za-z0-9_]++|[!-/:-@\[-^`{-~])(?=[\x00-\x7f]|\Z)"
        rf"|[{SPACELESS}][{m}]*"
        rf"|(?:(?![{SPACELESS}])\w[{m}]*)+"
        rf"|[^\s{m}][{m}]*"
        rf"|[{m}]+"
    )


def _ends(text: str, tokenizer: str) -> list[int]:
    if tokenizer == WORDS:
        return [match.end() for match in _pattern().finditer(text)]
    encoding = _load(tokenizer).encode(text, add_special_tokens=False)
    return [end for _, end in encoding.offsets]


def _is_path(tokenizer: str) -> bool:
    return tokenizer.endswith(".json")


def _missing(tokenizer: str) -> MissingExtra:
    return MissingExtra("tokenizers", "tokenizers", f"The tokenizer '{tokenizer}'")


@lru_cache(maxsize=8)
def _load(tokenizer: str) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _missing(tokenizer) from error
    try:
        if _is_path(tokenizer):
            return Tokenizer.from_file(tokenizer)
        name, _, revision = tokenizer.partition("@")
        return Tokenizer.from_pretrained(name, revision=revision or "main")
    except Exception as error:
        raise AdapterError(
            f"The tokenizer '{tokenizer}' cannot be loaded ({error}): give '{WORDS}', the path "
            "of a tokenizer.json or a model name of the Hugging Face hub."
        ) from error
