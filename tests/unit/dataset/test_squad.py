"""Reading JSON files in the format of SQuAD."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.dataset.jsonl import Jsonl
from ragablate.dataset.squad import Squad
from ragablate.errors import DatasetError
from ragablate.gold import resolve
from ragablate.protocols import DatasetSource
from ragablate.records import Alternative, ContextPassage, Corpus, Dataset, Part, Passage
from ragablate.resources import locate

OSLO = "Oslo is the capital of Norway. Oslo lies on a fjord."
BERGEN = "Bergen has much rain."


def ask(qid: Any, question: str, *answers: tuple[str, int], **fields: Any) -> dict[str, Any]:
    given = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": qid, "question": question, "answers": given, **fields}


def paragraph(context: str, *asked: Any) -> dict[str, Any]:
    return {"context": context, "qas": list(asked)}


def article(title: str | None, *paragraphs: Any) -> dict[str, Any]:
    return {"title": title, "paragraphs": list(paragraphs)}


CITIES = article(
    "Cities",
    paragraph(OSLO, ask("q1", "What is the capital?", ("Oslo", 0), ("Oslo", 31), ("Oslo", 0))),
    paragraph(
        BERGEN,
        ask("q2", "What has Bergen?", ("much rain", 11)),
        ask("q3", "Who rules Bergen?", is_impossible=True, plausible_answers=[{"text": "SECRET"}]),
    ),
)


def write(path: Path, *articles: Any) -> Path:
    file = path / "small.json"
    file.write_text(json.dumps({"version": "v2.0", "data": list(articles)}), encoding="utf-8")
    return file


def load(path: Path, *articles: Any, **knobs: Any) -> Dataset:
    return Squad(str(write(path, *articles)), **knobs).load()


def problems(path: Path, *articles: Any, **knobs: Any) -> list[str]:
    with pytest.raises(DatasetError) as error:
        load(path, *articles, **knobs)
    return [problem.replace(str(path) + "/", "") for problem in error.value.problems]


def test_it_is_a_dataset_source() -> None:
    assert isinstance(Squad("x"), DatasetSource)


def test_paragraphs_are_passages_cut_from_their_article(tmp_path: Path) -> None:
    data = load(tmp_path, CITIES, article(None, paragraph("Alone.")))
    assert [(p.pid, p.doc_id, p.start, p.title, p.text) for p in data.passages] == [
        ("0000-000", "0000", 0, "Cities", OSLO),
        ("0000-001", "0000", len(OSLO) + 2, "Cities", BERGEN),
        ("0001-000", "0001", 0, "", "Alone."),
    ]
    assert data.documents == ()
    assert data.name == "small"


def test_gold_is_one_part_with_every_distinct_span(tmp_path: Path) -> None:
    gold = load(tmp_path, CITIES).gold["q1"]
    assert gold.answers == ("Oslo",)
    assert gold.parts == (
        Part(
            (
                Alternative(pid="0000-000", start=0, end=4),
                Alternative(pid="0000-000", start=31, end=35),
            )
        ),
    )


def test_an_unanswerable_question_names_its_paragraph_and_nothing_plausible(tmp_path: Path) -> None:
    data = load(tmp_path, CITIES)
    gold = data.gold["q3"]
    assert not gold.answerable
    assert gold.answers == ()
    assert gold.parts == (Part((Alternative(pid="0000-001"),)),)
    assert "SECRET" not in repr(data)
    corpus = Corpus(data.passages, "x")
    assert resolve(gold, corpus, {}, shown).parts == ()


def shown(passage: Passage) -> ContextPassage:
    return ContextPassage(passage.pid, passage.text, passage.text)


def test_articles_are_documents_whose_spans_are_gold(tmp_path: Path) -> None:
    data = load(tmp_path, CITIES, unit="documents")
    (document,) = data.documents
    assert data.passages == ()
    assert (document.doc_id, document.title) == ("0000", "Cities")
    assert document.text == f"{OSLO}\n\n{BERGEN}"
    (alternative,) = data.gold["q2"].parts[0].alternatives
    assert alternative.doc_id == "0000"
    assert document.text[alternative.start : alternative.end] == "much rain"
    assert data.gold["q3"].parts == (Part((Alternative(doc_id="0000"),)),)


@settings(deadline=None, max_examples=60)
@given(
    texts=st.lists(st.text("ab \n", min_size=1, max_size=12), min_size=1, max_size=5),
    draw=st.data(),
)
def test_a_span_is_the_same_text_in_the_passage_and_in_the_document(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], draw: st.DataObject
) -> None:
    paragraphs = []
    for n, text in enumerate(texts):
        start = draw.draw(st.integers(0, len(text) - 1))
        end = draw.draw(st.integers(start + 1, len(text)))
        if text[start:end].strip():
            paragraphs.append(paragraph(text, ask(f"q{n}", f"Q {n}?", (text[start:end], start))))
    if not paragraphs:
        return
    folder = tmp_path_factory.mktemp("drawn")
    cut = load(folder, article("T", *paragraphs))
    whole = load(folder, article("T", *paragraphs), unit="documents")
    document = whole.documents[0].text
    passages = {p.pid: p for p in cut.passages}
    assert all(document[p.start : p.start + len(p.text)] == p.text for p in cut.passages)
    for qid, gold in cut.gold.items():
        (one,) = gold.parts[0].alternatives
        (other,) = whole.gold[qid].parts[0].alternatives
        assert passages[one.pid].text[one.start : one.end] == gold.answers[0]
        assert document[other.start : other.end] == gold.answers[0]


def test_without_reference_answers_the_whole_paragraph_is_needed(tmp_path: Path) -> None:
    blind = article("T", paragraph(OSLO), paragraph(BERGEN, {"id": 7, "question": "What?"}))
    gold = load(tmp_path, blind).gold["7"]
    assert gold.answerable
    assert gold.parts == (Part((Alternative(pid="0000-001"),)),)
    begins, ends = len(OSLO) + 2, len(OSLO) + 2 + len(BERGEN)
    assert load(tmp_path, blind, unit="documents").gold["7"].parts == (
        Part((Alternative(doc_id="0000", start=begins, end=ends),)),
    )


def test_the_same_paragraph_again_is_the_first_one(tmp_path: Path) -> None:
    again = [
        article("Cities", paragraph(OSLO, ask("q4", "Where?", ("fjord", 46)))),
        article("Towns", paragraph(OSLO)),
    ]
    data = load(tmp_path, CITIES, *again)
    assert [p.pid for p in data.passages] == ["0000-000", "0000-001", "0002-000"]
    assert data.gold["q4"].parts[0].alternatives[0].pid == "0000-000"
    twice = article("T", paragraph(OSLO), paragraph(OSLO, ask("q", "Where?", ("fjord", 46))))
    assert [d.text for d in load(tmp_path, twice, unit="documents").documents] == [OSLO]


def test_questions_in_the_same_words_are_one_if_asked_to(tmp_path: Path) -> None:
    twins = article(
        "T",
        paragraph(OSLO, ask("a", "What is it?", ("capital", 12)), ask("c", "Who?")),
        paragraph(
            BERGEN,
            ask("b", "What  is it?", ("rain", 16), ("Bergen", 0)),
            ask("d", "Who?", is_impossible=True),
            ask("e", "Why?", is_impossible=True),
        ),
    )
    assert len(load(tmp_path, twins).questions) == 5
    data = load(tmp_path, twins, distinct_questions=True)
    assert [q.qid for q in data.questions] == ["a", "c", "e"]
    assert data.gold["a"].answers == ("capital", "rain", "Bergen")
    assert data.gold["a"].parts == (
        Part(
            (
                Alternative(pid="0000-000", start=12, end=19),
                Alternative(pid="0000-001", start=16, end=20),
                Alternative(pid="0000-001", start=0, end=6),
            )
        ),
    )
    assert data.gold["c"].answerable
    assert data.gold["c"].parts == (Part((Alternative(pid="0000-000"),)),)
    assert not data.gold["e"].answerable


SHIFTED = article(
    "T",
    paragraph(
        OSLO,
        ask("near", "Q1?", ("Oslo", 29)),
        ask("tie", "Q2?", (" a", 48)),
        ask("negative", "Q3?", ("Oslo", -1)),
        ask("some", "Q4?", ("oslo", 0), ("fjord", 46)),
        ask("none", "Q5?", ("Paris", 0)),
    ),
)


def test_answers_that_do_not_stand_there_are_all_reported(tmp_path: Path) -> None:
    found = problems(tmp_path, SHIFTED)
    assert len(found) == 5
    assert found[0] == (
        "small.json, article 1, paragraph 1, question 1: the answer 'Oslo' does not stand at "
        "answer_start 29. Count characters, from 0, in the context, or set dataset.repair=true "
        "to take the nearest occurrence."
    )


def test_repair_takes_the_nearest_occurrence_or_the_whole_paragraph(tmp_path: Path) -> None:
    gold = load(tmp_path, SHIFTED, repair=True).gold

    def spans(qid: str) -> list[tuple[int | None, int | None]]:
        (part,) = gold[qid].parts
        return [(a.start, a.end) for a in part.alternatives]

    assert spans("near") == [(31, 35)]
    assert spans("tie") == [(44, 45)]
    assert spans("negative") == [(0, 4)]
    assert spans("some") == [(46, 51)]
    assert spans("none") == [(None, None)]
    assert gold["none"].answers == ("Paris",)
    whole = load(tmp_path, SHIFTED, repair=True, unit="documents").gold["none"].parts
    assert whole == (Part((Alternative(doc_id="0000", start=0, end=len(OSLO)),)),)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ("x", "article 2: expected 'object', got 'str'"),
        ({"title": "T"}, "article 2: has no field 'paragraphs'"),
        (article("T", {"qas": []}), "article 2, paragraph 1: has no field 'context'"),
        (article("T", paragraph("x", {"id": "q"})), "question 1: has no field 'question'"),
        (article("T", paragraph("x", ask(1.5, "Q?"))), "field 'id': expected 'int | str'"),
        (
            article("T", paragraph("x", {**ask("q", "Q?"), "answers": [{"text": "x"}]})),
            "field 'answers[0]': has no field 'answer_start'",
        ),
        (article("T", paragraph("x", ask("q", "Q?", ("", 0)))), "the answer '' does not stand"),
        (
            article("T", paragraph("x", ask("q", "Q?", ("x", 0), is_impossible=True))),
            "question 1: is_impossible is true, but it has answers",
        ),
        (article("T", paragraph("x", ask("q", " "))), "question 1: the question is blank"),
        (
            article("T", paragraph("x", ask("q1", "Q?"))),
            "the question id 'q1' stands in article 1, paragraph 1, question 1 already",
        ),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path: Path, bad: Any, sentence: str) -> None:
    found = problems(tmp_path, CITIES, bad)
    assert len(found) == 1
    assert found[0].startswith("small.json, article 2")
    assert sentence in found[0]


def test_everything_wrong_is_reported_at_once(tmp_path: Path) -> None:
    bad = article("T", 7, paragraph("x", {}, ask("q1", "Q?", ("y", 0))))
    found = problems(tmp_path, {}, CITIES, bad)
    assert len(found) == 5, found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"data": [', "small.json: invalid JSON ("),
        ("[]", "small.json: expected 'object', got 'array'"),
        ("{}", "small.json: has no field 'data'"),
        ('{"data": []}', "small.json holds no passages"),
        (b'{"data": "\xff"}', "small.json, line 1: not UTF-8 (byte 0xff)"),
    ],
)
def test_a_file_in_another_format_is_a_sentence(
    tmp_path: Path, text: str | bytes, sentence: str
) -> None:
    file = tmp_path / "small.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DatasetError) as error:
        Squad(str(file)).load()
    assert sentence in error.value.problems[0]


def test_a_gzipped_file_is_the_same_set(tmp_path: Path) -> None:
    file = write(tmp_path, CITIES)
    plain = Squad(str(file))
    loaded, identity = plain.load(), plain.identity()
    (tmp_path / "small.json.gz").write_bytes(gzip.compress(file.read_bytes()))
    named = Squad(str(tmp_path / "small.json.gz"))
    assert (named.load(), named.identity()) == (loaded, identity)
    file.unlink()
    assert plain.load() == loaded


def test_missing_file_and_settings_are_found_without_reading(tmp_path: Path) -> None:
    assert Squad(str(tmp_path / "no.json")).problems() == [
        f"dataset.path: There is no file {tmp_path}/no.json. Put it there, or correct the name."
    ]
    assert Squad(str(tmp_path)).problems() == [
        f"dataset.path: {tmp_path} is a folder. Name the file itself."
    ]
    assert "no importable package" in Squad("pkg://nowhere/x.json").problems()[0]
    assert Squad("pkg://nowhere/x.json").identity() == {}
    wrong = Squad(str(write(tmp_path, CITIES)), unit="chapters")  # type: ignore[arg-type]
    with pytest.raises(DatasetError, match=r"dataset\.unit is 'chapters'"):
        wrong.load()


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_real_paragraphs_give_the_gold_that_their_converted_form_has(tmp_path: Path) -> None:
    folder = locate("pkg://ragablate.data/quickstart")
    contexts = {row["id"]: row["text"] for row in rows(folder / "corpus.jsonl")}
    asked = rows(folder / "questions.jsonl")
    kept = [q for q in asked if "answer_start" in q]
    written = [
        article(
            q["gold_ids"][0],
            paragraph(
                contexts[q["gold_ids"][0]],
                ask(
                    q["id"],
                    q["question"],
                    *zip(q["answers"], q["answer_start"], strict=True),
                ),
            ),
        )
        for q in kept
    ]
    ours = load(tmp_path, *written)
    theirs = Jsonl("pkg://ragablate.data/quickstart").load()
    texts = {p.pid: p.text for p in ours.passages}
    assert len(kept) == 60
    for q in kept:
        (one,) = ours.gold[q["id"]].parts[0].alternatives
        (other,) = theirs.gold[q["id"]].parts[0].alternatives
        assert texts[one.pid] == contexts[other.pid]
        assert (one.start, one.end) == (other.start, other.end)
        assert ours.gold[q["id"]].answers == theirs.gold[q["id"]].answers
