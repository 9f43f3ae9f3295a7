"""The runner on real plans: what is computed, what is shared, what a failure does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import scripted
from tests_support import QUESTIONS, write_dataset

from ragablate import session
from ragablate.errors import DesignError, NoAnswers
from ragablate.session import Outcome

pytestmark = pytest.mark.usefixtures("hydra")
CONF = f"hydra.searchpath=[file://{Path(__file__).parent / 'conf'}]"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    scripted.reset()
    yield
    scripted.reset()


@pytest.fixture
def run(toy: Path, tmp_path: Path) -> Any:
    def call(*overrides: str) -> Outcome:
        return session.run(
            [
                "dataset=jsonl",
                f"dataset.path={toy}",
                f"outputs={tmp_path / 'outputs'}",
                "reader=function",
                "reader.function=scripted:read",
                *overrides,
            ]
        )

    return call


def scores(outcome: Outcome, arm: str, measure: str = "correct") -> dict[str, Any]:
    return dict(outcome.bundle.study().scores[arm][measure])


def test_an_arm_that_leaves_a_prompt_unchanged_reuses_the_answer(run: Any) -> None:
    outcome = run(
        "experiment=oracle_context",
        "experiment.oracle_context.treatments=[with_gold,oracle]",
        "assembler.budget_tokens=2000",
    )
    contexts = {
        (t.qid, t.context_digest) for traces in outcome.bundle.traces.values() for t in traces
    }
    assert len(scripted.ASKED) == len(contexts) == outcome.calls
    assert len(contexts) < sum(len(t) for t in outcome.bundle.traces.values())


def test_the_seed_of_a_decode_is_the_same_in_every_arm_and_plan(run: Any) -> None:
    run("experiment=[closed_book,oracle_context]")
    first = {q: set(s) for q, s in scripted.SEEDS.items()}
    assert all(len(s) == 1 for s in first.values())
    scripted.reset()
    run("experiment=[necessity]", "reader.version=asked-anew")
    assert {q: set(s) for q, s in scripted.SEEDS.items()} == first


def test_a_lost_connection_is_unmeasured_and_tried_again_by_the_next_execution(run: Any) -> None:
    victim = QUESTIONS[0]["question"]
    scripted.BROKEN[victim] = ConnectionError
    outcome = run("experiment=closed_book")
    assert scores(outcome, "control")["q1"] == (None,)
    effect = next(e for e in outcome.comparison.effects if e.role == "primary")
    assert effect.unmeasured == 1
    assert outcome.bundle.study().errors["control"] == {"q1": "infrastructure"}
    scripted.reset()
    again = run("experiment=closed_book")
    assert set(scripted.ASKED) == {victim}
    assert scores(again, "control")["q1"] != (None,)


def test_a_crash_of_the_reader_is_an_outcome_that_scores_zero(run: Any) -> None:
    scripted.BROKEN[QUESTIONS[0]["question"]] = ValueError
    outcome = run("experiment=closed_book")
    assert scores(outcome, "control")["q1"] == (0.0,)
    assert outcome.bundle.study().errors["control"] == {"q1": "pipeline"}
    scripted.reset()
    run("experiment=closed_book")
    assert scripted.ASKED == []


def test_a_gate_keeps_a_question_from_the_reader_but_never_from_the_oracle(run: Any) -> None:
    outcome = run(
        "experiment=oracle_context",
        CONF,
        "gate=refuses_some",
    )
    refused = [t for t in outcome.bundle.traces["control"] if t.gate and t.gate.outcome != "go"]
    assert [t.qid for t in refused] == ["q1", "q4"]
    assert all(t.answer is None and t.prompt_pids == () for t in refused)
    assert scores(outcome, "control", "abstained")["q1"] == (1.0,)
    assert scores(outcome, "control")["q1"] == (0.0,)
    assert [c.id for c in outcome.bundle.contrasts] == [
        "oracle_context/oracle",
        "oracle_context/none",
    ]
    oracle = {t.qid: t for t in outcome.bundle.traces["context=oracle"]}
    assert oracle["q1"].gate is None
    assert oracle["q1"].prompt_pids == ("p1",)


def test_a_rewriter_may_read_the_results_and_search_again(run: Any) -> None:
    outcome = run("experiment=closed_book", "rewriter._target_=scripted.SearchesTwice")
    trace = outcome.bundle.traces["control"][0]
    assert trace.searches == (QUESTIONS[0]["question"], "harbour")
    assert {"p5", "p8"} <= {hit.pid for hit in trace.candidates}


def test_a_retriever_s_signals_reach_the_trace_and_the_gate(run: Any) -> None:
    """Also when they come back from the store, and the lowest where there were two searches."""
    chosen = (
        "experiment=closed_book",
        "retriever=none",
        "retriever._target_=scripted.CountsWords",
        CONF,
        "gate=wants_words",
    )
    once = run(*chosen)
    again = run(*chosen)
    for outcome in (once, again):
        traces = outcome.bundle.traces["control"]
        words = {t.qid: float(len(t.question.split())) for t in traces}
        assert {t.qid: t.signals for t in traces} == {q: {"words": n} for q, n in words.items()}
        assert {t.qid: t.gate.outcome == "go" for t in traces} == {
            q: n >= 6 for q, n in words.items()
        }
    twice = run(*chosen, "rewriter._target_=scripted.SearchesTwice").bundle.traces["control"]
    assert {t.signals["words"] for t in twice} == {1.0}
    assert {t.gate.outcome for t in twice} == {"refuse"}


def test_replicates_are_decoded_apart_and_the_placebo_takes_the_next_number(run: Any) -> None:
    outcome = run(
        "experiment=placebo",
        "reader.function=scripted:stochastic",
        "reader.stochastic=true",
        "replicates=3",
    )
    control = Counter(t.qid for t in outcome.bundle.traces["control"])
    assert set(control.values()) == {3}
    answers = [t.answer for t in outcome.bundle.traces["control"] if t.qid == "q1"]
    assert len(set(answers)) == 3
    assert {t.replicate for t in outcome.bundle.traces["placebo"]} == {4}


def test_a_sample_is_stratified_by_answerable_and_does_not_depend_on_the_plan(run: Any) -> None:
    small = run("experiment=closed_book", "limit=4")
    other = run("experiment=oracle_context", "limit=4")
    qids = small.bundle.study().qids
    assert qids == other.bundle.study().qids
    assert sorted(small.bundle.study().answerable.values()) == [False, True, True, True]
    assert list(qids) == sorted(qids)


def test_no_stage_sees_the_slices_of_a_question(run: Any, toy: Path) -> None:
    lines = (toy / "questions.jsonl").read_text().splitlines()
    tagged = [line.replace('"id"', '"slices": {"secret": "yes"}, "id"', 1) for line in lines]
    (toy / "questions.jsonl").write_text("\n".join(tagged) + "\n")
    outcome = run("experiment=closed_book", "rewriter._target_=scripted_peeking.Peeks")
    assert outcome.bundle.traces["control"][0].searches == ("{}",)
    assert outcome.bundle.questions["q1"].slices == {"secret": "yes"}


def test_every_file_of_the_bundle_is_in_its_manifest(run: Any) -> None:
    from ragablate.bundle import manifest

    outcome = run("experiment=closed_book")
    listed = manifest.parse((outcome.folder / "MANIFEST").read_text())
    assert listed == manifest.files(outcome.folder)
    assert manifest.bundle_id(listed) == outcome.bundle_id
    assert {"plan.json", "effects.json", "report.md", ".hydra/config.yaml"} <= set(listed)


def test_a_plan_whose_answers_all_fail_tells_why_they_do(run: Any) -> None:
    scripted.BROKEN.update({row["question"]: ConnectionError for row in QUESTIONS})
    with pytest.raises(NoAnswers, match="ConnectionError: planted") as caught:
        run("experiment=oracle_context")
    assert caught.value.exit_code == 1


def test_a_plan_whose_judge_cannot_be_asked_blames_the_judge_and_not_the_answers(run: Any) -> None:
    at = "judge.correct_llm.endpoint"
    with pytest.raises(NoAnswers, match="the judge could not be asked: no reply") as caught:
        run(
            "experiment=oracle_context", "judge=[correct_llm,abstention]",
            f"{at}.base_url=http://127.0.0.1:9/v1", f"{at}.model=m", f"{at}.runtime.retries=0",
        )  # fmt: skip
    assert caught.value.exit_code == 1


def test_a_question_set_that_can_show_nothing_is_refused_before_anything_is_asked(
    run: Any, toy: Path
) -> None:
    write_dataset(toy, questions=QUESTIONS[5:])
    with pytest.raises(DesignError, match=r"1 of the 3 question\(s\)"):
        run("experiment=oracle_context")
    assert scripted.ASKED == []


def quickstart(tmp_path: Path, *overrides: str) -> Outcome:
    return session.run(
        ["experiment=[oracle_context,swap_reader]", f"outputs={tmp_path / 'outputs'}", *overrides]
    )


def test_a_sealed_part_is_scored_alone_and_a_second_plan_on_it_is_a_second_look(
    tmp_path: Path,
) -> None:
    share = "confirmation.share=0.3"
    explored = quickstart(tmp_path, share)
    confirmed = quickstart(tmp_path, share, "confirmation.open=true")
    again = quickstart(tmp_path, share, "confirmation.open=true", "alpha=0.01")

    shown, sealed = (set(o.bundle.questions) for o in (explored, confirmed))
    assert len(shown | sealed) == 200
    assert not shown & sealed
    assert (explored.looks, confirmed.looks, again.looks) == (1, 1, 2)
    assert "Confirmation: the" in confirmed.bundle.plan["decision_rule"]
    assert "stay sealed" in explored.bundle.plan["decision_rule"]


def test_a_declared_look_tests_at_its_own_level(tmp_path: Path) -> None:
    looks = ("sequential.rule=obf", "sequential.looks=2", "sequential.planned_n=200")
    first = quickstart(tmp_path, *looks, "limit=120")
    last = quickstart(tmp_path, *looks)

    levels = [o.bundle.plan["level"] for o in (first, last)]
    assert levels == pytest.approx([0.00517, 0.04799], abs=2e-5)
    for outcome, level in zip((first, last), levels, strict=True):
        headline = outcome.comparison.effects[0]
        assert headline.ci95 is not None
        assert headline.ci95.confidence == pytest.approx(1 - level)
    assert set(first.bundle.questions) < set(last.bundle.questions)


def test_a_design_of_several_arms_takes_no_sequence(tmp_path: Path) -> None:
    asked = ("sequential.rule=cs", "sequential.planned_n=300", "cluster_by=null")
    with pytest.raises(DesignError, match="covers contrasts alone: leave out localize"):
        quickstart(tmp_path, *asked, "experiment=localize")
    found = quickstart(tmp_path, *asked).comparison.effects[0]
    assert found.ci95 is not None
    assert found.ci95.method == "confidence sequence"


def test_joint_adjustment_is_said_and_kept_in_the_bundle(tmp_path: Path) -> None:
    found = quickstart(tmp_path, "correction=maxt")
    assert "adjusted by max-T" in found.bundle.plan["decision_rule"]
    assert ", max-T " in found.comparison.conclusions[0].sentences[0]
