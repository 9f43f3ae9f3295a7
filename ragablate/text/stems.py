"""Words without their endings."""

from __future__ import annotations

import importlib
import importlib.util
from functools import lru_cache
from typing import Any

from ragablate.errors import AdapterError


def stem_problems(language: str | None) -> list[str]:
    """Why there is no stemmer for ``language``; ``None`` asks for none."""
    if language is None:
        return []
    if language.isidentifier() and importlib.util.find_spec(_module(language)) is not None:
        return []
    return [
        f"language is '{language}': name a Snowball stemmer such as english, german or "
        "spanish, or null to compare words as they are"
    ]


@lru_cache(maxsize=200_000)
def stem(word: str, language: str | None) -> str:
    """The Snowball stem of a case-folded word (Porter 2001); the word itself without language.

    Always by the stemmers of ``snowballstemmer``, also where a compiled stemmer of another
    version is installed, so that equal words give equal stems on every machine.
    """
    return word if language is None else str(_stemmer(language).stemWord(word))


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Any:
    for problem in stem_problems(language):
        raise AdapterError(problem)
    return getattr(importlib.import_module(_module(language)), f"{_camel(language)}Stemmer")()


def _module(language: str) -> str:
    return f"snowballstemmer.{language}_stemmer"


def _camel(language: str) -> str:
    return "".join(part.capitalize() for part in language.split("_"))
