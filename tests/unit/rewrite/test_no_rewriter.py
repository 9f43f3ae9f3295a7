from ragablate.protocols import RewriteRequest
from ragablate.records import Item, Question, Searches, Turn
from ragablate.rewrite.none import NoRewriter


def test_the_only_search_is_the_question_as_asked():
    question = Question("q", "And  then? 今", history=(Turn("user", "Before"),))
    items = list(NoRewriter().rewrite([RewriteRequest("x", question, broaden=True)]))
    assert items == [Item("x", Searches(("And  then? 今",), final=True))]
