from dataclasses import replace
from itertools import permutations

import pytest
from several_arms import cells, crossed, filled, proven, studied

from ragablate.compare import compare
from ragablate.compare.owners import READER
from ragablate.records import Factor, Proof


def attribution(m, **fields):
    """From one pipeline to another; levels of the second are called so."""
    analysis = crossed(m, kind="attribution", **fields)
    factors = tuple(Factor(f.variable, f.control_level, "target") for f in analysis.factors)
    return replace(analysis, factors=factors)


def shown(study):
    comparison = compare(study)
    (conclusion,) = comparison.conclusions
    return comparison, conclusion


def values(result):
    return {t.name: round(t.value, 4) for t in result.terms}


# EX-5, a = retriever, b = reader, c = assembler, in hundredths of 100 questions.
EX5 = {"000": 50, "100": 60, "010": 50, "001": 55, "110": 70, "101": 65, "011": 55, "111": 80}


def ex5(sheet, only=None):
    """A hundred questions, of which each cell answers as many as the example says."""
    names = cells(3) if only is None else only
    made = sheet()
    for number in range(100):
        made.add({(name, "correct"): float(number < EX5[name]) for name in names})
    return made


def test_ex5_gives_the_printed_shares(sheet):
    comparison, conclusion = shown(studied(ex5(sheet), attribution(3)))
    (result,) = comparison.analyses
    assert values(result) == {"retriever": 0.1667, "reader": 0.0667, "assembler": 0.0667}
    assert sum(t.value for t in result.terms) == pytest.approx(0.30, abs=1e-12)
    assert result.total == pytest.approx(0.30, abs=1e-12)
    assert result.order == ""
    assert "shares out the total by convention" in " ".join(conclusion.sentences)


@pytest.mark.parametrize(
    ("order", "steps"),
    [
        (("retriever", "reader", "assembler"), (0.10, 0.10, 0.10)),
        (("assembler", "reader", "retriever"), (0.05, 0.00, 0.25)),
    ],
)
def test_ex5_ladders_depend_on_their_order_and_say_so(sheet, order, steps):
    along = {
        "retriever": ["000", "100", "110", "111"],
        "assembler": ["000", "001", "011", "111"],
    }[order[0]]
    analysis = attribution(3, order=order, only=along)
    comparison, conclusion = shown(studied(ex5(sheet, along), analysis))
    (result,) = comparison.analyses
    assert values(result) == dict(zip(order, steps, strict=True))
    assert sum(t.value for t in result.terms) == pytest.approx(result.total, abs=1e-12)
    named = f"sequential, order = [{', '.join(order)}]"
    assert result.order == named
    text = " ".join(conclusion.sentences)
    assert named in text
    assert "contribution" not in text
    assert "no step is what its stage is worth" in text
    assert conclusion.verdict == "better; the steps depend on their order"
    assert (result.named, result.candidates) == ("", ())


def test_shares_are_the_mean_of_the_steps_over_all_orders(sheet):
    whole = values(shown(studied(ex5(sheet), attribution(3)))[0].analyses[0])
    names = list(whole)
    summed = dict.fromkeys(names, 0.0)
    for order in permutations(names):
        analysis = attribution(3, order=order)
        (result,) = compare(studied(ex5(sheet), analysis)).analyses
        for term in result.terms:
            summed[term.name] += term.value / 6
    assert {name: round(value, 4) for name, value in summed.items()} == whole


def test_a_missing_cell_is_refused_and_named(sheet):
    only = [name for name in cells(3) if name not in ("110", "011")]
    analysis = attribution(3, only=only)
    comparison, conclusion = shown(studied(ex5(sheet, only), analysis))
    assert comparison.analyses == ()
    assert conclusion.label == "refused"
    assert conclusion.settle == (
        "run the missing arms: reader=target with assembler=target; "
        "retriever=target with reader=target"
    )
    assert "The single difference of +0.30" in conclusion.sentences[1]


def test_a_missing_cell_off_the_order_is_not_missed(sheet):
    along = ["000", "100", "110", "111"]
    analysis = attribution(3, order=("retriever", "reader", "assembler"), only=along)
    assert compare(studied(ex5(sheet, along), analysis)).analyses
    analysis = attribution(3, order=("reader", "retriever", "assembler"), only=along)
    (conclusion,) = compare(studied(ex5(sheet, along), analysis)).conclusions
    assert conclusion.settle == "run the missing arms: reader=target alone"


def test_the_stage_with_the_largest_share_is_named_only_where_it_beats_every_other(sheet):
    # Cells 00, 01, 10, 11: the reader (second) loses 30 of 100, the retriever 3.
    patterns = {"1010": 30, "1100": 3, "1111": 67}
    comparison, conclusion = shown(studied(filled(sheet, patterns, cells(2)), attribution(2)))
    (result,) = comparison.analyses
    assert values(result) == {"retriever": -0.03, "reader": -0.3}
    assert (result.named, result.candidates) == ("reader", ())
    assert conclusion.verdict == "worse; largest share: reader"
    assert conclusion.owner == READER
    patterns = {"1010": 14, "1100": 12, "1111": 74}
    comparison, conclusion = shown(studied(filled(sheet, patterns, cells(2)), attribution(2)))
    (result,) = comparison.analyses
    assert (result.named, result.candidates) == ("", ("reader", "retriever"))
    assert conclusion.verdict == "worse; which stage did most is not decided"
    assert conclusion.owner == ""


def test_a_stage_is_not_named_where_missing_answers_could_unname_it(sheet):
    patterns = {"1010": 14, "1100": 3, "1111": 83}
    made = filled(sheet, patterns, cells(2))
    assert compare(studied(made, attribution(2))).analyses[0].named == "reader"
    made.add({(c, "correct"): None if c == "10" else 1.0 for c in cells(2)}, times=4)
    (result,) = compare(studied(made, attribution(2))).analyses
    assert (result.named, result.candidates) == ("", ("reader", "retriever"))


def test_a_gain_and_a_loss_that_make_a_flat_total_cancel_out(sheet):
    # 30 gained by the retriever, 30 lost by the reader, of 600.
    patterns = {"0011": 30, "1010": 30, "1111": 540}
    comparison, conclusion = shown(studied(filled(sheet, patterns, cells(2)), attribution(2)))
    assert {t.name: t.state for t in comparison.analyses[0].terms} == {
        "retriever": "up",
        "reader": "down",
    }
    assert conclusion.verdict == "changes cancel out"
    nothing = filled(sheet, {"1111": 300, "0000": 300}, cells(2))
    assert shown(studied(nothing, attribution(2)))[1].verdict == "no material change"


def test_a_measure_that_is_no_merit_goes_up_or_down(sheet):
    made = filled(sheet, {"1010": 30, "1111": 70}, cells(2), measure="abstained")
    _, conclusion = shown(studied(made, attribution(2, measure="abstained")))
    assert conclusion.verdict == "down; largest share: reader"
    assert conclusion.owner == ""


def test_a_share_that_is_detected_is_said_though_the_total_is_open(sheet):
    patterns = {"0101": 12, "1100": 4, "1111": 80}
    _, conclusion = shown(studied(filled(sheet, patterns, cells(2)), attribution(2)))
    assert conclusion.verdict == "reader up; the total is not decided"
    nothing = filled(sheet, {"0101": 2, "1111": 30}, cells(2))
    assert shown(studied(nothing, attribution(2)))[1].verdict == "not enough evidence"


def test_a_single_stage_that_differs_has_the_whole_change(sheet):
    comparison, conclusion = shown(
        studied(filled(sheet, {"01": 20, "11": 60}, cells(1)), attribution(1))
    )
    (result,) = comparison.analyses
    assert values(result) == {"retriever": 0.25}
    assert set(result.beside) == {"all changes together"}
    assert conclusion.verdict == "better"


def test_five_stages_share_a_change_too(sheet):
    names = cells(5)
    pattern = "".join("1" if name[0] == "1" else "0" for name in names)
    study = studied(filled(sheet, {pattern: 20, "1" * 32: 30}, names), attribution(5))
    comparison, conclusion = shown(study)
    (result,) = comparison.analyses
    assert values(result) == {
        "retriever": 0.4, "reader": 0.0, "assembler": 0.0, "reranker": 0.0, "rewriter": 0.0,
    }  # fmt: skip
    assert result.named == "retriever"
    assert len(result.cells) == 32
    assert conclusion.verdict == "better; largest share: retriever"


def test_a_confounded_step_names_no_stage(sheet):
    analysis = attribution(2)
    broken = Proof("INV-6", "fail", "confounded", "00 to 10: the corpus differs")
    proofs = {analysis.id: (*proven(analysis)[analysis.id], broken)}
    patterns = {"1010": 30, "1111": 70}
    comparison, conclusion = shown(
        studied(filled(sheet, patterns, cells(2)), analysis, proofs=proofs)
    )
    (result,) = comparison.analyses
    assert (conclusion.label, conclusion.verdict, conclusion.owner) == (
        "confounded", "no attribution", "",
    )  # fmt: skip
    assert (result.named, result.candidates) == ("", ())
    assert "cannot be put down" in conclusion.sentences[0]
