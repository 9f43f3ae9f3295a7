"""The data set that ships with the package is what its page says."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ragablate.dataset.jsonl import Jsonl
from ragablate.records import Dataset
from ragablate.resources import locate

FOLDER = locate("pkg://ragablate.data/quickstart")
SCRIPT = Path(__file__).parents[3] / "scripts" / "build_quickstart.py"


@pytest.fixture(scope="module")
def data() -> Dataset:
    return Jsonl("pkg://ragablate.data/quickstart", name="quickstart").load()


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    lines = (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_quickstart", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_has_200_questions_and_1200_passages(data: Dataset) -> None:
    assert len(data.questions) == 200
    assert Counter(p.pid[:2] for p in data.passages) == {"hp": 1000, "xq": 200}
    assert data.documents == ()


def test_it_is_smaller_than_two_megabytes() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 2_000_000


def test_slices_tell_hops_type_and_answerability(data: Dataset) -> None:
    assert {frozenset(q.slices) for q in data.questions} == {
        frozenset({"hops", "type", "answerable"})
    }
    strata = Counter((q.slices["hops"], q.slices["type"]) for q in data.questions)
    assert set(strata) == {("2", "bridge"), ("2", "comparison"), ("1", "single"), ("1", "none")}
    assert strata["2", "bridge"] + strata["2", "comparison"] == 100
    assert strata["1", "single"] == 60
    assert strata["1", "none"] == 40
    for question in data.questions:
        answerable = data.gold[question.qid].answerable
        assert question.slices["answerable"] == ("yes" if answerable else "no")
        assert answerable == (question.slices["type"] != "none")


def test_multi_hop_questions_need_two_passages_with_quoted_evidence(data: Dataset) -> None:
    texts = {p.pid: p.text for p in data.passages}
    for question in data.questions:
        if question.slices["hops"] != "2":
            continue
        parts = data.gold[question.qid].parts
        assert len(parts) == 2
        alternatives = [a for part in parts for a in part.alternatives]
        assert len({a.pid for a in alternatives}) == 2
        for alternative in alternatives:
            assert alternative.quotes
            assert all(quote in texts[alternative.pid] for quote in alternative.quotes)


def test_single_passage_questions_have_their_answer_at_the_span(data: Dataset) -> None:
    texts = {p.pid: p.text for p in data.passages}
    for question in data.questions:
        if question.slices["type"] != "single":
            continue
        gold = data.gold[question.qid]
        (part,) = gold.parts
        (alternative,) = part.alternatives
        span = texts[alternative.pid][alternative.start : alternative.end]
        assert (span,) == gold.answers


def test_unanswerable_questions_have_no_gold_and_their_passage_is_absent(
    data: Dataset, rows: list[dict[str, Any]]
) -> None:
    pids = {p.pid for p in data.passages}
    unanswerable = [row for row in rows if not row["answerable"]]
    assert len(unanswerable) == 40
    for row in unanswerable:
        gold = data.gold[row["id"]]
        assert (gold.parts, gold.answers) == ((), ())
        assert row["left_out"] not in pids
    left_out = {row["left_out"] for row in unanswerable}
    articles = {f"xq-{a:02d}-{p:02d}" for a in range(48) for p in range(5)}
    assert articles - left_out == {pid for pid in pids if pid.startswith("xq")}


def test_at_most_one_question_a_paragraph(rows: list[dict[str, Any]]) -> None:
    paragraphs = [
        row.get("left_out") or row["gold_ids"][0] for row in rows if row["slices"]["hops"] == "1"
    ]
    assert len(paragraphs) == 100
    assert len(set(paragraphs)) == 100


def test_questions_are_all_different(data: Dataset) -> None:
    assert len({q.text for q in data.questions}) == 200


def test_no_question_shows_a_stage_where_it_is_from_or_what_is_missing(data: Dataset) -> None:
    for question in data.questions:
        assert question.meta == {}
        assert question.pool is None
        assert question.filter == {}


def test_the_dense_run_ranks_100_passages_for_every_question(data: Dataset) -> None:
    pids = {p.pid for p in data.passages}
    ranked: dict[str, list[tuple[float, str]]] = {}
    for line in (FOLDER / "minilm.run").read_text(encoding="utf-8").splitlines():
        qid, q0, pid, place, score, tag = line.split(" ")
        hits = ranked.setdefault(qid, [])
        assert (q0, int(place), tag) == ("Q0", len(hits) + 1, "all-MiniLM-L6-v2")
        assert pid in pids
        assert len(score.split(".")[1]) == 6
        hits.append((-float(score), pid))
    assert list(ranked) == [q.qid for q in data.questions]
    for hits in ranked.values():
        assert len({pid for _, pid in hits}) == 100
        assert hits == sorted(hits)
        assert -1.0 <= -hits[-1][0] <= -hits[0][0] <= 1.0


def test_the_page_names_sources_licence_and_counts(data: Dataset) -> None:
    page = (FOLDER / "SOURCE.md").read_text(encoding="utf-8")
    types = Counter(q.slices["type"] for q in data.questions)
    for words in (
        "218cf0ef1df84b05ce379dd4a8e47f17766733a0",
        "7d30520c717524000f0d9d2f9c10a069acd9d285",
        "https://creativecommons.org/licenses/by-sa/4.0/",
        "# Quickstart: 200 questions, 1200 passages",
        f"{types['bridge']} bridge and {types['comparison']} comparison questions",
    ):
        assert words in page
    assert not re.search(r"(?<![\w/:<.])/[a-z]+/", page), "no path of a machine"


def xquad(n_paragraphs: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    passages = [
        {"id": f"en-{i:02d}-00", "title": "A_Town", "text": f"Town{i} lies on river Rhea{i}."}
        for i in range(n_paragraphs)
    ]
    questions = [
        {
            "id": f"en-{i}",
            "question": f"On which river lies the town Town{i}?",
            "answers": [f"Rhea{i}"],
            "answer_start": [len(f"Town{i} lies on river ")],
            "gold_ids": [f"en-{i:02d}-00"],
        }
        for i in range(n_paragraphs)
    ]
    return passages, questions


def test_the_script_gives_the_same_rows_every_time(script: ModuleType) -> None:
    passages, questions = xquad(110)
    corpus, built = script.build([], [], passages, questions)
    assert (corpus, built) == script.build([], [], passages, questions)
    assert len(corpus) == 70
    assert Counter(row["slices"]["type"] for row in built) == {"single": 60, "none": 40}
    assert corpus[0]["title"] == "A Town"


def test_the_script_keeps_questions_that_another_passage_answers_answerable(
    script: ModuleType,
) -> None:
    passages, questions = xquad(100)
    echo = [{"id": "hp0", "title": "", "text": " ".join(p["text"] for p in passages)}]
    _, built = script.build(echo, [], passages, questions)
    assert Counter(row["slices"]["type"] for row in built) == {"single": 60}


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ("The towns of Norway: Oslo is its capital.", True),
        ("Oslo has a harbour.", False),
        ("The capital of Norway is old.", False),
        ("The capital of Norway is not Osloburg.", False),
    ],
)
def test_the_script_looks_for_answer_and_question_words_together(
    script: ModuleType, text: str, answered: bool
) -> None:
    row = {"question": "What is the capital of Norway?", "answers": ["Oslo"], "gold_ids": ["g"]}
    bags = {"g": script.bag("Oslo is the capital of Norway."), "p": script.bag(text)}
    assert script.answered_elsewhere(row, bags) is answered


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which river flows through Newcastle upon Tyne?", True),
        ("Which river flows through the old town?", False),
        ("When did he visit the town of Newcastle?", False),
        ("Who is Henry?", False),
    ],
)
def test_the_script_takes_self_contained_questions_only(
    script: ModuleType, question: str, expected: bool
) -> None:
    assert script.self_contained(question) is expected
