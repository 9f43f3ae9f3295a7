"""Progress bars."""

from __future__ import annotations

import io

from rich.console import Console

from ragablate.report.progress import Bars, display


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _bars() -> tuple[Bars, _Clock]:
    clock = _Clock()
    return Bars(display(console=Console(file=io.StringIO())), clock), clock


def _shown(bars: Bars) -> dict[str, tuple[float, float | None]]:
    return {task.description: (task.completed, task.total) for task in bars.progress.tasks}


def test_a_stage_of_less_than_a_second_shows_no_bar() -> None:
    bars, clock = _bars()
    for done in range(1, 11):
        clock.now += 0.05
        bars("retrieve", done, 10)
    assert _shown(bars) == {}


def test_a_longer_stage_shows_how_far_it_is() -> None:
    bars, clock = _bars()
    bars("read", 1, 10)
    clock.now = 1.5
    bars("read", 4, 10)
    assert _shown(bars) == {"read": (4, 10)}


def test_the_same_stage_of_another_arm_adds_to_its_bar() -> None:
    bars, clock = _bars()
    bars("retrieve", 1, 10)
    clock.now = 2.0
    bars("retrieve", 10, 10)
    bars("retrieve", 1, 10)
    clock.now = 3.0
    bars("retrieve", 5, 10)
    assert _shown(bars) == {"retrieve": (15, 20)}


def test_time_that_other_stages_take_is_not_counted() -> None:
    bars, clock = _bars()
    bars("retrieve", 10, 10)
    clock.now = 0.5
    bars("rerank", 10, 10)
    clock.now = 60.0
    bars("retrieve", 1, 10)
    assert _shown(bars) == {}


def test_judges_share_one_bar() -> None:
    bars, clock = _bars()
    bars("judge.correct", 10, 10)
    bars("judge.faithfulness", 1, 10)
    clock.now = 2.0
    bars("judge.faithfulness", 3, 10)
    assert _shown(bars) == {"judge": (13, 20)}


def test_a_bar_is_not_redrawn_for_every_item_but_always_for_the_last() -> None:
    bars, clock = _bars()
    bars("read", 1, 100)
    clock.now = 2.0
    bars("read", 2, 100)
    clock.now = 2.01
    bars("read", 3, 100)
    assert _shown(bars) == {"read": (2, 100)}
    bars("read", 100, 100)
    assert _shown(bars) == {"read": (100, 100)}
