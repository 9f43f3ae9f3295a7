import gzip
import hashlib

import pytest

from ragablate.errors import AdapterError
from ragablate.protocols import Retriever, SearchRequest
from ragablate.records import Corpus, Passage, Question
from ragablate.retrieve.run_file import RunFile

CORPUS = Corpus(tuple(Passage(p, "", meta={"lang": p[0]}) for p in ("a", "b", "c", "d")), "digest")
RUN = b"""q1 Q0 b 1 0.5 tag
q1 Q0 a 2 0.9 tag
q1\tQ0\tc\t3\t0.5\ttag

q2 Q0 d 1 -3e-1 tag
"""


def run(tmp_path, data=RUN, name="a.run", **knobs):
    path = tmp_path / name
    path.write_bytes(data)
    return RunFile(str(path), **knobs)


def ranking(retriever, qid, **question):
    request = SearchRequest("r", "whatever", Question(qid, "", **question))
    (item,) = retriever.retrieve(CORPUS, [request])
    assert item.id == "r"
    return [(hit.pid, hit.score) for hit in item.value]


def test_it_is_a_retriever():
    assert isinstance(RunFile("x"), Retriever)


def test_lines_are_ordered_by_score_then_pid_whatever_their_ranks_say(tmp_path):
    assert ranking(run(tmp_path), "q1") == [("a", 0.9), ("b", 0.5), ("c", 0.5)]
    assert ranking(run(tmp_path), "q2") == [("d", -0.3)]


@pytest.mark.parametrize(("data", "qid"), [(RUN, "q3"), (b"", "q1")])
def test_a_question_that_the_run_does_not_name_is_unmeasured_not_empty(tmp_path, data, qid):
    request = SearchRequest("r", "whatever", Question(qid, ""))
    (item,) = run(tmp_path, data).retrieve(CORPUS, [request])
    assert item.value is None
    assert item.failure.kind == "infrastructure"
    assert f"does not name question '{qid}'" in item.failure.message


def test_a_question_without_lines_gets_an_empty_ranking_where_that_is_said(tmp_path):
    assert ranking(run(tmp_path, absent="empty"), "q3") == []
    assert ranking(run(tmp_path, b"", absent="empty"), "q1") == []
    assert "absent is 'zero'" in run(tmp_path, absent="zero").problems()[0]


def test_rankings_are_cut_to_the_depth(tmp_path):
    assert ranking(run(tmp_path, depth=2), "q1") == [("a", 0.9), ("b", 0.5)]


@pytest.mark.parametrize("name", ["a.run.gz", "misnamed.run"])
def test_gzipped_runs_are_read(tmp_path, name):
    assert ranking(run(tmp_path, gzip.compress(RUN), name), "q2") == [("d", -0.3)]


def test_windows_lines_and_a_byte_order_mark_are_read(tmp_path):
    data = b"\xef\xbb\xbf" + RUN.replace(b"\n", b"\r\n")
    assert ranking(run(tmp_path, data), "q1")[0] == ("a", 0.9)


def test_a_pid_may_hold_white_space_that_is_not_ascii(tmp_path):
    corpus = Corpus((Passage("x\u00a0y", ""),), "other")
    retriever = run(tmp_path, "q Q0 x\u00a0y 1 1 t".encode())
    (item,) = retriever.retrieve(corpus, [SearchRequest("r", "", Question("q", ""))])
    assert [hit.pid for hit in item.value] == ["x\u00a0y"]


def test_pool_and_filter_restrict_only_where_the_knobs_say_so(tmp_path):
    question = {"pool": ("b", "c"), "filter": {"lang": "c"}}
    assert len(ranking(run(tmp_path), "q1", **question)) == 3
    assert ranking(run(tmp_path, pool=True), "q1", **question) == [("b", 0.5), ("c", 0.5)]
    assert ranking(run(tmp_path, pool=True, depth=1), "q1", **question) == [("b", 0.5)]
    assert ranking(run(tmp_path, apply_filter=True), "q1", **question) == [("c", 0.5)]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (RUN + b"q3 Q0 a 1 0.5\n", "line 6: 5 columns, not the six of a TREC run"),
        (RUN + b"q3 Q0 a 1 0.5 tag more\n", "line 6: 7 columns"),
        (b"q Q0 a 1 high tag", "line 1: the score 'high' is not a finite number"),
        (b"q Q0 a 1 nan tag", "line 1: the score 'nan' is not a finite number"),
        (b"q Q0 a 1 inf tag", "line 1: the score 'inf' is not a finite number"),
        (b"q Q0 \xff 1 1 tag", "line 1: not UTF-8"),
        (RUN + b"q1 Q0 a 9 0.1 tag", "line 6: passage 'a' is ranked for question 'q1' on line 2"),
        (gzip.compress(RUN, mtime=0)[:-9], "is gzipped but damaged"),
    ],
)
def test_a_malformed_line_is_named_with_its_file(tmp_path, data, sentence):
    with pytest.raises(AdapterError, match=r"a\.run") as caught:
        ranking(run(tmp_path, data), "q1")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_passage_that_is_not_in_the_corpus_is_named_with_its_line(tmp_path):
    retriever = run(tmp_path, RUN + b"q3 Q0 elsewhere 1 0.5 tag\n")
    with pytest.raises(AdapterError, match=r"a\.run, line 6: passage 'elsewhere'.*question 'q3'"):
        ranking(retriever, "q3")
    assert ranking(retriever, "q2") == [("d", -0.3)]


def test_a_missing_file_is_a_problem_before_and_an_error_while_running(tmp_path):
    retriever = RunFile(str(tmp_path / "none.run"))
    (problem,) = retriever.problems()
    assert "none.run' does not exist" in problem
    assert retriever.identity() == {}
    with pytest.raises(AdapterError, match="does not exist"):
        ranking(retriever, "q1")


def test_a_missing_package_is_a_problem():
    (problem,) = RunFile("pkg://no_such_package_here/a.run").problems()
    assert "no_such_package_here" in problem


def test_a_depth_that_keeps_nothing_is_a_problem(tmp_path):
    assert run(tmp_path, depth=0).problems() == ["depth is 0: give a number of passages from 1"]


def test_a_file_inside_a_package_is_found(tmp_path, monkeypatch):
    (tmp_path / "some_package").mkdir()
    (tmp_path / "some_package" / "__init__.py").touch()
    (tmp_path / "some_package" / "a.run").write_bytes(RUN)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert ranking(RunFile("pkg://some_package/a.run"), "q2") == [("d", -0.3)]


def test_the_identity_is_the_content_not_the_place(tmp_path):
    one, other = run(tmp_path, name="one.run"), run(tmp_path, name="other.run")
    assert one.problems() == []
    assert one.identity() == {"path": f"sha256:{hashlib.sha256(RUN).hexdigest()}"}
    assert one.identity() == other.identity()
    assert run(tmp_path, RUN + b"\n").identity() != one.identity()
