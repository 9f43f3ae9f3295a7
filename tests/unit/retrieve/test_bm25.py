import subprocess
import sys

import pytest
from rank_bm25 import BM25Okapi

from ragablate.codec import digest
from ragablate.errors import AdapterError
from ragablate.protocols import Retriever, SearchRequest
from ragablate.records import Corpus, Passage, Question
from ragablate.retrieve.analyze import Analyzer
from ragablate.retrieve.bm25 import BM25

NAIVE = Analyzer(tokenizer="whitespace", stemmer="none", stopwords="none")


def corpus_of(*passages):
    made = tuple(
        p if isinstance(p, Passage) else Passage(pid=f"p{i}", text=p)
        for i, p in enumerate(passages)
    )
    return Corpus(made, digest([(p.pid, p.title, p.text) for p in made]))


def search(retriever, corpus, text, question=None):
    question = question or Question("q", "not what is searched")
    (item,) = retriever.retrieve(corpus, [SearchRequest("r", text, question)])
    assert item.id == "r"
    assert item.failure is None
    return item.value


def pids(ranking):
    return [hit.pid for hit in ranking]


FISH = corpus_of(
    "salmon swim up rivers",
    "tuna swim in the sea",
    "eagles fly over rivers and rivers",
    "stones",
    "clouds",
)


def test_it_is_a_retriever():
    assert isinstance(BM25(), Retriever)


def test_the_best_passage_comes_first():
    assert pids(search(BM25(), FISH, "river of salmon")) == ["p0", "p2"]


@pytest.mark.parametrize("engine", ["sparse", "rank_bm25"])
def test_scores_equal_rank_bm25_for_the_same_tokens(engine):
    ranking = search(BM25(engine=engine, analyzer=NAIVE), FISH, "rivers swim rivers")
    tokens = [p.text.lower().split() for p in FISH.passages]
    scores = BM25Okapi(tokens).get_scores(["rivers", "swim", "rivers"])
    assert {h.pid: h.score for h in ranking} == {f"p{i}": scores[i] for i in (0, 1, 2)}


def test_both_engines_give_equal_rankings():
    texts = ["a b c", "a a", "b", "c c c a", "", "a b", "a b", "d"]
    corpus = corpus_of(*texts)
    for query in ["a", "a b", "c d a", "d d", "zzz", ""]:
        sparse = search(BM25(analyzer=NAIVE, depth=3), corpus, query)
        library = search(BM25(engine="rank_bm25", analyzer=NAIVE, depth=3), corpus, query)
        assert sparse == library


def test_ties_go_by_ascending_pid_also_at_the_cut_and_whatever_the_order():
    passages = [Passage(pid, "same words") for pid in ("b", "a10", "c", "a9", "a1")]
    other = [Passage("z", "others here"), Passage("y", "more"), Passage("x", "and more")]
    ranking = search(BM25(depth=3), corpus_of(*passages, *other), "same")
    assert pids(ranking) == ["a1", "a10", "a9"]
    assert ranking == search(BM25(depth=3), corpus_of(*other, *passages[::-1]), "same")


def test_the_title_is_searched_unless_the_fields_say_otherwise():
    corpus = corpus_of(Passage("p", "text", title="Heading"), Passage("q", "x"), Passage("r", "y"))
    assert pids(search(BM25(), corpus, "heading")) == ["p"]
    assert search(BM25(fields=["text"]), corpus, "heading") == ()
    assert search(BM25(fields=["title"]), corpus, "text") == ()


def test_no_pair_of_characters_spans_title_and_text():
    corpus = corpus_of(Passage("p", "京都", title="東"), Passage("q", "x"), Passage("r", "y"))
    assert search(BM25(), corpus, "東京") == ()
    assert pids(search(BM25(), corpus, "京都")) == ["p"]


@pytest.mark.parametrize("engine", ["sparse", "rank_bm25"])
@pytest.mark.parametrize("texts", [[], [""], ["", "  ", "?!"]])
def test_a_corpus_without_words_gives_empty_rankings(engine, texts):
    assert search(BM25(engine=engine), corpus_of(*texts), "anything") == ()


@pytest.mark.parametrize("query", ["", "   ", "?!", "the of and", "unknown"])
def test_a_search_without_known_terms_gives_an_empty_ranking(query):
    assert search(BM25(), FISH, query) == ()


def test_a_passage_that_shares_a_term_is_found_whatever_its_score():
    (hit,) = search(BM25(), corpus_of("one passage"), "passage")
    assert hit.score < 0
    two = search(BM25(), corpus_of("apple pie", "bread"), "apple")
    assert [(hit.pid, hit.score) for hit in two] == [("p0", 0.0)]


@pytest.mark.parametrize("engine", ["sparse", "rank_bm25"])
def test_filled_rankings_go_on_with_unmatched_passages_by_pid(engine):
    plain = search(BM25(engine=engine), FISH, "salmon")
    filled = search(BM25(engine=engine, fill=True), FISH, "salmon")
    assert filled[: len(plain)] == plain
    assert [(hit.pid, hit.score) for hit in filled[len(plain) :]] == [
        (pid, 0.0) for pid in ("p1", "p2", "p3", "p4")
    ]
    assert pids(search(BM25(engine=engine, fill=True, depth=2), FISH, "unheard")) == ["p0", "p1"]


def test_filled_rankings_keep_to_the_pool_and_put_negative_scores_last():
    pooled = Question("q", "x", pool=("p4", "p1"))
    found = search(BM25(fill=True, pool=True), FISH, "clouds", pooled)
    assert pids(found) == ["p4", "p1"]
    two = corpus_of("one stone", "one cloud", "stone")
    plain = search(BM25(analyzer=NAIVE), two, "one")
    filled = search(BM25(analyzer=NAIVE, fill=True), two, "one")
    assert sorted(filled, key=lambda hit: (-hit.score, hit.pid)) == list(filled)
    assert {hit for hit in filled if hit.pid != "p2"} == set(plain)
    assert len(filled) == 3


def test_requests_are_answered_once_each_under_their_ids():
    requests = [SearchRequest(f"r{i}", "salmon", Question("q", "")) for i in range(3)]
    assert [item.id for item in BM25().retrieve(FISH, requests)] == ["r0", "r1", "r2"]
    assert list(BM25().retrieve(FISH, [])) == []


POOLED = Question("q", "", pool=("p2", "p3"))


def test_the_pool_restricts_only_where_the_knob_says_so():
    assert pids(search(BM25(), FISH, "rivers", POOLED)) == ["p2", "p0"]
    assert pids(search(BM25(pool=True), FISH, "rivers", POOLED)) == ["p2"]
    assert len(search(BM25(pool=True), FISH, "rivers", Question("q", ""))) == 2


def test_the_pool_changes_no_score_and_comes_before_the_cut():
    whole = {h.pid: h.score for h in search(BM25(), FISH, "rivers salmon")}
    pooled = search(
        BM25(pool=True, depth=1), FISH, "rivers salmon", Question("q", "", pool=("p2",))
    )
    assert [(h.pid, h.score) for h in pooled] == [("p2", whole["p2"])]


def test_an_empty_pool_finds_nothing():
    assert search(BM25(pool=True), FISH, "rivers", Question("q", "", pool=())) == ()


def test_a_pool_with_an_unknown_passage_is_an_error():
    question = Question("q7", "", pool=("p0", "nowhere"))
    with pytest.raises(AdapterError, match=r"question 'q7'.*'nowhere'.*retriever.pool=false"):
        search(BM25(pool=True), FISH, "rivers", question)


DATED = corpus_of(
    Passage("a", "rates of interest", meta={"year": 2024, "final": True}),
    Passage("b", "rates of interest", meta={"year": 2023, "final": True}),
    Passage("c", "rates of interest", meta={"year": "2024"}),
    Passage("d", "rates of interest"),
    Passage("e", "nothing", meta={"year": 2024}),
)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["a", "b", "c", "d"]),
        ({"year": 2024}, ["a"]),
        ({"year": 2024.0}, ["a"]),
        ({"year": "2024"}, ["c"]),
        ({"final": True}, ["a", "b"]),
        ({"final": 1}, []),
        ({"final": True, "year": 2023}, ["b"]),
        ({"absent": None}, []),
    ],
)
@pytest.mark.parametrize("engine", ["sparse", "rank_bm25"])
def test_the_filter_keeps_passages_with_equal_metadata(engine, wanted, found):
    question = Question("q", "", filter=wanted)
    retriever = BM25(engine=engine, apply_filter=True)
    assert pids(search(retriever, DATED, "rates", question)) == found
    assert len(search(BM25(engine=engine), DATED, "rates", question)) == 4


def test_one_retriever_keeps_the_restrictions_of_its_questions_apart():
    retriever = BM25(pool=True, apply_filter=True)
    first = Question("1", "", filter={"year": 2024}, pool=("a", "b"))
    second = Question("2", "", filter={"year": 2023}, pool=("a", "b"))
    third = Question("3", "", filter={"year": 2023}, pool=("a",))
    assert pids(search(retriever, DATED, "rates", first)) == ["a"]
    assert pids(search(retriever, DATED, "rates", second)) == ["b"]
    assert pids(search(retriever, DATED, "rates", third)) == []
    assert pids(search(retriever, DATED, "rates", first)) == ["a"]


class CountingAnalyzer:
    def __init__(self):
        self.texts = []

    def terms(self, text):
        self.texts.append(text)
        return text.split()


def test_the_index_is_built_once_a_corpus_and_kept_for_two():
    analyzer = CountingAnalyzer()
    retriever = BM25(analyzer=analyzer)
    one, two, three = corpus_of("a"), corpus_of("b"), corpus_of("c")
    for corpus in (one, two, one, two):
        search(retriever, corpus, "query")
    assert [t for t in analyzer.texts if t != "query"] == ["a", "b"]
    for corpus in (three, one):
        search(retriever, corpus, "query")
    assert [t for t in analyzer.texts if t != "query"] == ["a", "b", "c", "a"]


class StringAnalyzer:
    def terms(self, text):
        return text


@pytest.mark.parametrize("engine", ["sparse", "rank_bm25"])
def test_an_analyzer_that_returns_a_string_is_an_error(engine):
    with pytest.raises(AdapterError, match="StringAnalyzer returned a string"):
        search(BM25(engine=engine, analyzer=StringAnalyzer()), FISH, "swim")


@pytest.mark.parametrize(
    ("knobs", "problem"),
    [
        ({"variant": "plus"}, "variant is 'plus': give okapi or lucene"),
        ({"engine": "lucene"}, "engine is 'lucene': give sparse or rank_bm25"),
        ({"k1": -1}, "k1 is -1: give a number of at least 0"),
        ({"k1": float("nan")}, "k1 is nan: give a number of at least 0"),
        ({"b": 1.5}, "b is 1.5: give a number from 0 to 1"),
        ({"epsilon": "x"}, "epsilon is 'x': give a number of at least 0"),
        ({"fields": ["title", "body"]}, "a list of title, text or both"),
        ({"fields": "text"}, "a list of title, text or both"),
        ({"fields": []}, "a list of title, text or both"),
        ({"depth": 0}, "depth is 0: give a number of passages from 1"),
        ({"engine": "rank_bm25", "variant": "lucene"}, "give engine=sparse"),
        ({"engine": "rank_bm25", "k1": 0}, "give engine=sparse"),
        ({"analyzer": Analyzer(language="klingon")}, "analyzer.language is 'klingon'"),
    ],
)
def test_a_knob_without_meaning_is_a_problem_before_and_an_error_while_running(knobs, problem):
    retriever = BM25(**knobs)
    assert [p for p in retriever.problems() if problem in p]
    with pytest.raises(AdapterError):
        search(retriever, FISH, "swim")


def test_all_problems_are_reported_together():
    assert len(BM25(k1=-1, b=2, depth=0).problems()) == 3


def test_valid_knobs_are_no_problem():
    assert BM25().problems() == []
    assert BM25(variant="lucene", k1=0, b=0, epsilon=0).problems() == []


def test_the_library_is_part_of_the_identity_only_where_it_is_the_engine():
    assert BM25().identity() == {}
    assert BM25(engine="rank_bm25").identity()["engine"].startswith("rank_bm25 0.")


def test_building_and_checking_it_imports_neither_scipy_nor_the_library():
    code = (
        "import sys; from ragablate.retrieve.bm25 import BM25; BM25().problems();"
        "print([m for m in ('scipy', 'rank_bm25', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
