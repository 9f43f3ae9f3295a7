from __future__ import annotations

import math

import pytest

from ragablate.compare import compare

EX_13 = (
    ("1111", "1111"),
    ("1101", "1111"),
    ("0010", "1011"),
    ("0000", "0000"),
    ("1010", "1111"),
)


def decodes(text):
    return tuple(float(digit) for digit in text)


def primary(study):
    return compare(study).effects[0]


def test_ex_13_both_standard_errors_stand_with_the_effect(sheet, declare):
    made = sheet()
    for old, new in EX_13:
        made.add({("control", "correct"): decodes(old), ("reader", "correct"): decodes(new)})

    found = primary(made.study(declare("reader")))

    assert found.effect == 0.25
    assert found.se_super == pytest.approx(0.1118, abs=5e-5)
    assert found.se_set == pytest.approx(0.0957, abs=5e-5)


def test_one_decode_says_nothing_of_decoding_noise(sheet, declare):
    made = sheet()
    for old, new in ((0, 1), (1, 1), (0, 0), (1, 0), (0, 1)):
        made.add({("control", "correct"): old, ("reader", "correct"): new})

    found = primary(made.study(declare("reader")))

    assert found.se_set is None
    assert found.se_super == pytest.approx(math.sqrt(0.7 / 5))


def test_questions_of_one_document_are_no_independent_evidence(sheet, declare):
    alone, together = sheet(), sheet()
    for i in range(40):
        for made, key in ((alone, f"d{i}"), (together, f"d{i // 4}")):
            moved = float(i // 4 % 2)
            made.add({("control", "correct"): 0, ("reader", "correct"): moved}, cluster=key)

    apart, clustered = (
        primary(alone.study(declare("reader"))),
        primary(together.study(declare("reader"))),
    )

    assert clustered.clusters == 10
    ratio = clustered.se_super / apart.se_super
    assert ratio == pytest.approx(2 * math.sqrt(39 / 40 * 10 / 9))
