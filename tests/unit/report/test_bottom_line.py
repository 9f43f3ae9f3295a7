"""The last word: what was shown, what is open, where to look next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ragablate.bundle.read import Bundle
from ragablate.records import Comparison
from ragablate.report.bottom_line import bottom_line
from ragablate.report.findings import Finding, findings

Study = tuple[Bundle, Comparison]


def _concluded(finding: Finding, **changes: object) -> Finding:
    return replace(finding, conclusion=replace(finding.conclusion, **changes))  # type: ignore[arg-type]


def test_nothing_but_a_causal_claim_is_shown(study: Study) -> None:
    (first, *_) = findings(*study)
    causal = _concluded(first, label="causal", verdict="reader improved", owner="the reader")
    said = bottom_line([causal])
    assert said[0].startswith(f"Shown: reader improved ({first.name}")
    assert said[-1] == "Look next at: the reader."
    confounded = _concluded(causal, label="confounded")
    assert bottom_line([confounded]) == (f"No causal claim: {first.name} is confounded.",)


def test_what_is_open_says_what_would_settle_it(
    study: Study, add_ladder: Callable[..., Study]
) -> None:
    ladder = findings(*add_ladder(study))[-1]
    undecided = _concluded(
        ladder,
        label="causal",
        verdict="not enough evidence",
        settle="about 300 questions",
        owner="",
    )
    (said,) = bottom_line([undecided])
    assert said.startswith("Not decided: localize (")
    assert said.endswith("which needs about 300 questions.")


def test_a_verdict_that_two_experiments_reach_is_said_once_and_by_the_ladder(
    study: Study, add_ladder: Callable[..., Study]
) -> None:
    found = [
        _concluded(f, label="causal", verdict="reader is the bottleneck", owner="the reader")
        for f in findings(*add_ladder(study))
    ]
    said = bottom_line([found[-1], *found[-1:]])
    assert said[0] == "Shown: reader is the bottleneck (localize)."
    assert said[1:] == ("Look next at: the reader.",)
