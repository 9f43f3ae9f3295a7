from __future__ import annotations

import pytest

from ragablate.gate.relevance_read import RelevanceRead
from ragablate.protocols import GateRequest
from ragablate.records import Answer, Corpus, Failure, Hit, Item, Passage, Question

CORPUS = Corpus(
    (
        Passage("pro", "The Pro plan costs 20 euros a month.", "Plans"),
        Passage("eur", "Bills can be paid in euros or in dollars."),
        Passage("sso", "Single sign-on is set up by an administrator."),
    ),
    "digest",
)


class Replies:
    """A reader with one reply to everything, which remembers what it was asked."""

    def __init__(self, reply):
        self.reply = reply
        self.asked = []

    def read(self, requests):
        for request in requests:
            self.asked.append(request.prompt)
            if isinstance(self.reply, Failure):
                yield Item(request.id, None, self.reply)
            else:
                yield Item(request.id, Answer(self.reply))


def request(qid="q", text="May bills be paid in dollars?", pids=("pro", "eur", "sso"), top=0.8):
    hits = tuple(Hit(pid, top - n / 10) for n, pid in enumerate(pids))
    return GateRequest(qid, Question(qid, text), hits, hits)


def gate(reply, **knobs):
    return RelevanceRead(Replies(reply), "Check.", "{passages}\n{question}", **knobs)


def decide(adapter, *requests):
    assert adapter.problems() == []
    return list(adapter.decide(CORPUS, requests or [request()]))


@pytest.mark.parametrize(
    "reply",
    [
        'YES: "Bills can be paid in euros or in dollars."',
        "yes, bills can be   paid in EUROS or in dollars",
        "Yes: \u201cpaid in euros or in dollars\u201d.",
    ],
)
def test_a_yes_that_quotes_a_passage_goes_on_and_says_which(reply):
    (item,) = decide(gate(reply))
    assert item.value.outcome == "go"
    assert item.value.signals["answers"] == 1.0
    assert item.value.signals["quoted"] == 2.0
    assert item.value.signals["top"] == 0.8


@pytest.mark.parametrize(
    "reply",
    [
        "YES",
        "YES: Bills can be paid in gold.",
        'YES: "the"',
        "Yes: Single sign-on is set up by an administrator.",
        "No, but bills can be paid in euros.",
        "Maybe.",
        "I think yes: Bills can be paid in euros or in dollars.",
        "",
    ],
)
def test_anything_else_is_unclear_which_is_a_failure_of_the_gate(reply):
    (item,) = decide(gate(reply, first=2))
    assert item.value is None
    assert item.failure.kind == "pipeline"
    assert "neither NO nor YES with words of a passage" in item.failure.message


def test_a_no_refuses_and_says_what_is_missing():
    (item,) = decide(gate("NO: whether bills may be paid in gold"))
    assert item.value.outcome == "refuse"
    assert item.value.signals["answers"] == 0.0
    assert item.value.reason.endswith("do not say: whether bills may be paid in gold")
    for reply in ("no", "No.", "NO !"):
        (item,) = decide(gate(reply, below="clarify"))
        assert item.value.outcome == "clarify"
        assert item.value.reason.startswith("None of the passages")


def test_a_reader_that_was_not_reached_leaves_the_question_unmeasured():
    (item,) = decide(gate(Failure("infrastructure", "connection lost")))
    assert item.failure == Failure("infrastructure", "gate.reader: connection lost")


def test_below_its_floor_and_without_a_passage_nobody_is_asked():
    adapter = gate("NO", floor=0.6)
    far, nothing, near = decide(
        adapter, request("far", top=0.5), request("nothing", pids=()), request("near", top=0.6)
    )
    assert "near enough" in far.value.reason
    assert nothing.value.reason == "Nothing was found for this question."
    assert near.value.signals == {"top": 0.6, "gap": pytest.approx(0.2), "relevance": 0.6,
                                  "agreement": 1.0, "top_floor": 0.6, "answers": 0.0}  # fmt: skip
    assert [prompt.qid for prompt in adapter.reader.asked] == ["near"]
    assert adapter.decides_on == ("top",)
    assert gate("NO").decides_on == ()


def test_the_reader_sees_the_first_passages_with_their_titles():
    adapter = gate("NO", first=2)
    decide(adapter)
    (prompt,) = adapter.reader.asked
    shown = "".join(segment.text for segment in prompt.segments)
    assert "<passage 1>\nPlans\nThe Pro plan" in shown
    assert "<passage 2>" in shown
    assert "sign-on" not in shown


@pytest.mark.parametrize(
    ("knobs", "part"),
    [
        ({"first": 0}, "first is 0"),
        ({"first": 21}, "first is 21"),
        ({"floor": "high"}, "floor is 'high'"),
        ({"below": "shout"}, "below is 'shout'"),
    ],
)
def test_knobs_of_the_check_without_a_meaning_are_said(knobs, part):
    assert any(part in problem for problem in gate("NO", **knobs).problems())
    assert "user has no {passages}" in RelevanceRead(Replies(""), "", "{question}").problems()[0]
