"""Every chunker: exact offsets on any script, nothing lost that is not white space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ragablate.chunk.contextual import Contextual
from ragablate.chunk.fixed import Fixed
from ragablate.chunk.none import NoChunker
from ragablate.chunk.parent import Parent
from ragablate.chunk.recursive import Recursive
from ragablate.chunk.section import Sections
from ragablate.chunk.sentence import Sentence
from ragablate.errors import AdapterError
from ragablate.records import Document, Passage, SearchedPassage
from ragablate.searched import cut
from ragablate.text.tokens import count_tokens

SCRIPTS = (
    "Ada Lind opened it. ",
    "Größe 12.5 % — naïve; ",
    "cafe\u0301 e\u0323\u0302 ",
    "👩‍👩‍👧‍👦🇩🇪 👍🏽 ",
    "你好，世界。今天是星期二！",
    "これはテストです。カタカナもある。",
    "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
    "हिन्दी में वाक्य। ",
    "שָׁלוֹם עולם. ",
    "\r\n",
    "\n\n",
    "\r",
    "# Plans\n",
    "Seats\n-----\n",
    "```\n# no heading\n```\n",
    "| a | b |\n|---|---|\n",
    "  \t ",
    "\u2028",
    "\x00",
)
TEXTS = st.lists(st.sampled_from(SCRIPTS) | st.text(max_size=6), max_size=25).map("".join)
LOOSE = st.builds(lambda a, b: a + chr(b), TEXTS, st.integers(0xD800, 0xDFFF))

CHUNKERS: dict[str, Any] = {
    "none": NoChunker(),
    "fixed": Fixed(7),
    "fixed overlapping": Fixed(7, 3),
    "sentence": Sentence(2),
    "sentence overlapping": Sentence(3, 1),
    "recursive": Recursive(40),
    "recursive overlapping": Recursive(40, 15),
    "recursive markdown": Recursive(40, markdown=True),
    "recursive words": Recursive(9, tokenizer="words"),
    "section": Sections(size=None),
    "section in sizes": Sections(deepest=2, size=9),
    "parent": Parent(Fixed(20, 5), Sentence(1)),
    "contextual": Contextual(Fixed(7)),
}


def chunked(chunker: Any, *texts: str) -> tuple[Passage, ...]:
    documents = [Document(f"d{n}", text, f"Title {n}") for n, text in enumerate(texts)]
    return cut(chunker, documents, lambda stage, done, total: None)


@pytest.mark.parametrize("name", CHUNKERS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=TEXTS | LOOSE)
@example(text="")
@example(text="   \n ")
@example(text="# A\r\n\r\nOne 👍🏽.\r\n## B\r\nTwo.\r\n")
def test_passages_stand_where_they_say_and_hold_all_text(name: str, text: str) -> None:
    if name.startswith("recursive"):
        pytest.importorskip("semantic_text_splitter", reason="it needs ragablate[chunk]")
    found = chunked(CHUNKERS[name], text, "Another document. Of two sentences.")
    held = bytearray(len(text))
    for passage in found:
        if passage.doc_id == "d0":
            end = passage.start + len(passage.text)
            assert text[passage.start : end] == passage.text
            held[passage.start : end] = b"\1" * len(passage.text)
    lost = [char for char, kept in zip(text, held, strict=True) if not kept and char.strip()]
    assert lost == []
    assert sum(p.doc_id == "d1" for p in found) >= 1
    assert len({p.pid for p in found}) == len(found)


@settings(max_examples=80, deadline=None)
@given(TEXTS, st.integers(1, 12), st.data())
def test_fixed_passages_have_their_size_and_overlap(text: str, size: int, data: Any) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    found = chunked(Fixed(size, overlap), text)
    lengths = [count_tokens(p.text) for p in found]
    assert all(length == size for length in lengths[:-1])
    assert all(0 < length <= size for length in lengths[-1:])
    assert sum(lengths) == count_tokens(text) + overlap * max(len(found) - 1, 0)


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_pieces_lie_within_their_passage_and_hold_all_of_it(text: str) -> None:
    for passage in chunked(Parent(Fixed(15), Sentence(1)), text):
        assert isinstance(passage, SearchedPassage)
        pieces = [passage.text[a:b] for a, b in passage.pieces]
        assert "".join("".join(pieces).split()) == "".join(passage.text.split())


def test_sections_follow_the_headings_and_not_what_looks_like_one() -> None:
    text = (
        "Before.\r\n\r\n# Plans\r\n\r\nPro and Basic.\r\n\r\n## Seats\r\n\r\nUnder 50.\r\n"
        "```\r\n# a comment\r\n```\r\nUsage\r\n-----\r\nLast.\r\n# Support\r\nBy mail.\r\n"
    )
    found = chunked(Sections(size=None), text)
    assert [p.title for p in found] == [
        "Title 0",
        "Title 0 > Plans",
        "Title 0 > Plans > Seats",
        "Title 0 > Plans > Usage",
        "Title 0 > Support",
    ]
    assert found[2].text.endswith("```")
    assert [p.text.split()[0] for p in chunked(Sections(1, size=None), text)] == [
        "Before.",
        "#",
        "#",
    ]


def test_a_preface_names_title_and_headings_and_leaves_the_text_alone() -> None:
    text = "# Plans\n\nPro costs 9.\n\n## Seats\n\nUnder 50 seats an add-on is needed.\n"
    found = chunked(Contextual(Sections(size=None)), text)
    assert [getattr(p, "preface", "") for p in found] == [
        "From Title 0, Plans.",
        "From Title 0, Plans, Seats.",
    ]
    assert found[1].text == "## Seats\n\nUnder 50 seats an add-on is needed."


class Careless:
    """Cuts where a test says, and says where it wants."""

    def __init__(self, *passages: Passage) -> None:
        self.passages = passages

    def chunk(self, documents: Sequence[Document]) -> Any:
        return iter(self.passages)


@pytest.mark.parametrize(
    ("passages", "complaint"),
    [
        ([Passage("a", "lind", doc_id="d0")], "letter for letter"),
        ([Passage("a", "Lind", doc_id="d0", start=3)], "letter for letter"),
        ([Passage("a", "Lind", doc_id="d0", start=-9)], "letter for letter"),
        ([Passage("a", "Lind", doc_id="other", start=4)], "belongs to no document"),
        ([Passage("a", "Ada", doc_id="d0"), Passage("a", "Ada", doc_id="d0")], "comes twice"),
        ([SearchedPassage("a", "Ada", doc_id="d0", pieces=((0, 4),))], "outside its own text"),
    ],
    ids=["other text", "shifted", "negative", "stranger", "twice", "piece"],
)
def test_a_chunker_that_misplaces_a_passage_is_refused(
    passages: list[Passage], complaint: str
) -> None:
    with pytest.raises(AdapterError, match=complaint):
        chunked(Careless(*passages), "Ada Lind")


@pytest.mark.parametrize(
    ("chunker", "complaint"),
    [
        (Fixed(0), "size is 0"),
        (Fixed(10, 10), "overlap is 10"),
        (Sentence(2, 2), "overlap is 2"),
        (Recursive(-1), "size is -1"),
        (Sections(deepest=7), "deepest is 7"),
        (Parent(Fixed(0), Sentence()), "large: size is 0"),
        (Contextual(Fixed(), "From there."), "no {path}"),
        (Fixed(tokenizer="nowhere.json"), "does not exist"),
    ],
)
def test_knobs_without_a_meaning_are_told(chunker: Any, complaint: str) -> None:
    assert any(complaint in problem for problem in chunker.problems())
    with pytest.raises(AdapterError, match="chunker"):
        chunked(chunker, "Some text.")
