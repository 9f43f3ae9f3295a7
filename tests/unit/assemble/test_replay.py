import pytest

from ragablate.assemble.replay import Replay, write_frozen
from ragablate.errors import AdapterError
from ragablate.protocols import AssembleRequest
from ragablate.records import Context, ContextPassage, Corpus, Evicted, Hit, Passage, Question

FROZEN = {
    "q2": Context((ContextPassage("p1", "§ Body.", "Body.", False, 3),), (), 100),
    "q1": Context(
        (ContextPassage("p2", "T\nCut 今", "Cut 今", True, 3),), (Evicted("p9", "deduped"),), None
    ),
}


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "contexts.jsonl"
    write_frozen(file, FROZEN)
    return file


def assemble(replay, *qids):
    requests = [AssembleRequest(f"x{q}", Question(q, "?"), (Hit("p7", 1.0),)) for q in qids]
    return list(replay.assemble(Corpus((), ""), requests))


def test_frozen_contexts_come_back_whatever_was_retrieved(path):
    first, second = assemble(Replay(str(path)), "q1", "q2")
    assert (first.id, first.value) == ("xq1", FROZEN["q1"])
    assert (second.id, second.value) == ("xq2", FROZEN["q2"])


def test_equal_contexts_freeze_to_equal_bytes(path, tmp_path):
    again = tmp_path / "again.jsonl"
    write_frozen(again, dict(reversed(FROZEN.items())))
    assert again.read_bytes() == path.read_bytes()
    assert path.read_bytes().count(b"\n") == 2


def test_a_question_the_file_lacks_is_unmeasured(path):
    (item,) = assemble(Replay(str(path)), "q3")
    assert item.value is None
    assert item.failure.kind == "infrastructure"
    assert "q3" in item.failure.message


def test_a_passage_frozen_in_full_is_rendered_as_it_was_frozen(path):
    replay = Replay(str(path))
    assert replay.render(Passage("p1", "Body.", "Title")).text == "§ Body."
    assert replay.render(Passage("p2", "Cut 今 more", "T")).text == "T\nCut 今 more"
    assert replay.render(Passage("p1", "Changed.", "Title")).text == "Title\nChanged."


def test_a_missing_file_is_a_problem(tmp_path):
    replay = Replay(str(tmp_path / "absent.jsonl"))
    assert "absent.jsonl" in replay.problems()[0]
    assert replay.identity()["path"].endswith("absent.jsonl")
    with pytest.raises(AdapterError, match=r"absent\.jsonl"):
        assemble(replay, "q1")


@pytest.mark.parametrize(
    "line", [b"{", b'{"qid": 3, "context": {}}', b'{"context": {}}', b'"\xff"', b"[]"]
)
def test_a_bad_line_is_named(path, line):
    path.write_bytes(path.read_bytes() + b"\n" + line + b"\n")
    with pytest.raises(AdapterError, match="line 4"):
        assemble(Replay(str(path)), "q1")


def test_a_repeated_question_is_refused(path):
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(AdapterError, match="line 3 repeats question 'q1'"):
        assemble(Replay(str(path)), "q1")


def test_the_file_is_known_by_its_content(path, tmp_path):
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(path.read_bytes())
    assert Replay(str(copy)).identity() == Replay(str(path)).identity()
    copy.write_bytes(path.read_bytes() + b"\n")
    assert Replay(str(copy)).identity() != Replay(str(path)).identity()
