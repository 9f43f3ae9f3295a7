"""Reading questions, gold and a corpus from JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragablate.dataset.jsonl import Jsonl
from ragablate.errors import DatasetError
from ragablate.protocols import DatasetSource
from ragablate.records import Alternative, Dataset, Part, Turn

CORPUS = [
    {"id": "p1", "title": "Oslo", "text": "Oslo is the capital of Norway. It lies on a fjord."},
    {"id": "p2", "title": None, "text": "Bergen has 290,000 people."},
    {"id": 3, "text": "Trondheim was founded in 997.", "meta": {"year": 997, "tags": ["a", 1]}},
]
QUESTION = {
    "id": "q1",
    "question": "What is the capital of Norway?",
    "answers": ["Oslo"],
    "gold_ids": ["p1"],
}


def folder(path: Path, corpus: list[Any] = CORPUS, questions: list[Any] | None = None) -> Path:
    """A data set folder; strings are written as they are, everything else as JSON."""
    for name, rows in (("corpus", corpus), ("questions", questions or [QUESTION])):
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (path / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))
    return path


def load(path: Path, corpus: list[Any] = CORPUS, *questions: Any, **knobs: Any) -> Dataset:
    return Jsonl(str(folder(path, corpus, list(questions))), **knobs).load()


def parts(path: Path, **fields: Any) -> tuple[Part, ...]:
    knobs = {k: fields.pop(k) for k in ("gold_rule", "unit", "allow_missing_gold") if k in fields}
    row = {**QUESTION, **fields}
    return load(path, CORPUS, row, **knobs).gold["q1"].parts


def problems(path: Path, *questions: Any, corpus: list[Any] = CORPUS, **knobs: Any) -> list[str]:
    with pytest.raises(DatasetError) as error:
        load(path, corpus, *questions, **knobs)
    return [problem.replace(str(path) + "/", "") for problem in error.value.problems]


def test_it_is_a_dataset_source() -> None:
    assert isinstance(Jsonl("x"), DatasetSource)


def test_passages_questions_and_gold_are_read(tmp_path: Path) -> None:
    data = load(tmp_path, CORPUS, QUESTION)
    assert [p.pid for p in data.passages] == ["p1", "p2", "3"]
    assert data.passages[0].title == "Oslo"
    assert data.passages[1].title == ""
    assert data.passages[2].meta == {"year": 997, "tags": '["a",1]'}
    assert data.documents == ()
    assert data.questions[0].text == "What is the capital of Norway?"
    assert data.gold["q1"].answers == ("Oslo",)
    assert data.gold["q1"].answerable
    assert data.gold["q1"].parts == (Part((Alternative(pid="p1"),)),)


def test_name_is_the_folder_unless_given(tmp_path: Path) -> None:
    assert load(tmp_path, CORPUS, QUESTION).name == tmp_path.name
    assert load(tmp_path, CORPUS, QUESTION, name="n", attribution="me").name == "n"
    assert load(tmp_path, CORPUS, QUESTION, name="n", attribution="me").attribution == "me"


def test_other_file_names_can_be_given(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / "corpus.jsonl").rename(tmp_path / "c.en.jsonl")
    (tmp_path / "questions.jsonl").rename(tmp_path / "q.en.jsonl")
    data = Jsonl(str(tmp_path), corpus="c.en.jsonl", questions="q.en.jsonl").load()
    assert len(data.questions) == 1


def test_a_passage_is_its_own_document_unless_it_was_cut_from_one(tmp_path: Path) -> None:
    corpus = [*CORPUS, {"id": "p4", "text": "on a fjord", "doc_id": "d", "start": 38}]
    passages = load(tmp_path, corpus, QUESTION).passages
    assert [(p.doc_id, p.start) for p in passages] == [("p1", 0), ("p2", 0), ("3", 0), ("d", 38)]


def test_every_field_of_a_question_is_read(tmp_path: Path) -> None:
    row = {
        **QUESTION,
        "slices": {"hops": 1, "yes_no": False, "kinds": ["b", "a"], "empty": None, "scale": ""},
        "history": [{"speaker": "user", "text": "Hi"}, {"speaker": "agent", "text": "Hello"}],
        "filter": {"lang": "en", "year": 1997},
        "meta": {"conversation": "c1"},
        "pool_ids": ["p1", 3],
    }
    question = load(tmp_path, CORPUS, row, pool=True).questions[0]
    assert question.slices == {"hops": "1", "yes_no": "no", "kinds": "b, a", "scale": ""}
    assert question.history == (Turn("user", "Hi"), Turn("agent", "Hello"))
    assert question.filter == {"lang": "en", "year": 1997}
    assert question.meta == {"conversation": "c1"}
    assert question.pool == ("p1", "3")


def test_pools_restrict_nothing_unless_asked_to(tmp_path: Path) -> None:
    row = {**QUESTION, "pool_ids": ["p1", "unknown"]}
    assert load(tmp_path, CORPUS, row).questions[0].pool is None


def test_no_field_but_those_named_reaches_a_question(tmp_path: Path) -> None:
    secret = "SECRET"
    row = {
        **QUESTION,
        "answers": [secret],
        "gold_ids": [],
        "answerable": False,
        "gold_answer": secret,
        "derivation": secret,
        "answer_parts": [secret],
        "explanation": secret,
        "evidence": [{"doc_id": "p1", "sentences": [1], "label": secret}],
        "parallel_id": secret,
    }
    data = load(tmp_path, CORPUS, row)
    assert secret not in repr(data.questions)
    assert data.gold["q1"].answers == (secret,)


def test_gold_in_meta_is_refused(tmp_path: Path) -> None:
    found = problems(tmp_path, {**QUESTION, "meta": {"gold_ids": ["p1"], "topic": "x"}})
    assert len(found) == 1
    assert "questions.jsonl, line 1: meta holds 'gold_ids'" in found[0]


def test_byte_order_mark_crlf_and_blank_lines_are_accepted(tmp_path: Path) -> None:
    folder(tmp_path)
    for name in ("corpus.jsonl", "questions.jsonl"):
        data = (tmp_path / name).read_bytes().replace(b"\n", b"\r\n\r\n")
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + data)
    data = Jsonl(str(tmp_path)).load()
    assert (len(data.passages), len(data.questions)) == (3, 1)


def test_line_separators_of_unicode_do_not_end_a_line(tmp_path: Path) -> None:
    corpus = ['{"id": "p1", "text": "one\u2028two\x85three"}']
    assert load(tmp_path, corpus, QUESTION).passages[0].text == "one\u2028two\x85three"


def test_flat_gold_is_one_part_each_under_all(tmp_path: Path) -> None:
    assert parts(tmp_path, gold_ids=["p1", 3, "p1"]) == (
        Part((Alternative(pid="p1"),)),
        Part((Alternative(pid="3"),)),
    )


def test_flat_gold_is_one_part_of_alternatives_under_any(tmp_path: Path) -> None:
    assert parts(tmp_path, gold_ids=["p1", "p2"], gold_rule="any") == (
        Part((Alternative(pid="p1"), Alternative(pid="p2"))),
    )


def test_evidence_sentences_become_quotes_of_the_passage_they_stand_in(tmp_path: Path) -> None:
    fjord, people = "It lies on a fjord.", "Bergen has 290,000 people."
    expected = (
        Part((Alternative(pid="p1", quotes=(fjord,)),)),
        Part((Alternative(pid="p2", quotes=(people,)),)),
    )
    assert parts(tmp_path, gold_ids=["p1", "p2"], evidence=[people, f" {fjord} "]) == expected
    named = [{"doc_id": "p1", "sentence": fjord}, {"doc_id": "p2", "sentence": people}]
    assert parts(tmp_path, gold_ids=["p1", "p2"], evidence=named) == expected


@pytest.mark.parametrize(
    "evidence",
    [
        [{"doc_id": "p1", "sentences": [0, 2], "label": "SUPPORT"}],
        [{"doc_id": "p2", "sentence": "of a passage that is not gold"}],
        "It lies on a fjord.",
        {"p1": [1]},
        [1, None, ""],
        None,
    ],
)
def test_evidence_of_other_shapes_is_passed_over(tmp_path: Path, evidence: Any) -> None:
    assert parts(tmp_path, evidence=evidence) == (Part((Alternative(pid="p1"),)),)


def test_answer_start_gives_one_alternative_a_distinct_span(tmp_path: Path) -> None:
    found = parts(tmp_path, answers=["Oslo", "Oslo", "capital of Norway"], answer_start=[0, 0, 12])
    assert found == (
        Part(
            (
                Alternative(pid="p1", start=0, end=4),
                Alternative(pid="p1", start=12, end=29),
            )
        ),
    )


def test_gold_lists_parts_and_alternatives(tmp_path: Path) -> None:
    corpus = [*CORPUS, {"id": "p4", "text": "on a fjord", "doc_id": "d", "start": 38}]
    gold = [
        ["p1", {"doc_id": "d", "start": 38, "end": 42}],
        [{"pid": "p2", "quotes": ["290,000"]}, {"text": "A text of its own."}, 3],
    ]
    data = load(tmp_path, corpus, {**QUESTION, "gold": gold, "gold_ids": ["p2"]})
    assert data.gold["q1"].parts == (
        Part((Alternative(pid="p1"), Alternative(doc_id="d", start=38, end=42))),
        Part(
            (
                Alternative(pid="p2", quotes=("290,000",)),
                Alternative(text="A text of its own."),
                Alternative(pid="3"),
            )
        ),
    )


def test_documents_have_gold_by_document(tmp_path: Path) -> None:
    data = load(
        tmp_path, CORPUS, {**QUESTION, "answer_start": [0], "pool_ids": ["x"]}, unit="documents"
    )
    assert data.passages == ()
    assert [d.doc_id for d in data.documents] == ["p1", "p2", "3"]
    assert data.gold["q1"].parts == (Part((Alternative(doc_id="p1", start=0, end=4),)),)


def test_question_without_gold_is_no_error(tmp_path: Path) -> None:
    gap = {"id": "q1", "question": "Why?"}
    data = load(tmp_path, CORPUS, gap, {"id": "q2", "question": "Why?", "answerable": False})
    assert data.gold["q1"].parts == ()
    assert data.gold["q1"].answerable
    assert not data.gold["q2"].answerable


def test_missing_gold_is_an_error_unless_allowed(tmp_path: Path) -> None:
    assert problems(tmp_path, {**QUESTION, "gold_ids": ["p1", "p9"]}) == [
        "questions.jsonl, line 1: the gold passage 'p9' is in no corpus. Correct the id, or set "
        "allow_missing_gold=true to count such gold as missing."
    ]
    assert parts(tmp_path, gold_ids=["p9"], allow_missing_gold=True) == (
        Part((Alternative(pid="p9"),)),
    )


def test_missing_gold_with_a_text_of_its_own_becomes_that_text(tmp_path: Path) -> None:
    gold = [[{"pid": "p9", "text": "Nine."}], [{"pid": "p1", "text": "ignored"}]]
    assert parts(tmp_path, gold=gold, allow_missing_gold=True) == (
        Part((Alternative(text="Nine."),)),
        Part((Alternative(pid="p1"),)),
    )


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"id": "q 1"}, "the question id 'q 1' is empty or has white space"),
        ({"id": ""}, "the question id '' is empty"),
        ({"id": 1.5}, "field 'id': expected 'int | str', got 'float'"),
        ({"id": True}, "field 'id': expected 'int | str', got 'bool'"),
        ({"question": " \n"}, "the question is blank"),
        ({"question": 7}, "field 'question': expected 'str', got 'int'"),
        ({"answers": "Oslo"}, "field 'answers': expected 'array | null', got 'str'"),
        ({"answerable": "no"}, "field 'answerable': expected 'bool', got 'str'"),
        ({"gold_ids": [None]}, "field 'gold_ids[0]': expected 'int | str', got 'null'"),
        ({"history": [{"text": "Hi"}]}, "field 'history[0]': has no field 'speaker'"),
        ({"slices": {"a": {}}}, "field 'slices[...]'"),
        ({"filter": {"a": [["b"]]}}, "field 'filter[...]"),
        ({"answer_start": [1]}, "the answer 'Oslo' does not stand at answer_start 1"),
        ({"answer_start": [-50]}, "the answer 'Oslo' does not stand at answer_start -50"),
        ({"answer_start": [0, 0]}, "answer_start has 2 offsets for 1 answers and 1 gold"),
        (
            {"answer_start": [0], "gold_ids": ["p1", "p2"]},
            "answer_start has 1 offsets for 1 answers and 2 gold passages",
        ),
        ({"evidence": ["It lies in a fjord."]}, "'It lies in a fjord.' does not stand in"),
        (
            {"evidence": [{"doc_id": "p1", "sentence": "No."}]},
            "the evidence 'No.' does not stand in the gold passage",
        ),
        ({"gold": [[]]}, "part 1 of the gold is empty"),
        ({"gold": [[{}]]}, "a gold alternative must name one place"),
        ({"gold": [[{"pid": "p1", "doc_id": "p1"}]]}, "a gold alternative must name one place"),
        ({"gold": [[{"text": " "}]]}, "the text of a gold alternative is blank"),
        ({"gold": [[{"pid": "p1", "quote": "x"}]]}, "unknown field 'quote'"),
        ({"gold": [[{"pid": "p1", "quotes": ["x"]}]]}, "the evidence 'x' does not stand in"),
        ({"gold": [[{"pid": "p1", "quotes": [" "]}]]}, "the evidence '' does not stand in"),
        ({"gold": [[{"pid": "p1", "start": 3}]]}, "the gold span from 3 to None"),
        ({"gold": [[{"pid": "p1", "start": 3, "end": 3}]]}, "the gold span from 3 to 3"),
        ({"gold": [[{"pid": "p1", "start": 3, "end": 99}]]}, "the gold span ends at 99"),
        ({"gold": [[{"doc_id": "d9"}]]}, "the gold document 'd9' is in no corpus"),
        ({"gold": ["p1"]}, "field 'gold[0]': expected 'array', got 'str'"),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(
    tmp_path: Path, fields: dict[str, Any], sentence: str
) -> None:
    found = problems(tmp_path, {**QUESTION, "id": "first"}, {**QUESTION, **fields})
    assert len(found) == 1
    assert found[0].startswith("questions.jsonl, line 2: ")
    assert sentence in found[0]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"id": "p1", "text": "again"}, "the passage id 'p1' stands in line 1 already"),
        ({"id": "3", "text": "again"}, "the passage id '3' stands in line 3 already"),
        ({"id": "a b", "text": "x"}, "has white space or control characters in it"),
        ({"id": "gold:q1:0", "text": "x"}, "ids that begin with 'gold:' are taken"),
        ({"id": "p4"}, "has no field 'text'"),
        ({"text": "x"}, "has no field 'id'"),
        ({"id": "p4", "text": None}, "field 'text': expected 'str', got 'null'"),
        ([1], "expected 'object', got 'array'"),
        ('{"id": "p4", "text": "x"', "invalid JSON"),
        ('{"id": "p4", "text": NaN}', "invalid JSON"),
        ('{"id": "p4", "text": "\\ud800"}', "invalid JSON (half of a surrogate pair"),
    ],
)
def test_a_bad_line_of_the_corpus_is_named(tmp_path: Path, row: Any, sentence: str) -> None:
    found = problems(tmp_path, QUESTION, corpus=[*CORPUS, row])
    assert found[0].startswith("corpus.jsonl, line 4: ")
    assert sentence in found[0]


def test_everything_wrong_is_reported_at_once(tmp_path: Path) -> None:
    rows = [
        QUESTION,
        QUESTION,
        {**QUESTION, "id": "q2", "gold_ids": ["p9"]},
        {**QUESTION, "id": "q3", "question": ""},
        "{",
    ]
    found = problems(tmp_path, *rows, corpus=[*CORPUS, CORPUS[0]])
    assert len(found) == 5
    for sentence in (
        "questions.jsonl, line 5: invalid JSON",
        "corpus.jsonl, line 4: the passage id 'p1' stands in line 1 already",
        "questions.jsonl, line 2: the question id 'q1' stands in line 1 already",
        "questions.jsonl, line 4: the question is blank",
        "questions.jsonl, line 3: the gold passage 'p9' is in no corpus",
    ):
        assert any(problem.startswith(sentence) for problem in found), sentence


def test_a_broken_corpus_raises_no_false_alarm_about_gold(tmp_path: Path) -> None:
    found = problems(tmp_path, {**QUESTION, "gold_ids": ["p9"]}, corpus=[*CORPUS, "{"])
    assert len(found) == 2
    assert found[0].startswith("corpus.jsonl, line 4: invalid JSON")
    assert "gold and pools were not checked" in found[1]


def test_of_many_problems_twenty_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    rows = [{**QUESTION, "id": f"q{i}", "gold_ids": ["p9"]} for i in range(25)]
    found = problems(tmp_path, *rows)
    assert len(found) == 21
    assert found[-1] == "... and 5 more problems."


def test_a_file_in_another_encoding_is_one_sentence(tmp_path: Path) -> None:
    folder(tmp_path)
    text = '{"id": "p1", "text": "K"}\n{"id": "p2", "text": "Köln"}\n{"id": "p3", "text": "ß"}\n'
    (tmp_path / "corpus.jsonl").write_bytes(text.encode("latin-1"))
    with pytest.raises(DatasetError) as error:
        Jsonl(str(tmp_path)).load()
    assert "corpus.jsonl, line 2: not UTF-8 (byte 24 of the line is 0xf6)" in str(error.value)
    assert "line 3" not in str(error.value)


@pytest.mark.parametrize("name", ["corpus.jsonl", "questions.jsonl"])
def test_empty_file_is_refused(tmp_path: Path, name: str) -> None:
    folder(tmp_path)
    (tmp_path / name).write_text("\n \n")
    with pytest.raises(DatasetError, match=f"{name} holds no"):
        Jsonl(str(tmp_path)).load()


def test_unknown_pool_is_refused_where_pools_are_used(tmp_path: Path) -> None:
    row = {**QUESTION, "pool_ids": ["p1", "p8", "p9"]}
    found = problems(tmp_path, row, pool=True)
    assert found[0].startswith(
        "questions.jsonl, line 1: pool_ids names the passage 'p8' and 1 others, in no corpus"
    )


def test_missing_folder_and_files_are_found_without_reading(tmp_path: Path) -> None:
    assert "there is no folder" in Jsonl(str(tmp_path / "nowhere")).problems()[0]
    assert [p.split("/")[-1] for p in Jsonl(str(tmp_path)).problems()] == [
        "corpus.jsonl. Put it there, or correct the name.",
        "questions.jsonl. Put it there, or correct the name.",
    ]
    with pytest.raises(DatasetError, match="there is no folder"):
        Jsonl(str(tmp_path / "nowhere")).load()
    (tmp_path / "corpus.jsonl").write_text("{")
    assert len(Jsonl(str(tmp_path)).problems()) == 1
    assert "no importable package" in Jsonl("pkg://nowhere/x").problems()[0]


def test_a_missing_file_hides_no_problem_of_the_other(tmp_path: Path) -> None:
    folder(tmp_path, CORPUS, [QUESTION, QUESTION])
    (tmp_path / "corpus.jsonl").unlink()
    with pytest.raises(DatasetError) as error:
        Jsonl(str(tmp_path)).load()
    assert "There is no file" in error.value.problems[0]
    assert "the question id 'q1' stands in line 1 already" in error.value.problems[1]


def test_settings_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    source = Jsonl(str(folder(tmp_path)), unit="chapters", gold_rule="some")  # type: ignore[arg-type]
    assert source.problems() == [
        "dataset.unit is 'chapters'. Set it to passages or documents.",
        "dataset.gold_rule is 'some'. Set it to all or any.",
    ]
    with pytest.raises(DatasetError, match="gold_rule"):
        source.load()
    assert "needs passages" in Jsonl(str(tmp_path), unit="documents", pool=True).problems()[0]


def test_identity_follows_the_content_and_not_the_place(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    identity = Jsonl(str(folder(one))).identity()
    assert identity == Jsonl(str(folder(two))).identity()
    with (two / "questions.jsonl").open("a") as file:
        file.write("\n")
    assert identity != Jsonl(str(two)).identity()
    (two / "corpus.jsonl").unlink()
    assert Jsonl(str(two)).identity() == {}
