"""What must not change a result, and what must change it in a known way, through the runner."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from validation.worlds import BY_NAME, Draws, draw

from ragablate.errors import DesignError
from ragablate.records import Effect
from ragablate.session import Outcome

N = 40
Enact = Callable[..., Outcome]
BETTER = "{other:['retriever=scripted','retriever.fault=better']}"
SAME = "{other:['retriever=scripted']}"
SWAPPED = ("swap_retriever/other", "correct", "answerable")
PLAN = (
    "experiment=[swap_retriever,closed_book,oracle_context,placebo]",
    f"experiment.swap_retriever.treatments=[{BETTER}]",
)


@pytest.fixture
def draws() -> Draws:
    return draw(BY_NAME["balanced"], N, np.random.default_rng(2))


def folder(tmp_path: Path, name: str) -> Path:
    return tmp_path / name / "data"


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    text = "".join(json.dumps(row) + "\n" for row in change(rows))
    path.write_text(text, encoding="utf-8")


def swapped(outcome: Outcome) -> Effect:
    return next(e for e in outcome.comparison.effects if e.contrast == "swap_retriever/other")


def by_place(outcome: Outcome) -> dict[tuple[str, str, str], Effect]:
    effects = outcome.comparison.effects
    found = {(e.contrast, e.measure, e.population): e for e in effects}
    assert len(found) == len(effects)
    return found


def stored(outcome: Outcome) -> dict[str, bytes]:
    names = ("effects.json", "questions.jsonl", "contexts.jsonl", "prompts.jsonl")
    return {name: (outcome.folder / name).read_bytes() for name in names}


def test_the_same_plan_on_the_same_data_gives_the_same_bytes_anywhere(
    enact: Enact, draws: Draws
) -> None:
    first = enact(draws, *PLAN)
    again = enact(draws, *PLAN)
    afresh = enact(draws, *PLAN, name="another folder")
    assert again.calls == 0
    assert afresh.calls == first.calls
    assert stored(first) == stored(again) == stored(afresh)
    assert first.bundle_id == again.bundle_id == afresh.bundle_id


def test_the_order_of_the_questions_changes_no_effect(
    enact: Enact, draws: Draws, tmp_path: Path
) -> None:
    first = enact(draws, *PLAN)
    rewrite(folder(tmp_path, "world") / "questions.jsonl", lambda rows: rows[::-1])
    shuffled = enact(draws, *PLAN)
    assert stored(first)["effects.json"] == stored(shuffled)["effects.json"]


def test_the_order_of_the_experiments_changes_no_effect(enact: Enact, draws: Draws) -> None:
    first = enact(draws, *PLAN)
    other = "experiment=[placebo,oracle_context,closed_book,swap_retriever]"
    turned = enact(draws, other, PLAN[1], name="turned")
    assert by_place(first) == by_place(turned)


def test_the_order_of_the_replicates_changes_no_effect(enact: Enact, draws: Draws) -> None:
    steady = enact(draws, *PLAN, "replicates=3", name="steady")
    waning = enact(draws, *PLAN, "replicates=3", "reader.fault=waning", name="waning")
    waking = enact(draws, *PLAN, "replicates=3", "reader.fault=waking", name="waking")
    there, back = by_place(waning), by_place(waking)
    moved = {place[0] for place in there | back if there.get(place) != back.get(place)}
    # A placebo probe is one decode, beside control's first alone: which one is first matters.
    assert moved <= {"placebo/placebo"}
    assert there[SWAPPED] == back[SWAPPED]
    assert there[SWAPPED] != by_place(steady)[SWAPPED]


def test_an_earlier_look_at_the_same_questions_changes_no_effect(
    enact: Enact, draws: Draws
) -> None:
    enact(draws, "experiment=closed_book")
    second = enact(draws, *PLAN)
    alone = enact(draws, *PLAN, name="untouched")
    assert (second.looks, alone.looks) == (2, 1)
    assert stored(second)["effects.json"] == stored(alone)["effects.json"]
    plan = json.loads((second.folder / "plan.json").read_text(encoding="utf-8"))
    assert "swap_retriever/other" in plan["added_after_looks"]
    assert "closed_book/closed_book" not in plan["added_after_looks"]


def test_exchanging_the_arms_turns_the_effect_around(enact: Enact, draws: Draws) -> None:
    there = swapped(enact(draws, *PLAN))
    treatments = f"experiment.swap_retriever.treatments=[{SAME}]"
    back = swapped(enact(draws, *PLAN, "retriever=better", treatments, name="exchanged"))
    assert there.effect is not None
    assert there.effect > 0
    assert back.effect == -there.effect
    assert (back.better, back.worse, back.p) == (there.worse, there.better, there.p)
    assert there.ci95 is not None
    assert back.ci95 is not None
    assert (back.ci95.low, back.ci95.high) == (-there.ci95.high, -there.ci95.low)


def test_control_against_itself_is_exactly_nothing(enact: Enact, draws: Draws) -> None:
    outcome = enact(draws, *PLAN)
    again = next(e for e in outcome.comparison.effects if e.contrast == "placebo/placebo")
    assert (again.effect, again.p, again.better, again.worse) == (0.0, 1.0, 0, 0)


def test_questions_that_are_always_right_dilute_the_effect(enact: Enact, draws: Draws) -> None:
    few = swapped(enact(draws, *PLAN))
    sure = Draws(*(
        np.concatenate([getattr(draws, name), np.full(N, value)])
        for name, value in (("retrieved", True), ("evicted", False), ("able", True),
                            ("mislabelled", False), ("distracted", False), ("known", True))
    ))  # fmt: skip
    many = swapped(enact(sure, *PLAN, name="diluted"))
    assert few.effect is not None
    assert many.effect == pytest.approx(few.effect / 2, abs=1e-12)
    assert many.p == few.p


def test_doubled_questions_in_clusters_of_their_own_have_the_same_p(
    enact: Enact, draws: Draws, tmp_path: Path
) -> None:
    single = swapped(enact(draws, *PLAN))
    place = folder(tmp_path, "doubled")
    enact(draws, *PLAN, name="doubled")
    script = json.loads((place / "script.json").read_text(encoding="utf-8"))

    def doubled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows = [{**row, "slices": {"twin": row["id"]}} for row in rows]
        return rows + [{**row, "id": f"{row['id']}b"} for row in rows]

    rewrite(place / "questions.jsonl", doubled)
    script |= {f"{qid}b": told for qid, told in script.items()}
    (place / "script.json").write_text(json.dumps(script), encoding="utf-8")
    both = swapped(enact(draws, *PLAN, "cluster_by=slices.twin", name="doubled"))
    assert both.n == 2 * single.n
    assert both.clusters == single.n
    assert both.effect == single.effect
    assert both.p == single.p


def test_without_an_answerable_question_there_is_no_ladder(
    enact: Enact, draws: Draws, tmp_path: Path
) -> None:
    enact(draws, "experiment=closed_book", name="none")
    rewrite(
        folder(tmp_path, "none") / "questions.jsonl",
        lambda rows: [
            {"id": r["id"], "question": r["question"], "answerable": False} for r in rows
        ],
    )
    with pytest.raises(DesignError, match=r"0 of the .* can be answered"):
        enact(draws, "experiment=[localize]", name="none")
