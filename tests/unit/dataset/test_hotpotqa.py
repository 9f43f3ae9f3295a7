"""Reading JSON files in the format of HotpotQA."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ragablate.dataset.hotpotqa import HotpotQA, slug
from ragablate.dataset.jsonl import Jsonl
from ragablate.errors import DatasetError
from ragablate.gold import resolve
from ragablate.protocols import DatasetSource
from ragablate.records import Alternative, ContextPassage, Corpus, Dataset, Part, Passage
from ragablate.resources import locate

OSLO = ["Oslo", ["Oslo is a city.", " It lies on a fjord.", " "]]
OLD_TOWN = ["Old Town", ["The Old Town is in Oslo.", "It is old."]]  # no space before
BERGEN = ["Bergen", ["Bergen has rain."]]

FIRST = {
    "_id": "h1",
    "question": "On what does the city of the Old Town lie?",
    "answer": "a fjord",
    "supporting_facts": [["Old Town", 0], ["Oslo", 1], ["Oslo", 0]],
    "context": [BERGEN, OSLO, OLD_TOWN],
    "type": "bridge",
    "level": "hard",
}
SECOND = {
    "_id": "h2",
    "question": "Is there rain in Bergen?",
    "answer": "yes",
    "supporting_facts": [["Bergen", 0]],
    "context": [["Oslo", ["Another text."]], BERGEN],
    "type": "comparison",
    "level": "hard",
}


def write(path: Path, *asked: Any) -> Path:
    file = path / "hotpot.json"
    file.write_text(json.dumps(list(asked)), encoding="utf-8")
    return file


def load(path: Path, *asked: Any, **knobs: Any) -> Dataset:
    return HotpotQA(str(write(path, *asked)), **knobs).load()


def problems(path: Path, *asked: Any, **knobs: Any) -> list[str]:
    with pytest.raises(DatasetError) as error:
        load(path, *asked, **knobs)
    return [problem.replace(str(path) + "/", "") for problem in error.value.problems]


def test_it_is_a_dataset_source() -> None:
    assert isinstance(HotpotQA("x"), DatasetSource)


def test_every_paragraph_is_a_passage_once(tmp_path: Path) -> None:
    data = load(tmp_path, FIRST, SECOND)
    assert [(p.pid, p.title, p.text) for p in data.passages] == [
        ("Bergen", "Bergen", "Bergen has rain."),
        ("Oslo", "Oslo", "Oslo is a city. It lies on a fjord. "),
        ("Old_Town", "Old Town", "The Old Town is in Oslo. It is old."),
        ("Oslo#2", "Oslo", "Another text."),
    ]
    assert data.documents == ()
    assert data.name == "hotpot"


def test_gold_is_a_part_a_supporting_paragraph_with_its_sentences(tmp_path: Path) -> None:
    data = load(tmp_path, FIRST, SECOND)
    assert data.gold["h1"].parts == (
        Part((Alternative(pid="Old_Town", quotes=("The Old Town is in Oslo.",)),)),
        Part((Alternative(pid="Oslo", quotes=("Oslo is a city.", "It lies on a fjord.")),)),
    )
    assert data.gold["h1"].answers == ("a fjord",)
    assert data.gold["h1"].answerable


def test_slices_are_type_level_and_whether_it_is_a_yes_no_question(tmp_path: Path) -> None:
    bare = {k: v for k, v in FIRST.items() if k not in ("type", "level")}
    data = load(tmp_path, FIRST, SECOND, {**bare, "_id": "h3"})
    assert [q.slices for q in data.questions] == [
        {"type": "bridge", "level": "hard", "yes_no": "no"},
        {"type": "comparison", "level": "hard", "yes_no": "yes"},
        {"yes_no": "no"},
    ]


def test_the_pool_is_the_paragraphs_a_question_came_with(tmp_path: Path) -> None:
    assert load(tmp_path, FIRST).questions[0].pool is None
    data = load(tmp_path, FIRST, {**SECOND, "context": [BERGEN, OSLO, BERGEN]}, pool=True)
    assert data.questions[0].pool == ("Bergen", "Oslo", "Old_Town")
    assert data.questions[1].pool == ("Bergen", "Oslo")


def test_text_is_joined_as_the_file_has_it(tmp_path: Path) -> None:
    context = [["Song", ['She sang "Go!', '", and left.', " She won."]], ["Empty", []]]
    data = load(tmp_path, {**FIRST, "context": context, "supporting_facts": [["Song", 1]]})
    assert [p.text for p in data.passages] == ['She sang "Go!", and left. She won.', ""]
    assert data.gold["h1"].parts[0].alternatives[0].quotes == ('", and left.',)


def test_a_supporting_title_means_the_questions_own_paragraph(tmp_path: Path) -> None:
    asked = {**SECOND, "supporting_facts": [["Oslo", 0]]}
    gold = load(tmp_path, FIRST, asked).gold["h2"]
    assert gold.parts == (Part((Alternative(pid="Oslo#2", quotes=("Another text.",)),)),)


def test_a_supporting_paragraph_may_be_in_another_questions_context(tmp_path: Path) -> None:
    asked = {**SECOND, "context": [OSLO]}
    gold = load(tmp_path, FIRST, asked).gold["h2"]
    assert gold.parts == (Part((Alternative(pid="Bergen", quotes=("Bergen has rain.",)),)),)


def test_a_blind_test_set_has_eval_gaps(tmp_path: Path) -> None:
    blind = {k: FIRST[k] for k in ("_id", "question", "context")}
    data = load(tmp_path, blind)
    gold = data.gold["h1"]
    assert (gold.parts, gold.answers, gold.answerable) == ((), (), True)
    assert data.questions[0].slices == {}


def test_a_missing_supporting_paragraph_is_an_error_unless_allowed(tmp_path: Path) -> None:
    asked = {**FIRST, "supporting_facts": [["Oslo", 0], ["Old  Town", 0]]}
    assert problems(tmp_path, asked) == [
        "hotpot.json, question 1: the supporting paragraph 'Old  Town' is in no context. Add it, "
        "or set dataset.allow_missing_gold=true to count such gold as missing."
    ]
    data = load(tmp_path, asked, allow_missing_gold=True)
    gold = data.gold["h1"]
    assert len(gold.parts) == 2
    assert resolve(gold, Corpus(data.passages, "x"), {}, shown).parts == ()


def shown(passage: Passage) -> ContextPassage:
    return ContextPassage(passage.pid, passage.text, passage.text)


@pytest.mark.parametrize("number", [2, 3, -1])
def test_a_sentence_that_is_not_there_is_an_error_unless_repaired(
    tmp_path: Path, number: int
) -> None:
    asked = {**FIRST, "supporting_facts": [["Oslo", number], ["Old Town", 1]]}
    assert problems(tmp_path, asked) == [
        f"hotpot.json, question 1: 'Oslo' has no sentence {number} (there are 3, counted from 0, "
        "or it is blank). Correct the number, or set dataset.repair=true to leave it out."
    ]
    assert load(tmp_path, asked, repair=True).gold["h1"].parts == (
        Part((Alternative(pid="Oslo"),)),
        Part((Alternative(pid="Old_Town", quotes=("It is old.",)),)),
    )


@pytest.mark.parametrize(
    ("title", "pid"),
    [
        ("Old Town", "Old_Town"),
        (" a\u00a0b\t c ", "a_b_c"),
        ("\u200b", "untitled"),
        ("", "untitled"),
        ("gold:x", "_gold:x"),
        ("Ærø (øy)", "Ærø_(øy)"),
    ],
)
def test_a_title_becomes_an_id_without_white_space(title: str, pid: str) -> None:
    assert slug(title) == pid


def test_ids_stay_unique_whatever_the_titles(tmp_path: Path) -> None:
    titles = ["A B", "A_B", "A_B#2", "A  B", "", " "]
    asked = {**FIRST, "context": [[t, [f"Text {n}."]] for n, t in enumerate(titles)]}
    data = load(tmp_path, {**asked, "supporting_facts": [["A_B", 0]]})
    pids = [p.pid for p in data.passages]
    assert pids == ["A_B", "A_B#2", "A_B#2#2", "A_B#3", "untitled", "untitled#2"]
    assert data.gold["h1"].parts[0].alternatives[0].pid == "A_B#2"


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ("x", "expected 'object', got 'str'"),
        ({k: v for k, v in FIRST.items() if k != "_id"}, "has no field '_id'"),
        ({**FIRST, "context": [["Oslo"]]}, "field 'context[0]'"),
        ({**FIRST, "context": [["Oslo", "text"]]}, "field 'context[0][1]': expected 'array'"),
        ({**FIRST, "supporting_facts": [["Oslo", "1"]]}, "field 'supporting_facts[0][1]'"),
        ({**FIRST, "question": ""}, "the question is blank"),
        (SECOND, "the question id 'h2' stands in question 1 already"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path: Path, bad: Any, sentence: str) -> None:
    found = problems(tmp_path, SECOND, bad)
    assert len(found) == 1
    assert found[0].startswith("hotpot.json, question 2: ")
    assert sentence in found[0]


def test_everything_wrong_is_reported_at_once(tmp_path: Path) -> None:
    asked = {**FIRST, "supporting_facts": [["Nowhere", 0], ["Oslo", 9], ["Oslo", 8]]}
    assert len(problems(tmp_path, asked, {}, SECOND, SECOND)) == 5


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[", "hotpot.json: invalid JSON ("),
        ("{}", "hotpot.json: expected 'array', got 'object'"),
        ("[]", "hotpot.json holds no passages"),
    ],
)
def test_a_file_in_another_format_is_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "hotpot.json").write_text(text)
    with pytest.raises(DatasetError) as error:
        HotpotQA(str(tmp_path / "hotpot.json")).load()
    assert sentence in error.value.problems[0]


def test_a_gzipped_file_is_the_same_set(tmp_path: Path) -> None:
    file = write(tmp_path, FIRST, SECOND)
    source = HotpotQA(str(file))
    loaded, identity = source.load(), source.identity()
    (tmp_path / "hotpot.json.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    assert (source.load(), source.identity()) == (loaded, identity)


def test_a_missing_file_is_found_without_reading(tmp_path: Path) -> None:
    assert "There is no file" in HotpotQA(str(tmp_path / "no.json")).problems()[0]
    assert "no importable package" in HotpotQA("pkg://nowhere/x").problems()[0]
    assert HotpotQA("pkg://nowhere/x").identity() == {}
    with pytest.raises(DatasetError, match="There is no file"):
        HotpotQA(str(tmp_path / "no.json")).load()


def test_real_questions_give_the_gold_that_their_converted_form_has(tmp_path: Path) -> None:
    folder = locate("pkg://ragablate.data/quickstart")
    theirs = Jsonl(str(folder)).load()
    passages = {p.pid: p for p in theirs.passages}
    written = []
    for qid in (q.qid for q in theirs.questions if q.qid.startswith("hp")):
        gold = theirs.gold[qid]
        given = [(passages[p.alternatives[0].pid], p.alternatives[0].quotes) for p in gold.parts]
        written.append(
            {
                **FIRST,
                "_id": qid,
                "answer": gold.answers[0],
                "context": [[p.title, sentences(p.text, quotes)] for p, quotes in given],
                "supporting_facts": [
                    [p.title, sentences(p.text, quotes).index(quote)]
                    for p, quotes in given
                    for quote in quotes
                ],
            }
        )
    ours = load(tmp_path, *written)
    texts = {p.pid: p.text for p in ours.passages}
    assert len(ours.questions) == 100
    for qid, gold in ours.gold.items():
        expected = theirs.gold[qid].parts
        assert gold.answers == theirs.gold[qid].answers
        for part, other in zip(gold.parts, expected, strict=True):
            (one,), (two,) = part.alternatives, other.alternatives
            assert squeezed(texts[one.pid]) == squeezed(passages[two.pid].text)
            assert sorted(one.quotes) == sorted(two.quotes)


def squeezed(text: str) -> str:
    return "".join(text.split())


def sentences(text: str, quotes: tuple[str, ...]) -> list[str]:
    """A paragraph cut at its quotes, which are sentences of their own."""
    pieces = [text]
    for number, quote in enumerate(quotes):
        cut = quotes[:number]
        at = next(n for n, piece in enumerate(pieces) if quote in piece and piece not in cut)
        before, after = pieces[at].split(quote, 1)
        pieces[at : at + 1] = [before, quote, after]
    return pieces
