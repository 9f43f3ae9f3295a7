"""The declared contrasts as one family: every p-value in the light of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ragablate.compare.effects import Draft
from ragablate.compare.inference.multiplicity import holm
from ragablate.compare.inference.stepdown import max_t
from ragablate.compare.populations import clusters
from ragablate.records import Study


@dataclass(frozen=True, slots=True)
class Family:
    """Contrasts that share one adjustment."""

    members: Mapping[str, Draft | None]
    """By contrast id, its test; ``None`` where it was refused, which counts as p = 1."""
    study: Study
    """Says how the family is adjusted."""

    def adjusted(self, contrast: str, draft: Draft) -> float:
        """The p-value of a draft put in the place of its contrast within the family.

        A contrast outside the family, such as a placebo, keeps its own.
        """
        if contrast not in self.members:
            return draft.flip.p
        drafts = {**self.members, contrast: draft}
        if self.study.correction == "maxt":
            return self._max_t(drafts)[contrast]
        ps = [1.0 if d is None else d.flip.p for d in drafts.values()]
        return dict(zip(drafts, holm(ps), strict=True))[contrast]

    def _max_t(self, drafts: Mapping[str, Draft | None]) -> dict[str, float]:
        """Joint sign flips over all questions of the family.

        A question that a contrast has no complete pair of adds nothing to it, whatever its
        sign. A family of one keeps its exact p.
        """
        known = {name: d for name, d in drafts.items() if d is not None}
        if len(known) == 1:
            return {name: d.flip.p for name, d in known.items()}
        qids = sorted({qid for d in known.values() for qid in d.sample.pairs.qids})
        place = {qid: row for row, qid in enumerate(qids)}
        table = np.zeros((len(qids), len(known)))
        for column, d in enumerate(known.values()):
            rows = [place[qid] for qid in d.sample.pairs.qids]
            table[rows, column] = d.sample.pairs.differences
        found = max_t(table, clusters=clusters(self.study, qids), seed=self.study.seed)
        return dict(zip(known, map(float, found), strict=True))
