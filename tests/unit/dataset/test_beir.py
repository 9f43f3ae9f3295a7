"""Reading folders in the format of BEIR."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ragablate.dataset.beir import Beir
from ragablate.errors import DatasetError
from ragablate.protocols import DatasetSource
from ragablate.records import Alternative, Dataset, Part

CORPUS = [
    {"_id": "d1", "title": "Oslo", "text": "Oslo is a capital.", "metadata": {"url": "x"}},
    {"_id": "d2", "title": None, "text": "Bergen has rain."},
    {"_id": 3, "text": "Trondheim is old.", "metadata": None},
]
QUERIES = [
    {"_id": "q2", "text": "Where does it rain?", "metadata": {"d2": [{"label": "SECRET"}]}},
    {"_id": "q1", "text": "Which city is a capital?"},
    {"_id": "q9", "text": "Judged in another split?"},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td2\t1\nq2\t3\t1\n"


def lines(rows: list[Any]) -> str:
    return "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows)


def folder(
    path: Path,
    corpus: list[Any] = CORPUS,
    queries: list[Any] = QUERIES,
    qrels: str = QRELS,
    answers: list[Any] | None = None,
) -> Path:
    """A BEIR folder; strings are written as they are, everything else as JSON."""
    (path / "qrels").mkdir(parents=True, exist_ok=True)
    (path / "corpus.jsonl").write_text(lines(corpus))
    (path / "queries.jsonl").write_text(lines(queries))
    (path / "qrels" / "test.tsv").write_text(qrels)
    if answers is not None:
        (path / "answers.jsonl").write_text(lines(answers))
    return path


def load(path: Path, knobs: dict[str, Any] | None = None, **written: Any) -> Dataset:
    return Beir(str(folder(path, **written)), **(knobs or {})).load()


def problems(path: Path, knobs: dict[str, Any] | None = None, **written: Any) -> list[str]:
    with pytest.raises(DatasetError) as error:
        load(path, knobs, **written)
    return [problem.replace(str(path) + "/", "") for problem in error.value.problems]


def test_it_is_a_dataset_source() -> None:
    assert isinstance(Beir("x"), DatasetSource)


def test_passages_judged_questions_and_gold_are_read(tmp_path: Path) -> None:
    data = load(tmp_path)
    assert [(p.pid, p.title, p.text) for p in data.passages] == [
        ("d1", "Oslo", "Oslo is a capital."),
        ("d2", "", "Bergen has rain."),
        ("3", "", "Trondheim is old."),
    ]
    assert data.passages[0].meta == {"url": "x"}
    assert [(q.qid, q.text) for q in data.questions] == [
        ("q2", "Where does it rain?"),
        ("q1", "Which city is a capital?"),
    ]
    assert data.gold["q1"].parts == (Part((Alternative(pid="d1"),)),)
    assert data.gold["q2"].parts == (Part((Alternative(pid="d2"), Alternative(pid="3"))),)
    assert data.gold["q1"].answers == ()
    assert data.gold["q1"].answerable
    assert data.name == tmp_path.name


def test_metadata_of_queries_reach_no_question(tmp_path: Path) -> None:
    assert "SECRET" not in repr(load(tmp_path))


def test_every_relevant_passage_is_needed_under_all(tmp_path: Path) -> None:
    assert load(tmp_path, {"gold_rule": "all"}).gold["q2"].parts == (
        Part((Alternative(pid="d2"),)),
        Part((Alternative(pid="3"),)),
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("header", ["query-id\tcorpus-id\tscore", None, "\ufeffq\td\tgrade"])
def test_the_header_of_qrels_may_be_absent(tmp_path: Path, header: str | None, end: str) -> None:
    rows = [] if header is None else [header]
    data = load(tmp_path, qrels=end.join([*rows, "q1\td1\t1", "q2\td2\t1.0", ""]))
    assert [q.qid for q in data.questions] == ["q2", "q1"]


def test_a_question_with_nothing_relevant_is_an_eval_gap(tmp_path: Path) -> None:
    data = load(tmp_path, qrels="q1\td1\t0\nq2\td2\t-1\n")
    assert len(data.questions) == 2
    assert all(gold.parts == () and gold.answerable for gold in data.gold.values())


def test_another_split_can_be_chosen(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / "qrels" / "dev.tsv").write_text("q9\td1\t1\n")
    data = Beir(str(tmp_path), split="dev").load()
    assert [q.qid for q in data.questions] == ["q9"]
    found = Beir(str(tmp_path), split="train").problems()
    assert len(found) == 1
    assert "qrels/train.tsv" in found[0]
    assert found[0].endswith("The splits there are: dev, test.")


def test_answers_are_read_where_there_are_any(tmp_path: Path) -> None:
    rows = [
        {"_id": "q1", "answers": ["Oslo"]},
        {"_id": "q2", "answerable": False},
        {"_id": "q9", "answers": ["of another split"]},
    ]
    gold = load(tmp_path, answers=rows).gold
    assert gold["q1"].answers == ("Oslo",)
    assert not gold["q2"].answerable
    assert load(tmp_path, {"answers": ""}, answers=rows).gold["q1"].answers == ()


def test_a_file_of_answers_that_was_named_must_exist(tmp_path: Path) -> None:
    assert problems(tmp_path, {"answers": "mine.jsonl"}) == [
        "There is no file mine.jsonl. Put it there, or correct the name."
    ]


def test_gzipped_files_are_read_and_identify_like_plain_ones(tmp_path: Path) -> None:
    plain, packed = folder(tmp_path / "plain"), folder(tmp_path / "packed")
    for file in [*packed.glob("*.jsonl"), *packed.glob("qrels/*.tsv")]:
        file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert Beir(str(packed)).problems() == []
    first, second = Beir(str(plain), name="x"), Beir(str(packed), name="x")
    assert first.load() == second.load()
    assert first.identity() == second.identity()


def test_a_broken_gzip_file_is_one_sentence(tmp_path: Path) -> None:
    folder(tmp_path)
    whole = gzip.compress((tmp_path / "corpus.jsonl").read_bytes())
    (tmp_path / "corpus.jsonl").unlink()
    for data in (whole[:-9], b"no gzip at all", whole[:20] + b"\xff" * 9 + whole[20:]):
        (tmp_path / "corpus.jsonl.gz").write_bytes(data)
        source = Beir(str(tmp_path))
        with pytest.raises(DatasetError) as error:
            source.load()
        assert "corpus.jsonl.gz cannot be read (" in error.value.problems[0]
        assert source.identity() == {}


def test_missing_gold_is_an_error_unless_allowed(tmp_path: Path) -> None:
    qrels = "q1\td1\t1\nq1\td8\t0\nq2\td9\t1\n"
    assert problems(tmp_path, qrels=qrels) == [
        "qrels/test.tsv, line 3: the gold passage 'd9' is in no corpus. Correct the id, or set "
        "allow_missing_gold=true to count such gold as missing."
    ]
    data = load(tmp_path, {"allow_missing_gold": True}, qrels=qrels)
    assert data.gold["q2"].parts == (Part((Alternative(pid="d9"),)),)


@pytest.mark.parametrize(
    ("qrels", "sentence"),
    [
        ("q1 0 d1 1", "line 1: 'q1 0 d1 1' is no judgement. Write query-id"),
        ("q1\t0\td1\t1", "line 1: 'q1\t0\td1\t1' is no judgement"),
        ("q1\td1\t1\nq2\td2\tyes", "line 2: 'q2\td2\tyes' is no judgement"),
        ("q1\td1\t1\nq2\td2\tnan", "line 2: 'q2\td2\tnan' is no judgement"),
        ("q1\td1\t1\n\td2\t1", "line 2: 'd2\t1' is no judgement"),
        ("q1\td1\t1\nx\td2\t1\nx\td1\t1", "line 2: the query 'x' is not in queries.jsonl"),
        ("q1\td1\t1\nq1\td1\t0", "line 2: 'd1' is judged relevant to query 'q1' and not"),
        ("query-id\tcorpus-id\tscore\n", "qrels/test.tsv judges no query. Give another split."),
        ("", "qrels/test.tsv judges no query"),
        ("x\td1\t1", "line 1: the query 'x' is not in queries.jsonl"),
    ],
)
def test_a_judgement_that_does_not_fit_is_named(tmp_path: Path, qrels: str, sentence: str) -> None:
    found = problems(tmp_path, qrels=qrels)
    assert len(found) == 1
    assert found[0].startswith("qrels/test.tsv")
    assert sentence in found[0]


def test_the_same_judgement_twice_counts_once(tmp_path: Path) -> None:
    data = load(tmp_path, qrels="q1\td1\t1\nq1\td1\t2\n")
    assert data.gold["q1"].parts == (Part((Alternative(pid="d1"),)),)


def test_everything_wrong_is_reported_at_once(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        corpus=[*CORPUS, CORPUS[0]],
        queries=[*QUERIES, {"_id": "q1", "text": "Again?"}, {"text": "No id?"}],
        qrels=QRELS + "q1\td7\t1\nnonsense\n",
        answers=[{"_id": "q1", "answers": "Oslo"}, {"_id": "q1"}, {"_id": "q1"}],
    )
    for sentence in (
        "corpus.jsonl, line 4: the passage id 'd1' stands in line 1 already",
        "queries.jsonl, line 4: the question id 'q1' stands in line 2 already",
        "queries.jsonl, line 5: has no field '_id'",
        "qrels/test.tsv, line 6: the gold passage 'd7' is in no corpus",
        "qrels/test.tsv, line 7: 'nonsense' is no judgement",
        "answers.jsonl, line 1: field 'answers': expected 'array | null', got 'str'",
        "answers.jsonl, line 3: the answers of 'q1' stand there twice",
    ):
        assert any(problem.startswith(sentence) for problem in found), (sentence, found)
    assert len(found) == 7


def test_answers_to_unknown_queries_are_refused(tmp_path: Path) -> None:
    assert problems(tmp_path, answers=[{"_id": "q7", "answers": ["x"]}]) == [
        "answers.jsonl, line 1: there is no query 'q7'. Correct it, or delete the line."
    ]


def test_missing_folder_files_and_settings_are_found_without_reading(tmp_path: Path) -> None:
    assert "there is no folder" in Beir(str(tmp_path / "nowhere")).problems()[0]
    assert len(Beir(str(tmp_path)).problems()) == 3
    folder(tmp_path)
    assert Beir(str(tmp_path)).problems() == []
    wrong = Beir(str(tmp_path), gold_rule="some")  # type: ignore[arg-type]
    assert wrong.problems() == ["dataset.gold_rule is 'some'. Set it to all or any."]
    with pytest.raises(DatasetError, match="gold_rule"):
        wrong.load()


def test_identity_follows_every_file(tmp_path: Path) -> None:
    folder(tmp_path)
    seen = [Beir(str(tmp_path)).identity()]
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "answers.jsonl"):
        with (tmp_path / name).open("a") as file:
            file.write("\n")
        seen.append(Beir(str(tmp_path)).identity())
    assert len({str(s) for s in seen}) == 5
    (tmp_path / "corpus.jsonl").unlink()
    assert Beir(str(tmp_path)).identity() == {}
