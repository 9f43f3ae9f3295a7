"""From text to index terms, the same way for passages and for searches."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Protocol, runtime_checkable

from ragablate.errors import AdapterError
from ragablate.functions import function_problems, function_version, load_function
from ragablate.retrieve import stem as stems
from ragablate.retrieve.words import bigrams, cut, is_spaceless, unify

_WHERE = "analyzer"
_ANY = ("multilingual", "none")
_STEMMERS = ("auto", "none", "porter", "snowball")


@runtime_checkable
class TextAnalyzer(Protocol):
    """What a lexical index needs of an analyzer."""

    def terms(self, text: str) -> list[str]:
        """The terms of a passage or a search, in order, repetitions kept."""
        ...


class Analyzer:
    """Cutting, normalising, stopping and stemming of text in any language.

    The steps: unify spellings, cut into words, drop stop words, stem. Whatever the
    language, ``words`` turns runs of Han, Kana, Thai, Lao, Khmer, Myanmar, Tibetan and Yi
    letters into overlapping pairs of characters.

    Args:
        tokenizer: ``words`` (runs of letters and digits of any script), ``whitespace``
            (``text.lower().split()`` and nothing else before stop words and stems), or a
            function ``package.module:name`` from a text to a list of strings.
        language: Two-letter code of the texts' language, or ``multilingual`` (also
            ``none``) for no rules of any language.
        stemmer: ``snowball``, ``porter`` (English, as in Lucene), ``none``, or ``auto``:
            Snowball where it has the language.
        stopwords: ``lucene`` (33 English words), a language code for the list of the
            package ``stop-words``, ``none``, or ``auto``: ``lucene`` for English, for other
            languages their list where there is one.
        lowercase: Whether upper and lower case are the same.
    """

    def __init__(
        self,
        tokenizer: str = "words",
        language: str = "en",
        stemmer: str = "auto",
        stopwords: str = "auto",
        lowercase: bool = True,
    ) -> None:
        self.tokenizer = tokenizer
        self.language = language
        self.stemmer = stemmer
        self.stopwords = stopwords
        self.lowercase = lowercase
        self._cut: Callable[[str], Sequence[str]] | None = None
        self._known: _Known | None = None

    def terms(self, text: str) -> list[str]:
        """The terms of a passage or a search, in order, repetitions kept.

        Raises:
            AdapterError: The tokenizer function cannot be loaded or returns no list of
                strings, or a knob has no meaning.
        """
        if self._cut is None or self._known is None:
            problems = self.problems()
            if problems:
                raise AdapterError(problems[0])
            self._cut = self._cutter()
            pairs = self.tokenizer == "words"
            self._known = _Known(self._stem(), self._stops(self._cut), pairs, self._possessive)
        return list(chain.from_iterable(map(self._known.__getitem__, self._cut(text))))

    def problems(self) -> list[str]:
        """What would stop it from running, one sentence each."""
        if not _is_language(self.language) and self.language not in _ANY:
            return [
                f"{_WHERE}.language is {self.language!r}: give a two-letter code in quotes such "
                "as 'de' (Norwegian is 'nb'), or multilingual"
            ]
        return [*self._tokenizer_problems(), *self._stemmer_problems(), *self._stop_problems()]

    def identity(self) -> dict[str, object]:
        """Where stems, stop words and a tokenizer function come from, with their versions."""
        found: dict[str, object] = {}
        if self._stemmer != "none":
            found["stemmer"] = f"{self._stemmer}: {stems.release('PyStemmer')}"
        if self._stopwords not in ("none", "lucene"):
            found["stopwords"] = f"{self._stopwords}: {stems.release('stop-words')}"
        if ":" in self.tokenizer:
            found["tokenizer"] = f"{self.tokenizer} {function_version(self.tokenizer)}"
        return found

    @property
    def _possessive(self) -> bool:
        return self.language == "en" and self.tokenizer == "words"

    @property
    def _stemmer(self) -> str:
        if self.stemmer != "auto":
            return self.stemmer
        return "snowball" if stems.has_snowball(self.language) else "none"

    @property
    def _stopwords(self) -> str:
        if self.stopwords != "auto":
            return self.stopwords
        if self.language == "en":
            return "lucene"
        return self.language if stems.has_stopwords(self.language) else "none"

    def _tokenizer_problems(self) -> list[str]:
        if self.tokenizer in ("words", "whitespace"):
            return []
        if ":" in self.tokenizer:
            return function_problems(self.tokenizer, f"{_WHERE}.tokenizer")
        return [
            f"{_WHERE}.tokenizer is '{self.tokenizer}': give words, whitespace or a function "
            "as package.module:name"
        ]

    def _stemmer_problems(self) -> list[str]:
        if self.stemmer not in _STEMMERS:
            return [f"{_WHERE}.stemmer is '{self.stemmer}': give one of {', '.join(_STEMMERS)}"]
        if self.stemmer == "porter" and self.language != "en":
            return [
                f"{_WHERE}.stemmer=porter is for English, but {_WHERE}.language is "
                f"'{self.language}': give stemmer=auto"
            ]
        if self.stemmer == "snowball" and not stems.has_snowball(self.language):
            return [
                f"{_WHERE}.stemmer=snowball has no rules for {_WHERE}.language="
                f"{self.language}: give stemmer=none or auto"
            ]
        return []

    def _stop_problems(self) -> list[str]:
        if self.stopwords in ("auto", "none", "lucene") or stems.has_stopwords(self.stopwords):
            return []
        return [
            f"{_WHERE}.stopwords is {self.stopwords!r}, for which there is no list: give auto, "
            "none, lucene or the two-letter code of a language that stop-words has"
        ]

    def _cutter(self) -> Callable[[str], Sequence[str]]:
        if self.tokenizer == "words":
            turkic = self.lowercase and self.language in ("tr", "az")
            return lambda text: cut(
                unify(_turkic_lower(text) if turkic else text, self.lowercase), self._possessive
            )
        split = (
            str.split
            if self.tokenizer == "whitespace"
            else _checked(load_function(self.tokenizer, f"{_WHERE}.tokenizer"), self.tokenizer)
        )
        return lambda text: split(text.lower() if self.lowercase else text)

    def _stem(self) -> Callable[[str], str]:
        if self._stemmer == "none":
            return str
        return stems.porter() if self._stemmer == "porter" else stems.snowball(self.language)

    def _stops(self, cutter: Callable[[str], Sequence[str]]) -> frozenset[str]:
        """Stop words in the form the tokenizer gives them; those of several terms are left out."""
        if self._stopwords == "none":
            return frozenset()
        listed = (
            stems.LUCENE_STOPWORDS
            if self._stopwords == "lucene"
            else stems.stopwords(self._stopwords)
        )
        cut_words = (list(cutter(word)) for word in listed)
        return frozenset(words[0] for words in cut_words if len(words) == 1)


class _Known(dict[str, tuple[str, ...]]):
    """The terms of every distinct word seen so far: none for a stop word, else one."""

    def __init__(
        self, stem: Callable[[str], str], stops: frozenset[str], pairs: bool, possessive: bool
    ) -> None:
        super().__init__()
        self.stem = stem
        self.stops = stops
        self.pairs = pairs
        self.possessive = possessive

    def __missing__(self, word: str) -> tuple[str, ...]:
        if self.pairs and is_spaceless(word):
            # Not kept: such a run is a whole clause and rarely comes twice.
            return tuple(pair for pair in bigrams(word) if pair not in self.stops)
        bare = word.removesuffix("'s") if self.possessive else word
        if word in self.stops or bare in self.stops:
            self[word] = ()
        else:
            self[word] = (self._stemmed(bare),)
        return self[word]

    def _stemmed(self, word: str) -> str:
        try:
            return self.stem(word) or word
        except UnicodeEncodeError:  # half a surrogate pair, which no stemmer takes
            return word


def _checked(function: Callable[..., object], name: str) -> Callable[[str], list[str]]:
    def tokens(text: str) -> list[str]:
        found = function(text)
        if isinstance(found, list | tuple) and all(isinstance(token, str) for token in found):
            return list(found)
        raise AdapterError(
            f"{_WHERE}.tokenizer: {name} returned {type(found).__name__}, not a list of strings: "
            "return one string a token"
        )

    return tokens


def _is_language(code: object) -> bool:
    return isinstance(code, str) and re.fullmatch("[a-z]{2,3}", code) is not None


def _turkic_lower(text: str) -> str:
    return text.replace("I", "ı").replace("İ", "i")
