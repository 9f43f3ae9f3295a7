from ragablate.protocols import Retriever, SearchRequest
from ragablate.records import Corpus, Item, Passage, Question
from ragablate.retrieve.none import NoRetriever


def test_nothing_is_found_whatever_is_searched():
    corpus = Corpus((Passage("a", "words"),), "digest")
    requests = [SearchRequest(i, "words", Question("q", "words")) for i in "xy"]
    assert list(NoRetriever().retrieve(corpus, requests)) == [Item("x", ()), Item("y", ())]
    assert isinstance(NoRetriever(), Retriever)
