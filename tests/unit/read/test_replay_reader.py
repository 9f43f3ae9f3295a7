import json

import pytest

from ragablate.errors import AdapterError
from ragablate.read.replay import ReplayReader
from ragablate.records import Answer, Context, ContextPassage, Question, ReadRequest


def write(tmp_path, *rows):
    path = tmp_path / "answers.jsonl"
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\ufeff" + "\n\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def read(path, qid="q", replicate=1, pids="ab"):
    reader = ReplayReader(path)
    context = Context(tuple(ContextPassage(p, f"text {p}", f"text {p}") for p in pids))
    prompt = reader.prompt(Question(qid, "?"), context)
    (item,) = reader.read([ReadRequest("x", prompt, replicate, 0)])
    assert item.id == "x"
    return item


def test_the_recorded_answer_is_given(tmp_path):
    path = write(tmp_path, {"qid": "q", "answer": "是的 😀", "abstained": True, "model": "m"})
    assert read(path).value == Answer("是的 😀", True, model="m")
    assert read(path, pids="zz").value == Answer("是的 😀", True, model="m")


def test_each_replicate_has_its_own_answer_or_the_common_one(tmp_path):
    rows = [
        {"qid": "q", "answer": "any"},
        {"qid": "q", "answer": "second", "replicate": 2},
    ]
    path = write(tmp_path, *rows)
    assert [read(path, replicate=r).value.text for r in (1, 2, 3)] == ["any", "second", "any"]


def test_a_question_without_an_answer_is_unmeasured(tmp_path):
    path = write(tmp_path, {"qid": "q", "answer": "x", "replicate": 1})
    for item in (read(path, "other"), read(path, replicate=2)):
        assert item.value is None
        assert item.failure.kind == "infrastructure"
        assert "no recorded answer" in item.failure.message


def test_an_answer_to_other_passages_is_unmeasured(tmp_path):
    path = write(tmp_path, {"qid": "q", "answer": "x", "prompt_pids": ["a", "b"]})
    assert read(path).value.text == "x"
    for pids in ("ba", "a", "abc", ""):
        failure = read(path, pids=pids).failure
        assert failure.kind == "infrastructure"
        assert "other passages" in failure.message


def test_an_answer_without_any_passages_is_told_from_one_without_record(tmp_path):
    path = write(tmp_path, {"qid": "q", "answer": "x", "prompt_pids": []})
    assert read(path, pids="").value.text == "x"
    assert read(path, pids="a").failure is not None


def test_prompts_of_two_questions_differ_even_if_they_ask_the_same(tmp_path):
    reader = ReplayReader("unused")
    one, two = (reader.prompt(Question(q, "?"), Context()).segments for q in ("q1", "q2"))
    assert one != two


@pytest.mark.parametrize("row", [{"qid": "q"}, {"answer": "x"}, {"qid": "q", "answer": 3}, [1]])
def test_a_bad_line_is_named(tmp_path, row):
    path = write(tmp_path, {"qid": "p", "answer": "x"}, row)
    with pytest.raises(AdapterError, match=r"answers\.jsonl, line 3"):
        read(path)


def test_a_second_answer_to_one_question_is_refused(tmp_path):
    path = write(tmp_path, {"qid": "q", "answer": "x"}, {"qid": "q", "answer": "y"})
    with pytest.raises(AdapterError, match="line 3 answers question 'q' again"):
        read(path)


def test_a_missing_file_is_a_problem(tmp_path):
    path = str(tmp_path / "absent.jsonl")
    assert "absent.jsonl" in ReplayReader(path).problems()[0]
    with pytest.raises(AdapterError, match=r"absent\.jsonl"):
        read(path)
