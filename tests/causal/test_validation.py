"""The validation in its fast profile: 400 sets, 100 questions, bands widened by chance."""

from __future__ import annotations

import pytest
from validation.rows import Row
from validation.run import PROFILES, Job, jobs, perform

PROFILE = PROFILES["fast"]
JOBS = [job for _, job in jobs(PROFILE, seed=1)]


def name(job: Job) -> str:
    _, function, arguments = job
    return f"{function}-{arguments[0]}"


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS, ids=name)
def test_what_was_planted_is_found_as_often_as_promised(job: Job) -> None:
    rows = perform(job)
    assert rows
    assert [row for row in rows if not row.holds(PROFILE.widening)] == []


def test_every_test_of_the_plan_is_in_the_profile() -> None:
    belongs = {test for tests, _ in jobs(PROFILE, seed=1) for test in tests}
    assert belongs == {"V2", "V3", "V4", "V5", "V6", "V7", "V8", "V9", "V14"}


@pytest.mark.parametrize(
    ("value", "low", "high", "holds"),
    [(0.05, None, 0.05, True), (0.051, None, 0.05, False), (0.92, 0.93, 0.97, False),
     (0.98, 0.93, 0.97, False), (0.95, 0.93, 0.97, True), (9.0, None, None, True)],
)  # fmt: skip
def test_a_row_holds_inside_its_band_only(
    value: float, low: float | None, high: float | None, holds: bool
) -> None:
    assert Row("V0", "", "", value, 400, low, high).holds() is holds


def test_a_band_is_widened_by_chance_alone() -> None:
    row = Row("V0", "", "", 0.08, 400, None, 0.05)
    assert row.holds(3)
    assert not row.holds(2)
    assert not Row("V0", "", "", 0.08, 40_000, None, 0.05).holds(3)
