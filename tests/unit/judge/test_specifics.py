"""Figures traced to their source, words in place of a figure, and figures left out."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from ragablate.judge.asked_figures import asked_figures
from ragablate.judge.figure_tracing import traced_figures
from ragablate.judge.specifics import Specifics
from ragablate.judge.units import unit_beside
from ragablate.judge.vagueness import vague_claims
from ragablate.records import Answer, ContextPassage, Failure, GateDecision, ResolvedGold

PLANS = ("plans", "Plans\nThe Basic plan is meant for teams under 50 seats. SSO is extra.")
CHURN = ("churn", "Churn fell by 14.5 % in 2020, to 1,280 accounts.")
POST = ("post", "Delivery takes 4 to 6 working days and costs 20 euros.")
OPENED = ("opened", "The hall was opened on 12 March 2020 for 12,400 guests.")
PASSAGES = [PLANS, CHURN, POST, OPENED]


def shown(*pairs: tuple[str, str]) -> list[ContextPassage]:
    return [ContextPassage(pid, text, text) for pid, text in pairs]


def traced(answer: str, *pairs: tuple[str, str], asked: tuple[str, ...] = ()) -> list[Any]:
    found = traced_figures(answer, shown(*(pairs or PASSAGES)), asked)
    return [(claim.text, claim.status, claim.pid) for claim in found]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Churn fell by 14.5 %.", [("14.5 %", "supported", "churn")]),
        ("Churn fell by about 15 %.", [("15 %", "vague", "churn")]),
        ("Churn fell to about 1,300 accounts.", [("1,300", "vague", "churn")]),
        ("Churn fell to 1300 accounts in 2020.",
         [("1300", "vague", "churn"), ("2020", "supported", "churn")]),
        # More digits than the source has are no rounding.
        ("Churn fell by 14.52 %.", [("14.52 %", "contradicted", "churn")]),
        # Rounded from another kind of figure, or about something else: nowhere.
        ("Churn fell by 15 points.", [("15", "unsupported", "")]),
        ("Profits and revenue rose by 15 %.", [("15 %", "unsupported", "")]),
        ("Delivery takes 4 weeks.", [("4 weeks", "contradicted", "post")]),
        ("Delivery takes 4 days.", [("4 days", "supported", "post")]),
        ("Delivery costs $20.", [("$20", "contradicted", "post")]),
        ("Delivery costs €20.", [("€20", "supported", "post")]),
        ("Delivery costs 20 days.", [("20 days", "unsupported", "")]),
        ("Delivery takes 9 working days.", [("9 working days", "contradicted", "post")]),
        ("The hall was opened on 12 March 2020.", [("12 March 2020", "supported", "opened")]),
        ("The hall was opened on 2020-03-12.", [("2020-03-12", "supported", "opened")]),
        ("The hall was opened on 13 March 2020.", [("13 March 2020", "contradicted", "opened")]),
        ("Nothing with a figure.", []),
    ],
)  # fmt: skip
def test_every_figure_is_traced_to_the_passage_that_decides(
    answer: str, expected: list[tuple[str, str, str]]
) -> None:
    assert traced(answer) == expected


def test_the_sentence_that_has_the_figure_is_quoted() -> None:
    [claim] = traced_figures("Teams under 50 seats.", shown(*PASSAGES))
    assert claim.quote == "The Basic plan is meant for teams under 50 seats."


def test_of_several_passages_the_one_about_the_same_thing_decides() -> None:
    found = traced("Delivery takes 4 days.", ("a", "Whales swim 4 miles."), POST)
    assert found == [("4 days", "supported", "post")]
    found = traced("It is 4 m long.", ("b", "It is 4 m long."), ("a", "It is 4 m long."))
    assert found == [("4 m", "supported", "a")]


def test_a_value_whose_unit_stands_elsewhere_is_no_other_unit() -> None:
    assert traced("It is 50 km long.", ("t", "Length in km\n50")) == [("50 km", "supported", "t")]


def test_figures_of_the_question_are_left_out() -> None:
    assert traced("In 2019 it fell by 14.5 %.", asked=("What fell in 2019?",)) == [
        ("14.5 %", "supported", "churn")
    ]


@pytest.mark.parametrize(
    ("text", "unit", "whole"),
    [
        ("50 km", "km", "50 km"),
        ("50km", "km", "50km"),
        ("a 50-mile walk", "mile", "50-mile"),
        ("50 square metres", "m", "50 square metres"),
        ("50 business days", "day", "50 business days"),
        ("$ 50", "USD", "$ 50"),
        ("50 €", "EUR", "50 €"),
        ("50 to 60 weeks", "week", "50 to 60 weeks"),
        ("50–60 Wochen", "week", "50–60 Wochen"),
        ("50 mention", "", "50"),
        ("50", "", "50"),
        ("50公里", "km", "50公里"),
        ("50 Wochen", "week", "50 Wochen"),
        ("50 أيام", "day", "50 أيام"),
    ],
)
def test_the_unit_stands_beside_its_figure(text: str, unit: str, whole: str) -> None:
    at = text.index("50")
    found, start, end = unit_beside(text, at, at + 2)
    assert (found, text[start:end]) == (unit, whole)


@pytest.mark.parametrize(
    ("answer", "source", "words"),
    [
        ("The Basic plan is for small teams.", PLANS[1], "small teams"),
        ("The Basic plan suits teams that are small.", PLANS[1], "suits teams that are small"),
        ("Churn fell by roughly half.", "Churn fell by 48 %.", "Churn fell by roughly half"),
        ("Delivery takes a few days.", POST[1], "few days"),
        ("Thousands of guests came to the hall.", OPENED[1], "Thousands of guests"),
        ("The hall was recently opened.", OPENED[1], "recently opened"),
        ("Der Basistarif ist für kleine Teams.",
         "Der Basistarif ist für Teams unter 50 Plätzen.", "kleine Teams"),
        ("El plan básico es para equipos pequeños.",
         "El plan básico es para equipos de menos de 50 puestos.",
         "básico es para equipos pequeños"),
        ("Le forfait de base est pour les petites équipes.",
         "Le forfait de base est pour les équipes de moins de 50 postes.", "petites équipes"),
        ("基础版适用于小型团队。", "基础版适用于50人以下的团队。", "小型团队"),
        ("الخطة الأساسية للفرق الصغيرة.", "الخطة الأساسية للفرق التي تقل عن 50 مقعدا.",
         "الخطة الأساسية للفرق الصغيرة"),
    ],
)  # fmt: skip
def test_words_in_place_of_a_figure_are_found(answer: str, source: str, words: str) -> None:
    [found] = vague_claims(answer, shown(("other", "Cats sleep."), ("p", source)))
    assert (found.text, found.status, found.pid) == (words, "vague", "p")
    assert found.quote in source


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        # The figure is given.
        ("The Basic plan is for small teams under 50 seats.", PLANS[1]),
        # The source has the words, too.
        ("The Basic plan is for small teams.", f"{PLANS[1]} The Basic plan is for small teams."),
        # The sentence's figure belongs to something else.
        ("In 1931 the big bridge opened.",
         "The bridge opened in 1931 and cost the whole town 5 million euros."),
        # No figure, or nothing about it.
        ("The Basic plan is for small teams.", "The Basic plan is for teams."),
        ("The Basic plan is for small teams.", "Our teams won 50 cups."),
        # Another name.
        ("The Pro plan in Varn is for small teams.", "The plan in Mirr is for teams under 50."),
        ("The Basic plan is for teams.", PLANS[1]),
        ("Small.", PLANS[1]),
    ],
)  # fmt: skip
def test_other_words_are_no_finding(answer: str, source: str) -> None:
    assert vague_claims(answer, shown(("p", source))) == ()


def test_figures_of_the_question_cannot_be_replaced() -> None:
    passages = shown(PLANS)
    assert vague_claims("For small teams on the Basic plan.", passages)
    question = "Which plan is for teams under 50 seats?"
    assert not vague_claims("For small teams on the Basic plan.", passages, [question])


def test_what_is_copied_from_its_source_is_exact() -> None:
    text = (files("ragablate.data") / "quickstart" / "corpus.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()[:150]]
    n = 0
    for row in rows:
        source = shown((row["id"], f"{row['title']}\n{row['text']}"))
        found = traced_figures(row["text"], source)
        assert {claim.status for claim in found} <= {"supported"}, row["id"]
        assert vague_claims(row["text"], source) == (), row["id"]
        n += len(found)
    assert n > 200


@pytest.mark.parametrize(
    ("answer", "expected", "reason"),
    [
        ("Churn fell by 14.5 % [2].", 1.0, "all as the source has them"),
        (
            "The Basic plan is for small teams. Churn fell by 15 % in 2020.",
            1 / 3,
            "not as the source has it: 15 % (vague, churn); small teams (vague, plans)",
        ),
        ("Whales weigh 30 t.", 0.0, "not as the source has it: 30 t (unsupported)"),
        ("Whales sing.", None, "neither a figure of its own nor words in place of one"),
    ],
)
def test_the_share_of_exact_figures(
    request_of: Any, verdict: Any, answer: str, expected: float | None, reason: str
) -> None:
    got = verdict(Specifics(), request_of(answer, passages=PASSAGES))["numbers_exact"]
    assert got == (pytest.approx(expected) if expected is not None else None, reason)


def _asked(request: Any) -> list[list[str]]:
    references = request.gold.answers
    found = asked_figures(request.trace.question, references, request.resolved)
    return [[figure.text for figure, _ in each] for each in found]


@pytest.mark.parametrize(
    ("question", "references", "expected"),
    [
        ("How far?", ["14.5 %"], [["14.5 %"]]),
        ("How far?", ["15 %"], []),
        ("How far?", ["by 14.5 % in 2020", "14.5 percent"], [["14.5 %", "2020"], ["14.5 percent"]]),
        ("How far in 2020?", ["by 14.5 % in 2020"], [["14.5 %"]]),
        ("How far?", ["14.5 %", "a good deal"], []),
        ("When did the mayor resign?", [], []),
        ("When did the churn fell?", [], [["2020"]]),
        ("By what percentage fell churn?", [], [["14.5 %"]]),
        ("How much fell churn?", [], [["14.5 %"]]),
        ("Um wie viel fell churn?", [], [["14.5 %"]]),
        ("¿Cuánto fell churn?", [], [["14.5 %"]]),
        ("De combien churn fell?", [], [["14.5 %"]]),
        ("churn fell 多少?", [], [["14.5 %"]]),
        ("Why fell churn?", [], []),
        ("How many whales are there?", [], []),
    ],
)
def test_what_a_question_asks_about(
    request_of: Any, question: str, references: list[str], expected: list[list[str]]
) -> None:
    text = "Churn fell by 14.5 % in 2020. The office has 3 rooms."
    request = request_of(question=question, references=references, gold=[["g"]], gold_text=text)
    assert _asked(request) == expected


@pytest.mark.parametrize(
    ("answer", "references", "expected", "reason"),
    [
        ("By 14,5 Prozent.", ["14.5 %"], 1.0, "all that was asked for"),
        ("A good deal.", ["14.5 %"], 0.0, "left out: 14.5 % (g)"),
        ("About 15 %.", ["14.5 %"], 0.0, "left out: 14.5 % (g)"),
        ("By 14.5 %.", ["14.5 % in 2020"], 0.5, "left out: 2020 (g)"),
        ("By 14.5 %.", ["14.5 % in 2020", "14.5 percent"], 1.0, "all that was asked for"),
        ("By 14.5 %.", ["a lot"], None, "the question asks about no figure of its gold"),
    ],
)
def test_figures_that_are_asked_for_and_left_out(
    request_of: Any, verdict: Any, answer: str, references: list[str], expected: Any, reason: str
) -> None:
    request = request_of(
        answer, references=references, gold=[["g"]], gold_text="Churn fell by 14.5 % in 2020."
    )
    assert verdict(Specifics(), request)["numbers_answered"] == (expected, reason)


def test_without_gold_nothing_is_asked_for(request_of: Any, verdict: Any) -> None:
    for change, word in (({"answerable": False}, "unanswerable"), ({"gold": []}, "eval gap")):
        request = request_of("5", **{"gold": [["g"]], "references": ["5"], **change})
        value, reason = verdict(Specifics(), request)["numbers_answered"]
        assert value is None
        assert word in reason
    assert asked_figures("How many?", ["5"], ResolvedGold("q1")) == ()


@pytest.mark.parametrize(
    "change",
    [
        {"answer": "I don't know 5."},
        {"answer": ""},
        {"answer": Answer("5", abstained=True)},
        {"answer": None, "failure": Failure("pipeline", "x")},
        {"answer": None, "gate": GateDecision("refuse")},
        {"answer": None},
    ],
)
def test_what_says_nothing_has_no_specifics(
    request_of: Any, verdict: Any, phrases: tuple[str, ...], change: dict[str, Any]
) -> None:
    got = verdict(Specifics(phrases), request_of(**change))
    assert all(value is None and reason for value, reason in got.values())
