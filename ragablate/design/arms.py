"""From experiments to arms.

The user's label is never trusted: every arm is composed into a complete config, its
*resolved* leaves are compared with control's, and whatever moved outside what the design
declares refuses the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragablate.config import PlainConfig, compose_plain
from ragablate.design.designs import DESIGNS
from ragablate.design.drafting import CONTROL, Draft
from ragablate.design.experiments import Experiment, read_experiments
from ragablate.errors import DesignError
from ragablate.records import Analysis, Arm, Contrast

_GOLD_AS_IN = "ragablate.intervene.gold_as_in.GoldAsIn"


@dataclass(frozen=True, slots=True)
class Plan:
    """Arms, contrasts and analyses, declared before anything is scored."""

    experiments: tuple[Experiment, ...]
    """In config order."""
    arms: tuple[Arm, ...]
    """Control first; arms that several experiments ask for are there once."""
    configs: Mapping[str, PlainConfig]
    """Complete resolved config by arm name."""
    contrasts: tuple[Contrast, ...]
    """In the order of the experiments and their levels."""
    analyses: tuple[Analysis, ...]
    """Designs of several arms, in the order of the experiments."""
    choices: Mapping[str, str]
    """Control's option in every config group."""
    remarks: tuple[str, ...] = ()
    """What was decided about all arms together, in sentences for the report."""

    @property
    def control(self) -> PlainConfig:
        """Control's config."""
        return self.configs[CONTROL]

    def experiment(self, name: str) -> Experiment:
        """The experiment of that name; raises KeyError."""
        return {e.name: e for e in self.experiments}[name]


def plan(overrides: Sequence[str], config_name: str = "config") -> Plan:
    """Compose control and every arm, and check that each differs as its design declares.

    Args:
        overrides: The user's Hydra overrides, which make up control.
        config_name: Primary config.

    Raises:
        DesignError: Everything that is wrong with the plan, in one message.
    """
    draft = Draft(compose_plain(overrides, config_name), overrides)
    known = {name: keys for name, (_, keys) in DESIGNS.items()}
    experiments = read_experiments(draft.control.values, known, draft.problems)
    for experiment in experiments:
        declare, _ = DESIGNS[experiment.design]
        declare(draft, experiment)
    draft.problems.extend(_dangling(draft))
    draft.problems.extend(_declared_twice(draft))
    if draft.problems:
        raise DesignError(list(dict.fromkeys(draft.problems)))
    return Plan(
        tuple(experiments),
        tuple(draft.arms.values()),
        draft.configs,
        tuple(draft.contrasts),
        tuple(draft.analyses),
        draft.control.choices,
    )


def _dangling(draft: Draft) -> Iterator[str]:
    """Interventions that refer to contexts no arm of the plan has."""
    edited = {
        name: str(config["context"].get("arm"))
        for name, config in draft.configs.items()
        if config["context"].get("_target_") == _GOLD_AS_IN
    }
    for name, other in edited.items():
        if other not in draft.arms:
            yield (
                f"arm '{name}': context.arm is '{other}', which is no arm of this plan; it has "
                f"{', '.join(draft.arms)}"
            )
        elif other in edited:
            yield f"arm '{name}': context.arm is '{other}', which is itself edited after another"


def _declared_twice(draft: Draft) -> Iterator[str]:
    """Levels that one experiment declares twice: nothing could tell their results apart."""
    ids = [*(c.id for c in draft.contrasts), *(a.id for a in draft.analyses)]
    for name in dict.fromkeys(ids):
        if ids.count(name) > 1:
            yield f"{name} is declared twice: leave one out, or name the levels apart"
