from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from ragablate.records import Contrast, ContrastKind, Measure, Proof, Study

STAGES = {
    "evidence_retrieved": "retrieve",
    "recall@10": "retrieve",
    "evidence_in_context": "assemble",
    "faithfulness": "read",
    "abstained": "read",
    "correct": "read",
    "token_f1": "read",
}

VARIABLES: dict[ContrastKind, str] = {
    "oracle": "context",
    "closed_book": "context",
    "necessity": "context",
    "context": "context",
    "upstream": "retriever",
    "assembler": "assembler",
    "gate": "gate",
    "reader": "reader",
    "placebo": "",
}

LEVELS: dict[ContrastKind, tuple[str, str]] = {
    "oracle": ("actual", "oracle"),
    "closed_book": ("actual", "closed_book"),
    "necessity": ("actual", "without_gold"),
    "context": ("actual", "with_gold"),
    "upstream": ("bm25", "minilm_run"),
    "assembler": ("ranked", "sides"),
    "gate": ("floor", "none"),
    "reader": ("extractive", "extractive_strict"),
    "placebo": ("", ""),
}

PASSED = (Proof("INV-3", "pass", "", "reader equal"),)


def contrast(kind: ContrastKind, margin: float = 0.05, **fields: str) -> Contrast:
    """A contrast of the given kind; its treatment arm is called like the kind."""
    old, new = LEVELS[kind]
    given = {
        "id": f"{kind}/{new or 'again'}",
        "experiment": kind,
        "question": "?",
        "variable": VARIABLES[kind],
        "level": new,
        "control": "control",
        "treatment": kind,
        "measure": "correct",
        "control_level": old,
        **fields,
    }
    return Contrast(kind=kind, margin=margin, **given)


@dataclass
class Sheet:
    """A study written down by hand: one column an arm and measure, one row a question."""

    qids: list[str] = field(default_factory=list)
    answerable: dict[str, bool] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)
    slices: dict[str, dict[str, str]] = field(default_factory=dict)
    scores: dict[str, dict[str, dict[str, tuple[float | None, ...]]]] = field(default_factory=dict)
    errors: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(
        self,
        columns: Mapping[tuple[str, str], float | Sequence[float | None] | None],
        times: int = 1,
        answerable: bool = True,
        cluster: str = "",
        slices: Mapping[str, str] | None = None,
    ) -> Sheet:
        """Add equal questions: ``{(arm, measure): value or one value a replicate}``."""
        for _ in range(times):
            qid = f"q{len(self.qids):04d}"
            self.qids.append(qid)
            self.answerable[qid] = answerable
            self.slices[qid] = dict(slices or {})
            if cluster:
                self.clusters[qid] = cluster
            for (arm, measure), value in columns.items():
                values = tuple(value) if isinstance(value, Sequence) else (value,)
                self.scores.setdefault(arm, {}).setdefault(measure, {})[qid] = values
        return self

    def study(self, *contrasts: Contrast, **changes: object) -> Study:
        """The study; every contrast has one passed proof unless ``proofs`` says otherwise."""
        measures = sorted({m for arm in self.scores.values() for m in arm})
        fields: dict[str, object] = {
            "qids": tuple(self.qids),
            "answerable": self.answerable,
            "eval_gaps": frozenset(),
            "clusters": self.clusters,
            "slices": self.slices,
            "measures": {
                m: Measure(m, STAGES[m], m, None if m == "abstained" else True) for m in measures
            },
            "scores": self.scores,
            "errors": self.errors,
            "contrasts": contrasts,
            "proofs": {c.id: PASSED for c in contrasts},
            "arms": {arm: arm for arm in self.scores},
            "reader": "extractive (7f3a)",
            "top_k": 10,
            **changes,
        }
        return Study(**fields)


@pytest.fixture(scope="session")
def sheet():
    """A fresh, empty sheet at every call."""
    return Sheet


@pytest.fixture(scope="session")
def declare():
    """Makes a contrast of a kind."""
    return contrast
