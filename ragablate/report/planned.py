"""The plan on the terminal: what is asked, what is changed, what it may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragablate import looking
from ragablate.config import STAGES
from ragablate.design import PLACEBO
from ragablate.own_reader import own_readers
from ragablate.records import Arm
from ragablate.report import judging_cost, plans
from ragablate.report.page import Page
from ragablate.report.spending import estimate, in_words, judging

if TYPE_CHECKING:
    from ragablate.checked import Checked
    from ragablate.design.experiments import Experiment

_FEW_LEAVES = 4


def calls(checked: Checked) -> dict[str, int]:
    """The most reader calls each arm can take; answers that are stored already take none."""
    questions = len(checked.dataset.questions)
    most = {arm.name: questions * checked.settings.replicates for arm in checked.plan.arms}
    if PLACEBO in most:
        asked = [e.questions for e in checked.plan.experiments if e.design == "placebo"]
        most[PLACEBO] = min([questions, *(q for q in asked if q is not None)])
    return most


def own_calls(checked: Checked) -> dict[str, str]:
    """What stages ask readers of their own at most, in words, by stage."""
    asked: dict[str, set[tuple[str, int]]] = {}
    for pipeline in checked.pipelines.values():
        for stage, adapter in pipeline.stages.items():
            if own_readers([adapter]):
                rounds = int(getattr(adapter, "rounds", 1))
                asked.setdefault(stage, set()).add((pipeline.fingerprints[stage], rounds))
    found = {
        stage: f"at most {sum(r for _, r in levels) * len(checked.dataset.questions):,} calls"
        for stage, levels in asked.items()
        if stage != "chunker"
    }
    if "chunker" in asked:
        found["chunker"] = f"at most {len(asked['chunker'])} calls a passage"
    judges = sum(bool(own_readers([judge])) for judge, _ in checked.judges.values())
    if judges:
        found["judge"] = f"{judges} judge{'s' if judges > 1 else ''}, one call an answer or more"
    return found


def print_plan(page: Page, checked: Checked, every_leaf: bool) -> None:
    """Data, control's pipeline, every experiment with its arms, and the decision rule.

    Args:
        page: What to print on.
        checked: The plan.
        every_leaf: Whether all leaves of the config that an arm changes are listed.
    """
    most = calls(checked)
    page.heading(f"{checked.name}: the plan")
    page.line(page.join(("data:", "bold"), (_data(checked), "")))
    top_k = getattr(checked.pipelines[checked.plan.arms[0].name]["reranker"], "top_k", None)
    line = plans.pipeline(checked.plan.choices, top_k)
    page.line(page.join(("control:", "bold"), (line, "")))
    for remark in checked.plan.remarks:
        page.line(page.text(remark))
    for experiment in checked.plan.experiments:
        page.blank()
        _experiment(page, checked, experiment, most, every_leaf)
    page.blank()
    family = sum(contrast.kind != "placebo" for contrast in checked.plan.contrasts)
    margins = [c.margin for c in checked.plan.contrasts]
    margins += [a.margin for a in checked.plan.analyses]
    questions = len(checked.dataset.questions)
    alpha, designs = looking.level(checked.plan.control, questions), len(checked.plan.analyses)
    maxt = checked.plan.control["correction"] == "maxt"
    rule = plans.rule(alpha, margins, family, designs, "max-T" if maxt else "Holm")
    page.line(page.join(("Decided beforehand:", "bold"), (f"{rule}.", "")))
    for said in looking.in_words(checked.plan.control, questions):
        page.line(page.text(said))
    page.line(
        page.join(
            ("Reader calls:", "bold"),
            (f"at most {sum(most.values()):,} for {len(most)} arms; stored answers take none.", ""),
        )
    )
    asking = own_calls(checked)
    if asking:
        named = ", ".join(f"{stage} {most_of}" for stage, most_of in asking.items())
        page.line(page.join(("Readers of other stages:", "bold"), (f"{named}.", "")))
    spending = estimate(checked, most)
    if spending is not None:
        page.line(page.join(("Estimated:", "bold"), (in_words(spending), "")))
    judges = judging(checked, most)
    if judges is not None:
        page.line(page.join(("Judges:", "bold"), (judging_cost.in_words(judges), "")))


def _data(checked: Checked) -> str:
    dataset = checked.dataset
    answerable = sum(gold.answerable for gold in dataset.gold.values())
    questions = len(dataset.questions)
    searched = (
        f"{len(dataset.passages):,} passages"
        if dataset.passages
        else f"{len(dataset.documents):,} documents"
    )
    return (
        f"{dataset.name}, {questions:,} questions ({answerable:,} answerable, "
        f"{questions - answerable:,} unanswerable), {searched}"
    )


def _experiment(
    page: Page, checked: Checked, experiment: Experiment, most: dict[str, int], every_leaf: bool
) -> None:
    page.line(page.join((f"{experiment.name}:", "bold"), (experiment.question, "")))
    arms = {arm.name: arm for arm in checked.plan.arms}
    for contrast in checked.plan.contrasts:
        if contrast.experiment == experiment.name:
            cost = f"(at most {most[contrast.treatment]:,} reader calls)"
            page.line(page.join((plans.changed(contrast), "cyan"), (cost, "dim")), 2)
            _leaves(page, arms[contrast.treatment], every_leaf)
    for analysis in checked.plan.analyses:
        if analysis.id.split("/")[0] == experiment.name:
            own = dict.fromkeys(analysis.arms.values())
            cost = f"(at most {sum(most[arm] for arm in own):,} reader calls)"
            page.line(page.join((plans.design(analysis), "cyan"), (cost, "dim")), 2)
            for role, name in analysis.arms.items():
                page.line(page.join((f"{role}:", ""), (name, "dim")), 4)
                if every_leaf:
                    _leaves(page, arms[name], every_leaf, 6)


def _leaves(page: Page, arm: Arm, every_leaf: bool, indent: int = 4) -> None:
    changes = [leaf for leaf in arm.changes if leaf.key != arm.variable]
    shown = changes if every_leaf or len(changes) <= _FEW_LEAVES + 1 else changes[:_FEW_LEAVES]
    for leaf in shown:
        key, old, new = plans.change(leaf)
        page.line(page.text(f"{key}: {old} → {new}", "dim"), indent)
    hidden = len(changes) - len(shown)
    if hidden:
        more = f"… and {hidden} more leaves (ragablate check lists all)"
        page.line(page.text(more, "dim"), indent)


def plan_object(checked: Checked) -> dict[str, object]:
    """The plan as plain values."""
    dataset = checked.dataset
    answerable = sum(gold.answerable for gold in dataset.gold.values())
    most = calls(checked)
    return {
        "dataset": {
            "name": dataset.name,
            "questions": len(dataset.questions),
            "answerable": answerable,
        },
        "choices": {k: v for k, v in checked.plan.choices.items() if k in STAGES},
        "arms": checked.plan.arms,
        "contrasts": checked.plan.contrasts,
        "analyses": checked.plan.analyses,
        "calls": most,
        "estimate": estimate(checked, most),
        "judges_estimate": judging(checked, most),
    }
