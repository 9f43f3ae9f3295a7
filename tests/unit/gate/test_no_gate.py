from ragablate.gate.none import NoGate
from ragablate.protocols import GateRequest
from ragablate.records import Corpus, GateDecision, Item, Question


def test_every_question_goes_on_even_with_nothing_retrieved():
    request = GateRequest("x", Question("q", "?"), (), ())
    assert list(NoGate().decide(Corpus((), ""), [request])) == [Item("x", GateDecision("go"))]
