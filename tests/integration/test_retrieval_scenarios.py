"""Failures of the field and their fixes in the retriever, on real text, through the runner."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenarios import CONF, CORPUS, SINGLE, Row, fixed_by, written

pytestmark = pytest.mark.usefixtures("hydra")


def editions() -> tuple[list[Row], list[Row]]:
    """Pages that were published again every year, and questions about the last edition."""
    years = range(2013, 2025)
    corpus, questions = [], []
    for row in SINGLE[:30]:
        page = CORPUS[row["gold_ids"][0]]
        corpus += [
            {"id": f"{page['id']}-{year}", "title": page["title"], "meta": {"edition": year},
             "text": f"{page['text']} Edition of {year}."}
            for year in years
        ]  # fmt: skip
        questions.append(
            {"id": row["id"], "question": row["question"], "answers": row["answers"],
             "gold_ids": [f"{page['id']}-2024"], "filter": {"edition": {"least": 2024}}}
        )  # fmt: skip
    distinct = {row["id"]: row for row in corpus}
    return list(distinct.values()), questions


def test_f7_a_filter_after_the_search_leaves_too_little_and_one_before_it_does_not(
    tmp_path: Path,
) -> None:
    data = written(tmp_path / "editions", *editions())
    levels = ",".join(
        f"{{{mode}: ['retriever.filter_mode={mode}']}}" for mode in ("pre", "in", "by_pass_rate")
    )
    effects = fixed_by(
        data,
        "retriever",
        f"[{levels}]",
        CONF,
        "retriever=filtered_after",
    )
    assert set(effects) == {"pre", "in", "by_pass_rate"}
    for effect in effects.values():
        assert (effect.state, effect.unmeasured, effect.worse) == ("up", 0, 0)
        assert effect.control_mean is not None
        assert effect.control_mean < 0.1
        assert effect.treatment_mean == 1.0
