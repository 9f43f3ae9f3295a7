"""What a verdict is reached from: one contrast, its effects, and how strongly it may speak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragablate.compare.labels import Licence
from ragablate.compare.populations import ANSWERABLE
from ragablate.compare.scores import Pairs, ScoreTable
from ragablate.compare.slices import Sliced
from ragablate.records import Contrast, Effect, State, Study


@dataclass(frozen=True, slots=True)
class Case:
    """One contrast, ready for its verdict."""

    table: ScoreTable
    """The study's scores."""
    contrast: Contrast
    """The contrast."""
    arms: tuple[str, str]
    """The two arms compared."""
    primary: Effect
    """The headline effect."""
    pairs: Pairs
    """The scores the headline rests on."""
    others: Mapping[tuple[str, str], Effect]
    """Cells and signals, by measure and population."""
    licence: Licence
    """How strongly it may speak."""
    headlines: Mapping[str, Effect] = field(default_factory=dict)
    """Primary effects of the whole study, by contrast id."""
    slices: tuple[Sliced, ...] = ()
    """The headline effect by slice."""
    refusal: str = ""
    """Why there is no number; empty where there is one."""
    missing: str = ""
    """What missing answers allow; empty where none is missing."""

    @property
    def study(self) -> Study:
        """The study the contrast belongs to."""
        return self.table.study

    def effect(self, measure: str, population: str = ANSWERABLE) -> Effect | None:
        """An effect with a number, or ``None`` where it was not measured."""
        if (measure, population) == (self.primary.measure, self.primary.population):
            found: Effect | None = self.primary
        else:
            found = self.others.get((measure, population))
        return None if found is None or found.effect is None else found

    def state(self, measure: str, population: str = ANSWERABLE) -> State:
        """The state of an effect; ``refused`` where it was not measured."""
        found = self.effect(measure, population)
        return "refused" if found is None else found.state


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a verdict table says of a case, before label and limits are put to it."""

    verdict: str
    """Short name."""
    sentences: tuple[str, ...]
    """Plain language, headline first."""
    settle: str = ""
    """What would decide what is open."""
    owner: str = ""
    """Which knobs to turn."""
    rests_on: tuple[tuple[str, str], ...] = ()
    """Measure and population of the effects used beside the headline."""
