from __future__ import annotations

from ragablate.codec import pretty
from ragablate.compare import claim_record, compare
from ragablate.records import Proof


def test_a_claim_carries_everything_it_rests_on(sheet, declare):
    contrast = declare("upstream")
    proofs = (
        Proof("INV-3", "pass", "", "equal"),
        Proof("INV-5", "pass", "", "160/160 frames equal"),
        Proof("INV-5", "warn", "warn", "one retried"),
    )
    made = sheet()
    made.add({("control", "correct"): 0, ("upstream", "correct"): 1}, times=14)
    made.add({("control", "correct"): 1, ("upstream", "correct"): 1}, times=86)
    study = made.study(contrast, proofs={contrast.id: proofs}, seed=5)
    comparison = compare(study)

    record = claim_record(
        comparison.effects[0],
        contrast,
        study,
        comparison.conclusions[0],
        hashes={"set": "ab", "contexts": "cd"},
    )

    assert record["claim_id"] == "upstream/minilm_run:correct:answerable"
    assert record["arms"] == ["control", "upstream"]
    assert (record["factor"], record["n"], record["K"]) == ("retriever", 100, 1)
    assert record["changed"] == {"up": 14, "down": 0}
    assert (record["effect"], record["state"], record["family"]) == (0.14, "up", "primary")
    assert record["ci95"]["method"] == "tango"
    assert record["invariants"] == {"INV-3": "pass", "INV-5": "warn"}
    assert (record["label"], record["limits"]) == ("causal with limits", ["one retried"])
    assert list(record["hashes"]) == ["contexts", "set"]
    assert record["seed"] == 5
    assert pretty(record)


def test_a_slice_never_claims_more_than_exploratory(sheet, declare):
    made = sheet()
    for value in ("a", "b"):
        made.add(
            {("control", "correct"): 0, ("upstream", "correct"): 1}, times=20, slices={"s": value}
        )
    study = made.study(declare("upstream"))
    comparison = compare(study)

    labels = {
        e.role: claim_record(e, study.contrasts[0], study, comparison.conclusions[0])["label"]
        for e in comparison.effects
    }

    assert labels == {"primary": "causal", "slice": "exploratory"}
