"""Reading questions and a corpus from tables, through a map of columns."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.dataset.sheets import read_csv
from ragablate.dataset.table import Table
from ragablate.errors import DatasetError
from ragablate.protocols import DatasetSource
from ragablate.records import Alternative, Dataset, Part

CORPUS = """\
id,title,text
007,Oslo,"Oslo, a city.
It lies on a fjord."
b,,Bergen has rain.
c,NA,null
"""
QUESTIONS = """\
id,question,answers,gold_ids
q1,Where is Oslo?,"[""On a fjord"", ""fjord""]","[""007""]"
q2,What has Bergen?,NA,b
q3,Why?,,
"""


def write(path: Path, corpus: str = CORPUS, questions: str = QUESTIONS) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / "corpus.csv").write_text(corpus, encoding="utf-8", newline="")
    (path / "questions.csv").write_text(questions, encoding="utf-8", newline="")
    return path


def load(path: Path, questions: str = QUESTIONS, corpus: str = CORPUS, **knobs: Any) -> Dataset:
    return Table(str(write(path, corpus, questions)), **knobs).load()


def columns(corpus: dict[str, Any] | None = None, **questions: Any) -> dict[str, Any]:
    """The default map with some fields changed."""
    ours: dict[str, Any] = {"id": "id", "text": "text", "title": "title", **(corpus or {})}
    asked = {"id": "id", "question": "question", "answers": "answers", "gold_ids": "gold_ids"}
    return {"corpus": ours, "questions": {**asked, **questions}}


def problems(path: Path, *written: str, **knobs: Any) -> list[str]:
    with pytest.raises(DatasetError) as error:
        load(path, *written, **knobs)
    return [problem.replace(str(path) + "/", "") for problem in error.value.problems]


def parts(path: Path, gold: str, **knobs: Any) -> tuple[Part, ...]:
    """Gold of one question whose cell of gold ids is given."""
    out = io.StringIO()
    csv.writer(out).writerows(
        [["id", "question", "answers", "gold_ids"], ["q1", "Q?", "rain", gold]]
    )
    return load(path, out.getvalue(), **knobs).gold["q1"].parts


def test_it_is_a_dataset_source() -> None:
    assert isinstance(Table("x"), DatasetSource)


def test_text_is_taken_as_it_is(tmp_path: Path) -> None:
    data = load(tmp_path)
    assert [(p.pid, p.title, p.text) for p in data.passages] == [
        ("007", "Oslo", "Oslo, a city.\nIt lies on a fjord."),
        ("b", "", "Bergen has rain."),
        ("c", "NA", "null"),
    ]
    assert data.gold["q1"].answers == ("On a fjord", "fjord")
    assert data.gold["q2"].answers == ("NA",)
    assert (data.gold["q3"].answers, data.gold["q3"].parts) == ((), ())
    assert data.gold["q1"].parts == (Part((Alternative(pid="007"),)),)
    assert data.name == tmp_path.name


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("b", [["b"]]),
        ('["b", "c"]', [["b"], ["c"]]),
        ('[["b"], ["c", "007"]]', [["b"], ["c", "007"]]),
        ('["b", ["c", "007"]]', [["b"], ["c", "007"]]),
        ("[[]]", []),
        ("[]", []),
        (" ", []),
        ('[null, "b"]', [["b"]]),
    ],
)
def test_gold_is_a_value_a_list_or_parts_of_alternatives(
    tmp_path: Path, cell: str, expected: list[list[str]]
) -> None:
    found = [[a.pid for a in part.alternatives] for part in parts(tmp_path, cell)]
    assert found == expected


def test_flat_gold_is_read_by_the_rule(tmp_path: Path) -> None:
    assert parts(tmp_path, '["b", "c"]', gold_rule="any") == (
        Part((Alternative(pid="b"), Alternative(pid="c"))),
    )


def test_a_separator_cuts_cells_of_several_values(tmp_path: Path) -> None:
    assert len(parts(tmp_path, "b | c|", list_separator="|")) == 2
    assert parts(tmp_path, "|", list_separator="|") == ()
    bracket = "id,question,answers,gold_ids\nq1,Q?,[sic] yes;no,b\n"
    data = load(tmp_path, bracket, list_separator=";")
    assert data.gold["q1"].answers == ("[sic] yes", "no")


def test_every_field_of_the_map_is_read(tmp_path: Path) -> None:
    corpus = 'key,body,doc,from,year,lang\np1,Oslo is big.,d,14,2020,en\np2,Bergen.,,,"",de\n'
    asked = (
        "key,ask,refs,gold,ok,proof,at,pool,hops,lang,talk\n"
        'q1,Q1?,Oslo,p1,YES,,[0],"[""p1"", ""p2""]",2,en,t\n'
        "q2,Q2?,,,0,,,,,de,\n"
        "q3,Q3?,,p1,,Oslo is big.,,,,,\n"
    )
    fields = {
        "corpus": {"id": "key", "text": "body", "title": None, "doc_id": "doc", "start": "from",
                   "meta": ["year", "lang"]},
        "questions": {"id": "key", "question": "ask", "answers": "refs", "gold_ids": "gold",
                      "answerable": "ok", "evidence": "proof", "answer_start": "at",
                      "pool_ids": "pool", "slices": ["hops"], "filter": ["lang"],
                      "meta": ["talk"]},
    }  # fmt: skip
    data = load(tmp_path, asked, corpus, columns=fields, pool=True)
    one, two = data.passages
    assert (one.doc_id, one.start, one.meta) == ("d", 14, {"year": "2020", "lang": "en"})
    assert (two.doc_id, two.start, two.meta) == ("p2", 0, {"year": None, "lang": "de"})
    first, second, third = data.questions
    assert first.pool == ("p1", "p2")
    assert first.slices == {"hops": "2"}
    assert first.filter == {"lang": "en"}
    assert first.meta == {"talk": "t"}
    assert (second.pool, second.slices) == (None, {})
    assert [data.gold[q].answerable for q in ("q1", "q2", "q3")] == [True, False, True]
    assert data.gold["q1"].parts == (Part((Alternative(pid="p1", start=0, end=4),)),)
    assert data.gold["q3"].parts == (Part((Alternative(pid="p1", quotes=("Oslo is big.",)),)),)
    assert third.slices == {}


def test_a_column_that_the_map_does_not_name_reaches_nothing(tmp_path: Path) -> None:
    asked = "id,question,answers,gold_ids,secret\nq1,Q?,x,b,SECRET\n"
    assert "SECRET" not in repr(load(tmp_path, asked))


def test_documents_can_be_rows(tmp_path: Path) -> None:
    data = load(tmp_path, unit="documents")
    assert [d.doc_id for d in data.documents] == ["007", "b", "c"]
    assert data.gold["q2"].parts == (Part((Alternative(doc_id="b"),)),)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([",", ";", "\t", "|"]),
)
def test_any_text_that_csv_can_hold_comes_back(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], delimiter: str
) -> None:
    file = tmp_path_factory.mktemp("csv") / "x.csv"
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([["id", "text"], *([str(n), text] for n, text in enumerate(texts))])
    file.write_bytes(out.getvalue().encode())
    found: list[str] = []
    sheet = read_csv(file, delimiter, found)
    assert found == []
    assert [cells["text"] for _, cells in sheet.rows] == texts


def test_a_long_cell_is_read_and_the_limit_of_others_left_alone(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    data = load(tmp_path, corpus=f"id,title,text\n007,t,{'x' * 300_000}\nb,,y\n")
    assert len(data.passages[0].text) == 300_000
    assert csv.field_size_limit() == before


def test_tabs_gzip_byte_order_mark_and_other_line_ends_are_accepted(tmp_path: Path) -> None:
    plain = load(tmp_path / "a", name="x")
    for name, text in (("corpus.tsv", CORPUS), ("questions.tsv", QUESTIONS)):
        out = io.StringIO(newline="")
        rows = csv.reader(io.StringIO(text, newline=""))
        csv.writer(out, delimiter="\t", lineterminator="\r\n\r\n").writerows(rows)
        data = b"\xef\xbb\xbf" + out.getvalue().encode()
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data))
    other = Table(
        str(tmp_path), name="x", corpus="corpus.tsv", questions="questions.tsv", delimiter="\t"
    )
    assert other.load() == plain


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("q1,Q?,x", "questions.csv, line 2: the row has 3 cells, but the header 4. Quote cells"),
        ("q1,Q?,x,b,more", "questions.csv, line 2: the row has 5 cells, but the header 4"),
        ('"q\n1",Q?,x,b', "the question id 'q\n1' is empty or has white space"),
        ("q1, ,x,b", "questions.csv, line 2: the question is blank"),
        ("q1,Q?,x,d", "questions.csv, line 2: the gold passage 'd' is in no corpus"),
        ("q1,Q?,[x,b", "line 2: '[x' begins with '[' but is no JSON list"),
        ('q1,Q?,"[{}]",b', "line 2: field 'answers[0]': expected 'str', got 'object'"),
        ('q1,Q?,"x"y,b', "questions.csv, line 2: ',' expected after '\"'. Correct the line."),
        ("q1,Q?,x,b\nq1,Q?,x,b", "line 3: the question id 'q1' stands in line 2 already"),
    ],
)
def test_a_row_that_does_not_fit_is_named_with_its_line(
    tmp_path: Path, asked: str, sentence: str
) -> None:
    found = problems(tmp_path, f"id,question,answers,gold_ids\n{asked}\n")
    assert len(found) == 1
    assert sentence in found[0]


def test_a_row_is_named_by_the_line_it_begins_in(tmp_path: Path) -> None:
    asked = 'id,question,answers,gold_ids\nq1,"Q\n\n1?",x,b\n\nq2,Q2?,x,d\n'
    assert problems(tmp_path, asked)[0].startswith("questions.csv, line 6: ")


@pytest.mark.parametrize(
    ("field", "cell", "sentence"),
    [
        ("answerable", "perhaps", "field 'answerable': expected 'bool', got 'str'"),
        ("answer_start", "one", "field 'answer_start[0]': expected 'int', got 'str'"),
    ],
)
def test_a_value_that_is_none_of_its_kind_is_refused(
    tmp_path: Path, field: str, cell: str, sentence: str
) -> None:
    asked = f"id,question,answers,gold_ids,x\nq1,Q?,rain,b,{cell}\n"
    (problem,) = problems(tmp_path, asked, columns=columns(**{field: "x"}))
    assert problem == f"questions.csv, line 2: {sentence}. Correct the field."


def test_everything_wrong_is_reported_at_once(tmp_path: Path) -> None:
    found = problems(tmp_path, QUESTIONS + "q1,Q?,[,b\nq4\nq2,Q?,,c\n", CORPUS + "b,,again\nx\n")
    for sentence in (
        "corpus.csv, line 7: the row has 1 cells",
        "corpus.csv, line 6: the passage id 'b' stands in line 4 already",
        "questions.csv, line 5: '[' begins with '['",
        "questions.csv, line 6: the row has 1 cells",
        "questions.csv, line 7: the question id 'q2' stands in line 3 already",
    ):
        assert any(problem.startswith(sentence) for problem in found), (sentence, found)


def test_columns_that_a_file_does_not_have_are_named_with_those_it_has(tmp_path: Path) -> None:
    found = problems(tmp_path, columns=columns({"title": "name"}, id="qid", slices=["hops"]))
    assert found == [
        "corpus.csv has no column 'name'; it has id, title, text. Set "
        "dataset.columns.corpus.title to one of them, or to null if there is none.",
        "questions.csv has no column 'qid'; it has id, question, answers, gold_ids. Set "
        "dataset.columns.questions.id to one of them.",
        "questions.csv has no column 'hops'; it has id, question, answers, gold_ids. Set "
        "dataset.columns.questions.slices to one of them, or to null if there is none.",
    ]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"corpus": {"id": "id"}}, "dataset.columns.corpus.text has no column"),
        (columns({"body": "x"}), "dataset.columns.corpus.body is no field: name id, text"),
        (columns(meta="x"), "dataset.columns.questions.meta is 'x': give a list of columns."),
        (columns(answers=["x"]), "dataset.columns.questions.answers is ['x']: give one column."),
        ({**columns(), "rows": {}}, "dataset.columns.rows is no table"),
        ({**columns(), "corpus": "id"}, "dataset.columns.corpus is 'id': give a column by field."),
        (columns(meta=["answers"]), "columns.questions.meta names 'answers', which is gold"),
        (columns(filter=["gold_ids"]), "columns.questions.filter names 'gold_ids', which is gold"),
    ],
)
def test_a_map_without_a_meaning_is_refused(
    tmp_path: Path, wrong: dict[str, Any], sentence: str
) -> None:
    source = Table(str(write(tmp_path)), columns=wrong)
    assert any(sentence in problem for problem in source.problems())
    with pytest.raises(DatasetError, match=r"dataset\.columns"):
        source.load()


@pytest.mark.parametrize(
    ("knobs", "sentence"),
    [
        ({"format": "xlsx"}, "dataset.format is 'xlsx'. Set it to csv or parquet."),
        ({"delimiter": ";;"}, "dataset.delimiter is ';;'. Set it to one character."),
        ({"delimiter": '"'}, "Set it to one character."),
        ({"unit": "rows"}, "dataset.unit is 'rows'"),
        ({"unit": "documents", "pool": True}, "needs passages"),
    ],
)
def test_settings_that_do_not_exist_are_refused(
    tmp_path: Path, knobs: dict[str, Any], sentence: str
) -> None:
    (problem,) = Table(str(write(tmp_path)), **knobs).problems()
    assert sentence in problem


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no header. Name the columns in its first line."),
        ("id,question,answers,gold_ids\n", "holds no questions. Write one row each."),
        ("id,id,question,answers,gold_ids\n", "has several columns 'id'. Rename them."),
    ],
)
def test_a_file_without_rows_or_a_plain_header_is_refused(
    tmp_path: Path, text: str, sentence: str
) -> None:
    assert problems(tmp_path, text) == [f"questions.csv {sentence}"]


def test_missing_folder_and_files_are_found_without_reading(tmp_path: Path) -> None:
    assert "there is no folder" in Table(str(tmp_path / "no")).problems()[0]
    assert len(Table(str(tmp_path)).problems()) == 2
    assert "no importable package" in Table("pkg://nowhere/x").problems()[0]
    assert Table("pkg://nowhere/x").identity() == {}
    with pytest.raises(DatasetError, match="There is no file"):
        Table(str(tmp_path)).load()


def test_another_encoding_is_a_sentence(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "corpus.csv").write_bytes("id,title,text\n007,K\u00f6ln,x\n".encode("latin-1"))
    with pytest.raises(DatasetError, match=r"corpus\.csv, line 2: not UTF-8"):
        Table(str(tmp_path)).load()


def test_identity_follows_the_content_and_not_the_place(tmp_path: Path) -> None:
    one, two = (Table(str(write(tmp_path / name))) for name in ("one", "two"))
    assert one.identity() == two.identity()
    with (tmp_path / "two" / "corpus.csv").open("a") as file:
        file.write("d,,More.\n")
    assert one.identity() != two.identity()


def test_a_missing_library_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    source = Table(str(write(tmp_path)), format="parquet", corpus="corpus.csv")
    assert source.problems() == [
        "dataset.format=parquet needs the package 'pyarrow', which is not installed: pip install "
        "'ragablate[tables]'"
    ]
    with pytest.raises(DatasetError, match="pip install"):
        source.load()


def write_parquet(file: Path, rows: dict[str, list[Any]]) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="needs the extra 'tables'")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(rows), file)


AUTORAG = {
    "corpus": {"id": "doc_id", "text": "contents", "meta": ["metadata", "weight"]},
    "questions": {
        "id": "qid",
        "question": "query",
        "answers": "generation_gt",
        "gold_ids": "retrieval_gt",
    },
}


def test_parquet_has_nested_gold_objects_and_dates(tmp_path: Path) -> None:
    changed = datetime.datetime(2024, 1, 13, 14, 3)
    write_parquet(
        tmp_path / "corpus.parquet",
        {
            "doc_id": ["a", "b", "c"],
            "contents": ["Aa.", "Bb.", "Cc."],
            "metadata": [{"changed": changed, "pages": [1, 2], "next": None}] * 3,
            "weight": [1.5, float("nan"), float("inf")],
            "vector": [[0.1], [0.2], [0.3]],
        },
    )
    write_parquet(
        tmp_path / "questions.parquet",
        {
            "qid": [1, 2, 3],
            "query": ["Q1?", "Q2?", "Q3?"],
            "generation_gt": [["Aa"], ["x", "y"], []],
            "retrieval_gt": [[["a"]], [["a"], ["b", "c"]], [[]]],
        },
    )
    source = Table(
        str(tmp_path),
        format="parquet",
        corpus="corpus.parquet",
        questions="questions.parquet",
        columns=AUTORAG,
    )
    data = source.load()
    assert data.passages[0].meta == {
        "changed": "2024-01-13T14:03:00",
        "pages": "[1,2]",
        "next": None,
        "weight": 1.5,
    }
    assert [p.meta["weight"] for p in data.passages] == [1.5, None, "inf"]
    assert [q.qid for q in data.questions] == ["1", "2", "3"]
    assert data.gold["2"].parts == (
        Part((Alternative(pid="a"),)),
        Part((Alternative(pid="b"), Alternative(pid="c"))),
    )
    assert data.gold["2"].answers == ("x", "y")
    assert data.gold["3"].parts == ()


def test_typed_cells_and_json_in_text_cells_are_both_read(tmp_path: Path) -> None:
    write_parquet(
        tmp_path / "c.parquet", {"id": [7, 8], "text": ["Oslo.", "Rain."], "title": ["", None]}
    )
    write_parquet(
        tmp_path / "q.parquet",
        {
            "id": ["x", "y"],
            "question": ["Q1?", "Q2?"],
            "answers": [json.dumps(["Oslo"]), None],
            "gold_ids": [7, None],
            "ok": [True, False],
            "at": [0, None],
        },
    )
    data = Table(
        str(tmp_path),
        format="parquet",
        corpus="c.parquet",
        questions="q.parquet",
        columns=columns(answerable="ok", answer_start="at"),
    ).load()
    assert data.gold["x"].parts == (Part((Alternative(pid="7", start=0, end=4),)),)
    assert data.gold["x"].answers == ("Oslo",)
    assert not data.gold["y"].answerable


def test_numbers_are_answers_as_they_are_written(tmp_path: Path) -> None:
    write_parquet(tmp_path / "c.parquet", {"id": ["a"], "text": ["x"], "title": ["t"]})
    write_parquet(
        tmp_path / "q.parquet",
        {"id": ["q"], "question": ["Q?"], "answers": [308], "gold_ids": ["a"]},
    )
    source = Table(str(tmp_path), format="parquet", corpus="c.parquet", questions="q.parquet")
    assert source.load().gold["q"].answers == ("308",)


def test_what_is_wrong_in_parquet_is_named_by_row(tmp_path: Path) -> None:
    write_parquet(tmp_path / "c.parquet", {"id": ["a", "b"], "text": ["x", None]})
    (tmp_path / "q.parquet").write_bytes(b"PAR1 no parquet")
    source = Table(
        str(tmp_path),
        format="parquet",
        corpus="c.parquet",
        questions="q.parquet",
        columns=columns({"title": None}),
    )
    with pytest.raises(DatasetError) as error:
        source.load()
    first, second = (p.replace(f"{tmp_path}/", "") for p in error.value.problems)
    assert first == "c.parquet, row 2: field 'text': expected 'str', got 'null'. Correct the field."
    assert second.startswith("q.parquet cannot be read (")
