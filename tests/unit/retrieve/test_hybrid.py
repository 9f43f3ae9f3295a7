import pytest

from ragablate.errors import AdapterError
from ragablate.protocols import Retriever, SearchRequest
from ragablate.records import Corpus, Failure, Hit, Item, Passage, Question
from ragablate.retrieve.bm25 import BM25
from ragablate.retrieve.fusion import reciprocal_rank_fusion
from ragablate.retrieve.hybrid import Hybrid
from ragablate.retrieve.none import NoRetriever

CORPUS = Corpus(
    tuple(Passage(p, t) for p, t in [("a", "red fox"), ("b", "blue fox"), ("c", "red"), ("d", "")]),
    "digest",
)
REQUESTS = [SearchRequest(i, t, Question(i, t)) for i, t in [("1", "red fox"), ("2", "blue")]]


class Fixed:
    """Always ranks the given pids, answering the requests backwards."""

    def __init__(self, *pids):
        self.pids = pids
        self.closed = False

    def retrieve(self, corpus, requests):
        for request in reversed(requests):
            yield Item(request.id, tuple(Hit(p, -float(i)) for i, p in enumerate(self.pids)))

    def close(self):
        self.closed = True


class Failing:
    def retrieve(self, corpus, requests):
        for request in requests:
            if request.id == "1":
                yield Item("1", None, Failure("infrastructure", "timed out"))
            else:
                yield Item(request.id, (Hit("a", 1.0),))


class Forgetful:
    def retrieve(self, corpus, requests):
        yield Item(requests[0].id, ())


def rankings(hybrid):
    return {item.id: [h.pid for h in item.value] for item in hybrid.retrieve(CORPUS, REQUESTS)}


def test_it_is_a_retriever():
    assert isinstance(Hybrid({}), Retriever)


def test_rankings_are_fused_search_by_search():
    hybrid = Hybrid({"one": Fixed("a", "b", "c"), "two": Fixed("c", "a")})
    (first, second) = hybrid.retrieve(CORPUS, REQUESTS)
    assert (first.id, second.id) == ("1", "2")
    assert [(h.pid, h.score) for h in first.value] == [
        ("a", pytest.approx(1 / 61 + 1 / 62)),
        ("c", pytest.approx(1 / 63 + 1 / 61)),
        ("b", pytest.approx(1 / 62)),
    ]


def test_it_fuses_what_its_retrievers_find():
    okapi, lucene = BM25(depth=2), BM25(variant="lucene", depth=1)
    fused = list(Hybrid({"x": okapi, "y": lucene}, k=7).retrieve(CORPUS, REQUESTS))
    parts = zip(okapi.retrieve(CORPUS, REQUESTS), lucene.retrieve(CORPUS, REQUESTS), strict=True)
    assert [item.value for item in fused] == [
        reciprocal_rank_fusion([x.value, y.value], k=7, depth=100) for x, y in parts
    ]


def test_weights_go_by_name_and_are_one_where_left_out():
    parts = {"one": Fixed("a", "b"), "two": Fixed("b", "a")}
    assert rankings(Hybrid(parts))["1"] == ["a", "b"]
    assert rankings(Hybrid(parts, weights={"two": 2.0}))["1"] == ["b", "a"]
    assert rankings(Hybrid({"one": Fixed("a"), "two": Fixed("b")}, weights={"one": 0}))["1"] == [
        "b"
    ]


def test_the_fused_ranking_is_cut_to_its_depth():
    assert rankings(Hybrid({"one": Fixed("c", "b", "a")}, depth=2))["2"] == ["c", "b"]


def test_retrievers_that_find_nothing_give_an_empty_ranking():
    assert rankings(Hybrid({"one": NoRetriever(), "two": NoRetriever()})) == {"1": [], "2": []}


def test_a_hybrid_may_hold_a_hybrid():
    inner = Hybrid({"x": Fixed("a", "b")})
    assert rankings(Hybrid({"inner": inner, "none": NoRetriever()}))["1"] == ["a", "b"]


def test_the_failure_of_a_retriever_is_that_of_the_search_alone():
    first, second = Hybrid({"ok": Fixed("a"), "slow": Failing()}).retrieve(CORPUS, REQUESTS)
    assert first == Item("1", None, Failure("infrastructure", "slow: timed out"))
    assert [h.pid for h in second.value] == ["a"]


def test_a_search_left_unanswered_is_an_error_that_names_the_retriever():
    with pytest.raises(AdapterError, match=r"'lazy' of the hybrid \(Forgetful\).*search '2'"):
        list(Hybrid({"lazy": Forgetful()}).retrieve(CORPUS, REQUESTS))


@pytest.mark.parametrize(
    ("hybrid", "problem"),
    [
        (Hybrid({}), "retrievers is empty"),
        (Hybrid({"a": NoRetriever()}, k=-1), "k is -1"),
        (Hybrid({"a": NoRetriever()}, depth=0), "depth is 0"),
        (Hybrid({"a": NoRetriever()}, weights={"b": 1}), "weights names 'b'"),
        (Hybrid({"a": NoRetriever()}, weights={"a": -1}), "weights.a is -1"),
        (Hybrid({"a": NoRetriever()}, weights={"a": "x"}), "weights.a is 'x'"),
    ],
)
def test_a_knob_without_meaning_is_a_problem_before_and_an_error_while_running(hybrid, problem):
    (found,) = hybrid.problems()
    assert problem in found
    with pytest.raises(AdapterError):
        list(hybrid.retrieve(CORPUS, REQUESTS))


def test_problems_of_the_retrievers_are_its_own():
    assert Hybrid({"a": BM25(b=7), "b": NoRetriever()}).problems() == BM25(b=7).problems()


def test_closing_it_closes_what_can_be_closed():
    part = Fixed("a")
    Hybrid({"a": part, "b": NoRetriever()}).close()
    assert part.closed


def test_its_signals_are_those_of_its_parts_and_how_far_they_agree():
    filters = {"where": {"lang": "en"}}
    corpus = Corpus(tuple(Passage(p, "fox", meta={"lang": lang}) for p, lang in
                          [("a", "en"), ("b", "de"), ("c", "en")]), "signals")  # fmt: skip
    parts = {"all": BM25(), "some": BM25(filters=filters)}
    (item,) = Hybrid(parts).retrieve(corpus, [SearchRequest("1", "fox", Question("1", "?"))])
    told = {"some.pass_rate": 2 / 3, "some.filtered_pre": 1.0, "overlap": 2 / 3}
    assert item.signals == told
    (one,) = Hybrid({"all": BM25()}).retrieve(corpus, REQUESTS[:1])
    assert one.signals == {}
    (apart,) = Hybrid({"x": Fixed("a", "b"), "y": Fixed("c")}).retrieve(CORPUS, REQUESTS[:1])
    assert apart.signals == {"overlap": 0.0}


class Scored:
    """Always ranks pids at the given scores."""

    def __init__(self, **scores):
        self.scores = scores

    def retrieve(self, corpus, requests):
        ranked = sorted(
            (Hit(p, s) for p, s in self.scores.items()), key=lambda h: (-h.score, h.pid)
        )
        for request in requests:
            yield Item(request.id, tuple(ranked))


def fused_scores(**knobs):
    parts = {"one": Scored(a=10.0, b=4.0, c=2.0), "two": Scored(b=0.9, d=0.5)}
    (item,) = Hybrid(parts, fusion="weighted", **knobs).retrieve(CORPUS, REQUESTS[:1])
    return {hit.pid: pytest.approx(hit.score) for hit in item.value}


def test_scores_are_fused_by_weight_on_a_scale_they_share():
    assert fused_scores() == {"b": (0.25 + 1) / 2, "a": 0.5, "c": 0.0, "d": 0.0}
    assert fused_scores(weights={"one": 3.0}) == {
        "a": 0.75, "b": 0.25 * 0.75 + 0.25, "c": 0.0, "d": 0.0
    }  # fmt: skip
    mean, spread = 16 / 3, (((14 / 3) ** 2 + (4 / 3) ** 2 + (10 / 3) ** 2) / 3) ** 0.5
    z = {name: (score - mean) / spread for name, score in {"a": 10, "b": 4, "c": 2}.items()}
    assert fused_scores(normalise="z") == {
        "a": (z["a"] - 1) / 2, "b": (z["b"] + 1) / 2, "c": (z["c"] - 1) / 2, "d": (z["c"] - 1) / 2
    }  # fmt: skip


def test_an_empty_ranking_has_no_say_and_equal_scores_are_all_the_best():
    parts = {"none": Scored(), "level": Scored(a=3.0, b=3.0)}
    (item,) = Hybrid(parts, fusion="weighted").retrieve(CORPUS, REQUESTS[:1])
    assert item.value == (Hit("a", 1.0), Hit("b", 1.0))


@pytest.mark.parametrize(
    ("text", "routed"),
    [
        ("error SSO-4012 on login", True),
        ("what does getUserName return", True),
        ("set max_tokens", True),
        ("is v2.3 supported", True),
        ("the 7B model", True),
        ("what happened in 1931", False),
        ("the 19th-century bridge and the 1990s", False),
        ("a 20-year plan, and/or 3.5 million e.g. now", False),
        ("Who opened the Zorbat Bridge?", False),
    ],
)
def test_searches_with_an_identifier_have_weights_of_their_own(text, routed):
    parts = {"letters": Fixed("a", "b"), "meaning": Fixed("b", "a")}
    weights = {"letters": 1.0, "meaning": 0.0}
    hybrid = Hybrid(parts, weights={"letters": 0.5}, identifiers={"weights": weights})
    (item,) = hybrid.retrieve(CORPUS, [SearchRequest("1", text, Question("1", "no identifier"))])
    assert [hit.pid for hit in item.value] == (["a", "b"] if routed else ["b", "a"])
    assert item.signals["identifier"] == float(routed)


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        ({"fusion": "mean"}, "give rrf or weighted"),
        ({"normalise": "softmax"}, "give min_max or z"),
        ({"identifiers": {"pattern": "("}}, "identifiers.pattern is no regular expression"),
        ({"identifiers": {"weights": {"third": 1}}}, "identifiers.weights names 'third'"),
        ({"identifiers": {"patern": ""}}, "identifiers.patern is no knob"),
    ],
)
def test_fusion_without_a_meaning_is_told(knobs, said):
    (problem,) = Hybrid({"one": Fixed("a")}, **knobs).problems()
    assert said in problem
