from __future__ import annotations

from ragablate.compare import compare

CONTROL, TREATMENT = ("control", "correct"), ("upstream", "correct")


def slices(study):
    return {e.population: e for e in compare(study).effects if e.role == "slice"}


def test_a_slice_needs_ten_questions_and_a_sibling(sheet, declare):
    made = sheet()
    for value, times in (("a", 10), ("b", 10), ("c", 9)):
        made.add({CONTROL: 0, TREATMENT: 1}, times=times, slices={"type": value, "all": "same"})

    assert set(slices(made.study(declare("upstream")))) == {"type=a", "type=b"}


def test_a_lone_large_slice_is_not_compared(sheet, declare):
    made = sheet()
    for value, times in (("a", 30), ("b", 9)):
        made.add({CONTROL: 0, TREATMENT: 1}, times=times, slices={"type": value})

    assert slices(made.study(declare("upstream"))) == {}


def test_behind_a_closed_gate_no_slice_is_detected(sheet, declare):
    made = sheet()
    for value in ("a", "b"):
        made.add({CONTROL: 0, TREATMENT: 1}, times=12, slices={"type": value})
        made.add({CONTROL: 1, TREATMENT: 1}, times=28, slices={"type": value})

    comparison = compare(made.study(declare("upstream")))

    assert comparison.effects[0].state == "up"
    found = [e for e in comparison.effects if e.role == "slice"]
    assert [e.p_adjusted for e in found] == [1.0, 1.0]
    assert {e.state for e in found} == {"unclear"}


def test_behind_an_open_gate_p_values_are_adjusted_for_the_slices_of_that_name(sheet, declare):
    made = sheet()
    made.add({CONTROL: 0, TREATMENT: 1}, times=20, slices={"type": "a"})
    made.add({CONTROL: 1, TREATMENT: 1}, times=20, slices={"type": "a"})
    made.add({CONTROL: 1, TREATMENT: 1}, times=40, slices={"type": "b"})

    found = slices(made.study(declare("upstream")))

    assert found["type=a"].p_adjusted == 2 * found["type=a"].p
    assert (found["type=a"].state, found["type=b"].p_adjusted) == ("up", 1.0)


def test_unanswerable_questions_are_in_no_slice(sheet, declare):
    made = sheet()
    for answerable in (True, False):
        for value in ("a", "b"):
            made.add(
                {CONTROL: 0, TREATMENT: 1},
                times=15,
                answerable=answerable,
                slices={"type": value, "answerable": str(answerable)},
            )

    found = slices(made.study(declare("upstream")))

    assert {name: e.n for name, e in found.items()} == {"type=a": 15, "type=b": 15}
