"""Causes by tier, over evaluation results with gold, metrics and metadata."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import Asked, ChatServer, completion

from ragablate.cli import main
from ragablate.diagnose.tiers import Thresholds, TierReport, diagnose_tiers
from ragablate.judge.endpoint import ChatEndpoint
from ragablate.logs import Entry, LogStream, read_log

QUICK = {"retries": 0, "backoff_s": 0.0, "timeout_s": 20}
GOLD = "The deductible is 250 euros a year."


def result(number: int, ranked: list[str], **more: Any) -> dict[str, Any]:
    """One question of an evaluation, with the ids that came back."""
    return {
        "qid": f"q{number:02d}",
        "question": f"What is the deductible of plan {number}?",
        "retrieved": [{"pid": pid, "text": GOLD if pid == "g" else "Plans."} for pid in ranked],
        "prompt_pids": ranked,
        "answer": "250 euros.",
        "gold_pids": ["g"],
        **more,
    }


def written(tmp_path: Path, *rows: dict[str, Any]) -> str:
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def by_metrics(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> TierReport:
    return diagnose_tiers(LogStream(written(tmp_path, *rows)), **options)


def causes(report: TierReport) -> dict[str, str]:
    return {one.qid: one.cause for one in report.diagnoses}


TYPES = {n: "multi_hop" if n < 15 else "simple" for n in range(50)}


def fifty() -> list[dict[str, Any]]:
    """Fourteen misses, three failed calls and one answer that stops short, of fifty."""
    rows = []
    for n in range(50):
        more: dict[str, Any] = {"slices": {"type": TYPES[n]}}
        if 14 <= n < 17:
            more |= {"error": "timeout", "answer": None}
        if n == 17:
            more |= {"answer": "It depends."}
        rows.append(result(n, ["a", "b"] if n < 14 else ["g", "a"], **more))
    return rows


def said_of_fifty(asked: Asked) -> Any:
    stops = "every part of the question" in asked.prompt and "It depends." in asked.prompt
    return completion("NO" if stops else "YES")


def test_fourteen_misses_three_errors_and_one_answer_that_stops_short(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    with ChatServer(said_of_fifty) as server:
        endpoint = ChatEndpoint(server.url, "scripted", runtime=QUICK)
        entries = read_log(written(tmp_path, *fifty())).entries
        report = diagnose_tiers(entries, endpoint=endpoint)
    assert (len(report.diagnoses), report.questions) == (18, 50)
    assert report.failure_rate == 0.36
    assert list(report.breakdown.items()) == [
        ("retrieval_miss", 14), ("pipeline_error", 3), ("generation_incomplete", 1),
    ]  # fmt: skip
    assert [f"{share:.0%}" for share in report.shares.values()] == ["78%", "17%", "6%"]
    summary = report.summary()
    assert "18/50 questions fail (36%)" in summary
    assert "retrieval_miss            14  (78%)" in summary
    assert report.recommendations[0].startswith("Mend the calls that fail before anything else")
    assert report.recommendations[1].startswith("The gold does not come back")
    assert report.patterns == {"type": {"multi_hop": 15 / 15, "simple": 3 / 35}}
    assert json.loads(json.dumps(report.to_dict()))["breakdown"]["retrieval_miss"] == 14


def test_metrics_tell_an_error_an_empty_answer_a_miss_and_a_low_rank(tmp_path: Path) -> None:
    report = by_metrics(
        tmp_path,
        result(1, [], error="connection reset"),
        result(2, ["g"], answer="  "),
        result(3, ["a", "b"]),
        result(4, ["a", "b", "g"]),
        result(5, ["a", "g"]),
        result(6, ["g"]),
    )
    assert causes(report) == {
        "q01": "pipeline_error", "q02": "empty_answer", "q03": "retrieval_miss", "q04": "ranking",
    }  # fmt: skip
    evidence = {one.qid: one.evidence for one in report.diagnoses}
    assert evidence["q03"] == {"recall": 0.0, "mrr": 0.0, "missing": ["g"]}
    assert evidence["q04"] == {"recall": 1.0, "mrr": 1 / 3}
    assert {one.tier for one in report.diagnoses} == {"metrics"}


def test_thresholds_are_one_half_unless_said_otherwise(tmp_path: Path) -> None:
    halves = result(1, ["g", "x"], gold_pids=["g", "h"])
    third = result(2, ["a", "b", "g"])
    assert causes(by_metrics(tmp_path, halves, third)) == {"q02": "ranking"}
    strict = Thresholds(recall_pass=0.9, mrr_pass=0.2)
    found = by_metrics(tmp_path, halves, third, thresholds=strict)
    assert causes(found) == {"q01": "retrieval_miss"}


def test_metrics_the_log_brings_along_are_taken(tmp_path: Path) -> None:
    own = result(1, ["x"], gold_pids=[], verdicts={"recall": 0.2, "mrr": 1.0})
    low = result(2, ["x"], gold_pids=[], metrics={"recall": 1.0, "mrr": 0.25})
    none = result(3, ["x"], gold_pids=[])
    report = by_metrics(tmp_path, own, low, none)
    assert causes(report) == {"q01": "retrieval_miss", "q02": "ranking"}
    assert "1 questions have no gold" in report.notes[0]


def test_what_is_known_to_be_right_does_not_fail_and_what_is_wrong_is_not_lost(
    tmp_path: Path,
) -> None:
    rows = [result(1, ["a"]), result(2, ["g"])]
    report = by_metrics(tmp_path, *rows, right=lambda entry: entry.qid == "q01")
    assert causes(report) == {"q02": "undetermined"}


def scripted(**replies: str) -> Callable[[Asked], Any]:
    """Replies by what is asked: ``enough``, ``supported``, ``addressed``."""
    marks = {"enough": "answered in full", "supported": "every claim", "addressed": "every part of"}

    def script(asked: Asked) -> Any:
        kind = next(name for name, words in marks.items() if words in asked.prompt)
        return completion(replies.get(kind, "YES"))

    return script


@pytest.mark.parametrize(
    ("replies", "cause", "asked"),
    [
        ({"enough": "NO"}, "context_insufficient", ["answerable"]),
        ({"supported": "no."}, "generation_hallucination", ["answerable", "grounded"]),
        ({"addressed": "**NO**"}, "generation_incomplete", ["answerable", "grounded", "complete"]),
    ],
)
def test_the_judge_stops_at_the_first_failure(
    replies: dict[str, str], cause: str, asked: list[str], tmp_path: Path
) -> None:
    pytest.importorskip("aiohttp")
    entries = read_log(written(tmp_path, result(1, ["g"]), result(2, ["a"]))).entries
    with ChatServer(scripted(**replies)) as server:
        endpoint = ChatEndpoint(server.url, "scripted", runtime=QUICK)
        report = diagnose_tiers(entries, endpoint=endpoint)
        assert len(server.asked) == len(asked), "only what passes retrieval is asked about"
    assert causes(report) == {"q01": cause, "q02": "retrieval_miss"}
    (judged,) = (one for one in report.diagnoses if one.tier == "judge")
    assert list(judged.evidence["verdicts"]) == asked
    assert judged.evidence["verdicts"][asked[-1]] == "no"


def test_an_unclear_reply_is_inconclusive_and_no_failure(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    entries = read_log(written(tmp_path, result(1, ["g"]))).entries
    with ChatServer(scripted(supported="Mostly, yes")) as server:
        endpoint = ChatEndpoint(server.url, "scripted", runtime=QUICK)
        report = diagnose_tiers(entries, endpoint=endpoint)
    assert report.diagnoses == ()
    assert "Mostly, yes" in report.inconclusive["q01"]
    assert "1 inconclusive" in report.summary()


def test_an_endpoint_that_cannot_be_reached_is_inconclusive_and_no_failure(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    entries = read_log(written(tmp_path, result(1, ["g"]), result(2, ["a"]))).entries
    endpoint = ChatEndpoint(f"http://127.0.0.1:{port}/v1", "m", runtime=QUICK)
    report = diagnose_tiers(entries, endpoint=endpoint)
    assert causes(report) == {"q02": "retrieval_miss"}
    assert list(report.inconclusive) == ["q01"]


def test_a_log_of_ids_needs_the_corpus_to_be_judged(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    row = result(1, ["g"]) | {"retrieved": [{"pid": "g"}]}
    entries: tuple[Entry, ...] = read_log(written(tmp_path, row)).entries
    with ChatServer(scripted(enough="NO")) as server:
        endpoint = ChatEndpoint(server.url, "scripted", runtime=QUICK)
        bare = diagnose_tiers(entries, endpoint=endpoint)
        given = diagnose_tiers(entries, endpoint=endpoint, documents={"g": GOLD})
        assert GOLD in server.asked[-1].prompt
    assert list(bare.inconclusive) == ["q01"]
    assert causes(given) == {"q01": "context_insufficient"}


def test_metadata_that_groups_nothing_makes_no_pattern(tmp_path: Path) -> None:
    rows = [
        result(n, ["a"] if n % 2 else ["g"], slices={"lang": "de", "half": str(n % 2),
                                                     "user": f"u{n}"})
        for n in range(30)
    ]  # fmt: skip
    assert by_metrics(tmp_path, *rows).patterns == {"half": {"0": 0.0, "1": 1.0}}


def test_the_command_prints_the_tiers_and_puts_them_into_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, *fifty())
    assert main(["diagnose", path, "--tiers"]) == 0
    said = capsys.readouterr().out
    assert "17/50 questions fail (34%)" in said
    assert "Failures by type: multi_hop 100%, simple 6%" in said
    assert main(["diagnose", path, "--tiers", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tiers"]["breakdown"] == {
        "retrieval_miss": 14, "pipeline_error": 3,
    }  # fmt: skip
    assert main(["diagnose", path, "--tiers", "--judge-url", "nowhere"]) == 2
    assert "--judge-model" in capsys.readouterr().err


def test_the_command_asks_a_judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("aiohttp")
    with ChatServer(said_of_fifty) as server:
        also = ["--judge-url", server.url, "--judge-model", "scripted"]
        assert main(["diagnose", written(tmp_path, *fifty()), "--tiers", "--json", *also]) == 0
    tiers = json.loads(capsys.readouterr().out)["tiers"]
    assert (tiers["failures"], tiers["breakdown"]["generation_incomplete"]) == (18, 1)
