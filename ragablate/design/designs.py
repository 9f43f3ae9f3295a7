"""The designs an experiment can have: which arms each needs, and what it declares.

``contrast``  control and one variable
``placebo``   control again, past the store
``ladder``    interventions on control's context, each one step from the last
``factorial`` every combination of two to five variables
``mediation`` a swapped stage, and the two edited contexts that split its effect
``attribution`` from one complete pipeline to another, over the stages that differ
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import permutations, product

from ragablate.config import PlainConfig
from ragablate.design.attribution import attribution
from ragablate.design.declaring import MOST_FACTORS, MOST_ON_REQUEST, declare, too_many
from ragablate.design.drafting import CONTROL, PLACEBO, UNGATED, Draft
from ragablate.design.experiments import Experiment
from ragablate.design.levels import Level, inside, literal, read_levels, variable_fits
from ragablate.edges import STAGE_KINDS, UNRETRIEVED
from ragablate.records import Arm, Contrast, ContrastKind, Factor

_CONTEXT_KINDS: Mapping[str, ContrastKind] = {
    "ragablate.intervene.oracle.Oracle": "oracle",
    "ragablate.intervene.closed_book.ClosedBook": "closed_book",
    "ragablate.intervene.without_gold.WithoutGold": "necessity",
}
_NO_GATE = "ragablate.gate.none.NoGate"


def contrast(draft: Draft, experiment: Experiment) -> None:
    """Control against every treatment level of one variable."""
    variable = _one_variable(draft, experiment)
    if not variable:
        return
    treatments = experiment.details.get("treatments")
    for level in read_levels(experiment.where, variable, treatments, draft.problems):
        arm = draft.arm(experiment.where, {variable: level})
        if arm:
            kind = kind_of(variable, draft.configs[arm])
            draft.contrasts.append(_contrast(draft, experiment, variable, level.name, arm, kind))
            if kind == "oracle":
                _without_gate(draft, experiment)


def _without_gate(draft: Draft, experiment: Experiment) -> None:
    """An oracle overrides a gate, so what the gate loses by itself is measured beside it."""
    gated = draft.control.values["gate"].get("_target_") != _NO_GATE
    if gated and not any(c.variable == "gate" and c.level == "none" for c in draft.contrasts):
        arm = draft.arm(experiment.where, {"gate": Level("none", UNGATED)})
        draft.contrasts.append(_contrast(draft, experiment, "gate", "none", arm, "gate"))


def placebo(draft: Draft, experiment: Experiment) -> None:
    """Control asked again with another replicate number."""
    asked = experiment.questions
    if asked is not None and (not isinstance(asked, int) or asked < 1):
        draft.problems.append(
            f"{experiment.where}: questions must be a positive number or null, not {asked!r}"
        )
        return
    draft.keep(Arm(PLACEBO), draft.control.values)
    draft.contrasts.append(_contrast(draft, experiment, "", PLACEBO, PLACEBO, "placebo"))


def ladder(draft: Draft, experiment: Experiment) -> None:
    """Control, then its context repaired step by step, down to the oracle context."""
    if not variable_fits(experiment.where, "context", draft.control.values, draft.problems):
        return
    gold = "context=with_gold"
    rungs = {
        "A": Level("with_evicted_gold", (gold, "context.supply=evicted")),
        "D": Level("with_gold", (gold, "context.supply=all")),
        "S": Level("with_gold_first", (gold, "context.supply=all", "context.position=first")),
        "O": Level("oracle", ("context=oracle",)),
        "N": Level("closed_book", ("context=closed_book",)),
    }
    averaged = experiment.details.get("both_orders", False)
    if not isinstance(averaged, bool):
        draft.problems.append(
            f"{experiment.where}: both_orders must be true or false, not {averaged!r}"
        )
        return
    if averaged:
        unretrieved = (gold, "context.supply=unretrieved")
        rungs[UNRETRIEVED] = Level("with_unretrieved_gold", unretrieved)
    arms = {"B": CONTROL}
    ungated: dict[str, Level] = {}
    if draft.control.values["gate"].get("_target_") != _NO_GATE:
        ungated = {"gate": Level("none", UNGATED)}
        arms["B'"] = draft.arm(experiment.where, ungated)
    for role, level in rungs.items():
        arms[role] = draft.arm(experiment.where, ungated, context=level)
    declare(draft, experiment, "ladder", arms)


def factorial(draft: Draft, experiment: Experiment) -> None:
    """Every combination of two to four variables, five on request, at one level each."""
    named = experiment.details.get("variables")
    if not isinstance(named, Mapping) or len(named) < 2:
        draft.problems.append(
            f"{experiment.where} needs variables, a mapping of at least two of them to a level: "
            "variables: {retriever: minilm_run, reader: extractive_wide}"
        )
        return
    most = MOST_ON_REQUEST if experiment.details.get("allow_five") else MOST_FACTORS
    if len(named) > most:
        draft.problems.append(too_many(experiment, len(named)))
        return
    nested = [(a, b) for a, b in permutations(map(str, named), 2) if inside(a, b)]
    if nested:
        draft.problems.append(
            f"{experiment.where}: {nested[0][0]} is part of {nested[0][1]}, so they are not two "
            "variables; set both in one level of the larger"
        )
        return
    levels: dict[str, Level] = {}
    for variable, value in named.items():
        if not variable_fits(experiment.where, variable, draft.control.values, draft.problems):
            return
        read = read_levels(experiment.where, variable, [value], draft.problems)
        if len(read) != 1:
            return
        levels[variable] = read[0]
    arms = {}
    for cell in product("01", repeat=len(levels)):
        changed = {v: lv for bit, (v, lv) in zip(cell, levels.items(), strict=True) if bit == "1"}
        arms["".join(cell)] = draft.arm(experiment.where, changed) if changed else CONTROL
    factors = [Factor(v, draft.control_level(v), level.name) for v, level in levels.items()]
    declare(draft, experiment, "factorial", arms, factors)


def mediation(draft: Draft, experiment: Experiment) -> None:
    """A swapped upstream stage, and both contexts with the other's gold status."""
    variable = _one_variable(draft, experiment)
    if not variable:
        return
    refusal = _no_paths(draft, variable)
    if refusal:
        draft.problems.append(f"{experiment.where}: {refusal}")
        return
    treatments = experiment.details.get("treatments")
    for level in read_levels(experiment.where, variable, treatments, draft.problems):
        treated = draft.arm(experiment.where, {variable: level})
        if not treated:
            continue
        as_in = ("context=gold_as_in",)
        c01 = Level(f"gold_as_in({treated})", (*as_in, f"context.arm={literal(treated)}"))
        c10 = Level("gold_as_in(control)", (*as_in, f"context.arm={CONTROL}"))
        arms = {
            "B": CONTROL,
            "R": treated,
            "c01": draft.arm(experiment.where, {"context": c01}),
            "c10": draft.arm(experiment.where, {variable: level}, c10),
        }
        factor = Factor(variable, draft.control_level(variable), level.name)
        declare(draft, experiment, "mediation", arms, [factor])


def _no_paths(draft: Draft, variable: str) -> str:
    """Why the effect of a variable cannot be split by path; empty where it can."""
    stage = variable.split(".")[0]
    if STAGE_KINDS[stage] not in ("upstream", "assembler"):
        return (
            f"'{variable}' is not upstream of the context, so its effect has no evidence path to "
            "split off"
        )
    if stage == "chunker":
        return (
            "another chunker cuts other passages, so the gold of one arm's context is none of "
            "the other's; swap it in a contrast of its own"
        )
    if draft.control.values["gate"].get("_target_") != _NO_GATE:
        return (
            "an edited context overrides the gate, whose effect would then be on both paths; add "
            "gate=none"
        )
    return ""


Design = Callable[[Draft, Experiment], None]

DESIGNS: Mapping[str, tuple[Design, Collection[str]]] = {
    "contrast": (contrast, {"variable", "treatments"}),
    "placebo": (placebo, {"questions"}),
    "ladder": (ladder, {"both_orders"}),
    "factorial": (factorial, {"variables", "allow_five"}),
    "mediation": (mediation, {"variable", "treatments"}),
    "attribution": (attribution, {"from", "to", "order", "allow_five"}),
}
"""By name: what declares its arms, and the keys of an experiment it understands."""


def kind_of(variable: str, config: PlainConfig) -> ContrastKind:
    """What a change of a variable intervenes on, given the treated config."""
    stage = variable.split(".")[0]
    if stage == "context":
        return _CONTEXT_KINDS.get(str(config["context"].get("_target_")), "context")
    return STAGE_KINDS[stage]


def _one_variable(draft: Draft, experiment: Experiment) -> str:
    variable = experiment.details.get("variable")
    if isinstance(variable, list):
        draft.problems.append(
            f"{experiment.where} names {len(variable)} variables "
            f"({', '.join(map(str, variable))}); one experiment changes one: make it several "
            "experiments of one plan, or a design of several (factorial, attribution)"
        )
        return ""
    if not isinstance(variable, str) or not variable:
        draft.problems.append(
            f"{experiment.where} names no variable: a config group or one leaf of it"
        )
        return ""
    fits = variable_fits(experiment.where, variable, draft.control.values, draft.problems)
    return variable if fits else ""


def _contrast(
    draft: Draft, experiment: Experiment, variable: str, level: str, arm: str, kind: ContrastKind
) -> Contrast:
    return Contrast(
        id=f"{experiment.name}/{level}",
        experiment=experiment.name,
        question=experiment.question,
        kind=kind,
        variable=variable,
        level=level,
        control=CONTROL,
        treatment=arm,
        measure=experiment.measure,
        margin=experiment.margin,
        control_level=draft.control_level(variable),
    )
