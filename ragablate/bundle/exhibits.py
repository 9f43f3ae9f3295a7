"""What the proofs of a claim are made from, as one bundle or two hold it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from ragablate.codec import decode, plain
from ragablate.edges import changes_between
from ragablate.errors import BundleError
from ragablate.observed import Observed
from ragablate.proofs import Beside, Exhibit, Side
from ragablate.proofs.exhibit import Key
from ragablate.records import Change, Contrast, Prompt
from ragablate.traces import TraceLine

if TYPE_CHECKING:
    from ragablate.bundle.read import Bundle


class Evidence:
    """The recorded side of a bundle, put together once for all of its claims.

    Args:
        bundle: Where it comes from.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self._scores: dict[str, Mapping[str, Mapping[Key, float | None]]] = {}

    def exhibit(self, contrast: Contrast, may_change_nothing: bool = False) -> Exhibit:
        """A contrast of two arms of this bundle."""
        arms = self.bundle.arms
        return Exhibit(
            contrast,
            self.side(contrast, contrast.control),
            self.side(contrast, contrast.treatment),
            self.bundle.contexts,
            changes_between(arms[contrast.control], arms[contrast.treatment]),
            self.beside(contrast),
            may_change_nothing,
            frame=self.frame,
        )

    def side(self, contrast: Contrast, arm: str) -> Side:
        """One arm with all that was recorded of it."""
        return Side(
            self.bundle.arms[arm],
            self._traces[arm],
            self.bundle.questions,
            self.bundle.corpus_of(arm),
            self.bundle.plan.get("judges", {}),
            self._measured(contrast.measure).get(arm, {}),
            self.observed,
        )

    def beside(self, contrast: Contrast) -> Beside:
        """What else the plan holds that bears on a contrast."""
        probe = next((c.treatment for c in self.bundle.contrasts if c.kind == "placebo"), None)
        return Beside(
            self._traces,
            self._measured(contrast.measure),
            self.bundle.arms[probe] if probe else None,
            self._closed_book,
            str(self.bundle.plan.get("plan_digest", "")),
            int(self.bundle.plan.get("replicates", 1)),
            contrast.measure in self.bundle.plan.get("judged_late", ()),
            str(self.bundle.plan["arms"][0]["corpus"]["digest"]),
        )

    @cached_property
    def observed(self) -> Observed | None:
        """What the execution watched itself doing; ``None`` in a bundle that does not say."""
        found = self.bundle.plan.get("observed")
        try:
            return None if found is None else msgspec.convert(found, Observed)
        except msgspec.ValidationError as error:
            raise BundleError(
                f"{self.bundle.folder / 'plan.json'}: observed does not hold what it should: "
                f"{error}"
            ) from error

    def leaves(self, arm: str) -> dict[str, Any]:
        """Every leaf of an arm's resolved stages."""
        # Only two executions need it, and composing configs takes longer than reading a bundle.
        from ragablate.config import STAGES, flatten

        config = {k: v for k, v in self.bundle.plan["config"].items() if k in STAGES}
        found = flatten(config)
        for change in self.bundle.arms[arm].changes:
            found[change.key] = change.treatment
        return {key: value for key, value in found.items() if value is not None}

    def frame(self, digest: str) -> str:
        """A prompt outside its evidence; empty where the bundle does not hold it."""
        for row in self._prompts():
            if row.get("digest") == digest:
                prompt = msgspec.convert({k: v for k, v in row.items() if k != "digest"}, Prompt)
                return "".join(s.text if not s.pid else "" for s in prompt.segments)
        return ""

    def _prompts(self) -> Iterator[dict[str, Any]]:
        path = self.bundle.folder / "prompts.jsonl"
        if path.is_file():
            with path.open("rb") as lines:
                for line in lines:
                    yield decode(line, dict)

    @cached_property
    def _traces(self) -> dict[str, dict[Key, TraceLine]]:
        return {
            arm: {(t.qid, t.replicate): t for t in traces}
            for arm, traces in self.bundle.traces.items()
        }

    @cached_property
    def _closed_book(self) -> tuple[str, str] | None:
        for contrast in self.bundle.contrasts:
            if contrast.kind == "closed_book":
                return contrast.control, contrast.treatment
        for analysis in self.bundle.analyses:
            if "N" in analysis.arms:
                return analysis.arms["B"], analysis.arms["N"]
        return None

    def _measured(self, measure: str) -> Mapping[str, Mapping[Key, float | None]]:
        if measure not in self._scores:
            self._scores[measure] = {
                arm: {(v.qid, v.replicate): v.value for v in verdicts if v.measure == measure}
                for arm, verdicts in self.bundle.verdicts.items()
            }
        return self._scores[measure]


def across(contrast: Contrast, before: Bundle, after: Bundle) -> Exhibit:
    """A contrast of two arms that were run in different executions.

    Args:
        contrast: Its control is an arm of the first bundle, its treatment one of the second.
        before: Holds control.
        after: Holds the treatment.
    """
    old, new = Evidence(before), Evidence(after)
    left, right = old.leaves(contrast.control), new.leaves(contrast.treatment)
    changes = tuple(
        Change(key, plain(left.get(key)), plain(right.get(key)))
        for key in sorted(left.keys() | right.keys())
        if left.get(key) != right.get(key)
    )
    return Exhibit(
        contrast,
        old.side(contrast, contrast.control),
        new.side(contrast, contrast.treatment),
        {**before.contexts, **after.contexts},
        changes,
        Beside(decodes=int(after.plan.get("replicates", 1))),
        elsewhere=True,
    )
