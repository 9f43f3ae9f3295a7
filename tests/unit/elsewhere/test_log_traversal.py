"""Following the evidence through a production log: every way out, and what the user suffers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragablate.cli import main

REFUSAL = "Not covered by the provided documents."
GOLD = "handbook:9a17:2"
OTHER = "handbook:9a17:1"


def incident(qid: str, retrieved: list[str], shown: list[str] | None, answer: str, **more: Any):
    """One request as a production log keeps it."""
    row = {
        "query_id": qid,
        "query": "How many weeks of parental leave are there?",
        "retrieved": [{"pid": p, "score": 0.9 - n / 10, "section": "Leave"}
                      for n, p in enumerate(retrieved)],
        "answer": answer,
        "model": "m-8b",
        "prompt_version": "2026-03-01",
        "gold_pids": [GOLD],
        "timestamp": "2026-03-02T09:00:00Z",
        **more,
    }  # fmt: skip
    return row if shown is None else {**row, "prompt_pids": shown}


def diagnosed(tmp_path: Path, capsys: Any, *rows: dict[str, Any], also: tuple[str, ...] = ()):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["diagnose", str(path), "--json", *also]) == 0
    return json.loads(capsys.readouterr().out)["diagnosis"]


def test_the_handbook_passage_was_retrieved_and_then_evicted(tmp_path: Path, capsys: Any) -> None:
    row = incident("q1", [OTHER, GOLD], [OTHER], "20 weeks.")
    assert diagnosed(tmp_path, capsys, row)["buckets"] == {"q1": "assembly"}


def test_a_batch_of_four_comes_to_four_places(tmp_path: Path, capsys: Any) -> None:
    found = diagnosed(
        tmp_path, capsys,
        incident("lost", [OTHER], [OTHER], "20 weeks [1]."),
        incident("evicted", [OTHER, GOLD], [OTHER], "20 weeks [1]."),
        incident("refused", [GOLD], [GOLD], REFUSAL),
        incident("clean", [GOLD], [GOLD], "14 weeks [1]."),
    )  # fmt: skip
    assert found["buckets"] == {
        "lost": "retrieval",
        "evicted": "assembly",
        "refused": "generation: refusal",
        "clean": "answered from its context",
    }
    assert [len(one["qids"]) for one in found["failures"]] == [1, 1, 1, 1]


WAYS_OUT = {
    "eval gap": incident("q", [OTHER], [OTHER], "14.", gold_pids=[]),
    "retrieval": incident("q", [OTHER], [OTHER], "Fourteen."),
    "gate": incident("q", [GOLD], [], REFUSAL, gate="refuse"),
    "assembly": incident("q", [GOLD, OTHER], [OTHER], REFUSAL),
    "retrieval or assembly": incident("q", [OTHER], None, "Fourteen."),
    "assembly or generation": incident("q", [GOLD], None, "Fourteen."),
    "generation: refusal": incident("q", [GOLD], [GOLD], REFUSAL),
    "generation: empty answer": incident("q", [GOLD], [GOLD], " "),
    "generation: bad citation": incident("q", [GOLD, OTHER], [GOLD, OTHER], "14 weeks [3]."),
    "generation: figure without a marker": incident("q", [GOLD], [GOLD], "It is 14 weeks."),
    "generation: unsupported number": incident(
        "q", [GOLD], [GOLD], "20 weeks [1].", verdicts={"numbers_supported": 0, "correct": 0}
    ),
    "generation: unsupported claim": incident(
        "q", [GOLD], [GOLD], "For mothers [1].", verdicts={"faithfulness": 0.79, "correct": 0}
    ),
    "pipeline error": incident("q", [], [], "", error="timeout"),
    "fabrication": incident("q", [OTHER], [OTHER], "14 [1].", answerable=False, gold_pids=[]),
}


@pytest.mark.parametrize("bucket", WAYS_OUT)
def test_every_way_out_of_the_traversal(bucket: str, tmp_path: Path, capsys: Any) -> None:
    assert diagnosed(tmp_path, capsys, WAYS_OUT[bucket])["buckets"] == {"q": bucket}


def test_any_of_several_gold_passages_counts_as_arrived(tmp_path: Path, capsys: Any) -> None:
    both = {"gold_pids": [GOLD, "handbook:77:1"], "verdicts": {"correct": 0}}
    row = incident("q", [GOLD], [GOLD], "For mothers [1].", **both)
    found = diagnosed(tmp_path, capsys, row)
    assert found["buckets"] == {"q": "source-or-label"}
    assert found["partial"] == 1
    assert any("only part of their gold" in note for note in found["notes"])


def test_where_support_is_judged_it_is_asked_first(tmp_path: Path, capsys: Any) -> None:
    wrong = {"correct": 0, "faithfulness": 1.0}
    found = diagnosed(
        tmp_path, capsys,
        incident("supported", [OTHER], [OTHER], "20 weeks.", verdicts=wrong),
        incident("not", [OTHER], [OTHER], "20 weeks.", verdicts={**wrong, "faithfulness": 0.2}),
        incident("declined", [OTHER], [OTHER], REFUSAL, verdicts=wrong),
    )  # fmt: skip
    assert found["buckets"] == {
        "supported": "source-or-label",
        "not": "retrieval",
        "declined": "retrieval",
    }
    again = diagnosed(
        tmp_path, capsys, incident("q", [OTHER], [OTHER], "20.", verdicts={**wrong, "supported": 1,
                                                                          "faithfulness": 0.7}),
        also=("--supported", "0.6"),
    )  # fmt: skip
    assert again["buckets"] == {"q": "source-or-label"}


def test_an_answer_nobody_judged_is_neither_ok_nor_failed(tmp_path: Path, capsys: Any) -> None:
    found = diagnosed(
        tmp_path, capsys,
        incident("right", [GOLD], [GOLD], "14 [1].", verdicts={"correct": 1}),
        incident("wrong", [OTHER], [OTHER], "20 [1].", verdicts={"correct": 0}),
        incident("open", [OTHER], [OTHER], "20 [1]."),
    )  # fmt: skip
    assert (found["questions"], found["ok"], found["unknown"]) == (3, 1, 1)
    assert [one["qids"] for one in found["failures"]] == [["wrong"]]
    assert any("1 answers were not judged" in note for note in found["notes"])


def test_severity_is_what_the_user_suffers_not_how_often(tmp_path: Path, capsys: Any) -> None:
    wrong = {"verdicts": {"correct": 0}}
    served = [incident(f"s{n}", [OTHER], [OTHER], "20 weeks.", **wrong) for n in range(1)]
    missing = [incident(f"m{n}", [OTHER], [OTHER], REFUSAL, **wrong) for n in range(3)]
    unmarked = incident("f", [GOLD], [GOLD], "It is 14 weeks.")
    (lost,) = diagnosed(tmp_path, capsys, *served, *missing)["failures"]
    assert (lost["severity"], lost["severities"]) == ("critical", {"critical": 1, "high": 3})
    (usable,) = diagnosed(tmp_path, capsys, unmarked)["failures"]
    assert usable["severity"] == "medium"
    cited = incident("c", [GOLD], [GOLD], "14 weeks [7].")
    assert diagnosed(tmp_path, capsys, cited)["failures"][0]["severity"] == "critical"


@pytest.mark.parametrize(
    ("answer", "markers", "bucket"),
    [
        ("14 weeks [page 212].", (), "answered from its context"),
        ("14 weeks [handbook:9a17:2].", (), "answered from its context"),
        ("14 weeks [handbook:9a17:9].", (), "generation: bad citation"),
        ("14 weeks (source 1).", ("(source {n})",), "answered from its context"),
        ("14 weeks (source 4).", ("(source {n})",), "generation: bad citation"),
        ("14 weeks [1].", ("(source {n})",), "generation: figure without a marker"),
        ("14 weeks {handbook:9a17:2}.", ("{{pid}}",), "answered from its context"),
        ("14 weeks <p. 3>.", ("<p. {page}>", "[{n}]"), "answered from its context"),
        ("14 weeks.", ("none",), "answered from its context"),
    ],
)
def test_a_log_may_cite_in_its_own_way(
    answer: str, markers: tuple[str, ...], bucket: str, tmp_path: Path, capsys: Any
) -> None:
    also = tuple(part for marker in markers for part in ("--marker", marker))
    row = incident("q", [GOLD, OTHER], [GOLD], answer)
    assert diagnosed(tmp_path, capsys, row, also=also)["buckets"] == {"q": bucket}


def test_a_file_says_how_a_foreign_log_is_read(tmp_path: Path, capsys: Any) -> None:
    how = tmp_path / "ours.yaml"
    how.write_text(
        "fields: {qid: ticket, answer: msg.bot, verdict: label}\n"
        "phrases: [das steht nicht im handbuch]\nmarkers: ['<{n}>']\n",
        encoding="utf-8",
    )
    rows = [
        {"ticket": 1, "query": "Wie lange?", "retrieved": [{"id": GOLD}], "prompt_pids": [GOLD],
         "msg": {"bot": "Das steht nicht im Handbuch."}, "gold_pids": [GOLD], "label": "fail"},
        {"ticket": 2, "query": "Wie lange?", "retrieved": [{"id": GOLD}], "prompt_pids": [GOLD],
         "msg": {"bot": "14 Wochen <2>."}, "gold_pids": [GOLD], "label": "fail"},
    ]  # fmt: skip
    found = diagnosed(tmp_path, capsys, *rows, also=("--settings", str(how)))
    assert found["buckets"] == {"1": "generation: refusal", "2": "generation: bad citation"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fields: [1]", "ours.yaml"),
        ("phrase: x", "sets phrase, which is no setting"),
        ("supported: 3\nmarkers: ['[n]']\nformat: mine", "supported is 3"),
        ("a: [", "is no YAML"),
        ("- a", "holds no settings"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_one_go(
    text: str, said: str, tmp_path: Path, capsys: Any
) -> None:
    how = tmp_path / "ours.yaml"
    how.write_text(text, encoding="utf-8")
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(incident("q", [GOLD], [GOLD], "14.")) + "\n", encoding="utf-8")
    assert main(["diagnose", str(log), "--settings", str(how)]) == 2
    error = capsys.readouterr().err
    assert said in error
    if "supported" in text:
        assert "marker '[n]'" in error
        assert "format is 'mine'" in error


def test_a_log_that_never_cites_is_told_of_it(tmp_path: Path, capsys: Any) -> None:
    found = diagnosed(tmp_path, capsys, incident("q", [GOLD], [GOLD], "It is 14 weeks."))
    assert any("--marker none" in note for note in found["notes"])
