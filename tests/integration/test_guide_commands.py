"""``ragablate diagnose`` prints the guide's findings, and every experiment it names composes."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path

import acme
import pytest
from tiny_models import needs_minilm

from ragablate import session
from ragablate.bundle.read import load
from ragablate.cli import main
from ragablate.diagnose.guide.catalogue import MODES
from ragablate.diagnose.guide.commands import Commands, Control
from ragablate.elsewhere.bundle_entries import control_of

RENAMED = {"qid": "ticket", "question": "said", "searches": "sent"}


def world(folder: Path) -> tuple[Path, Path]:
    return acme.write_log(folder, *acme.ALL), acme.write_corpus(folder)


def needs_extras(mode: str) -> None:
    """Skips a mode whose experiments need an extra that is not installed, by its name."""
    pytest.importorskip("httpx")
    if mode in ("F1", "F5"):
        pytest.importorskip("sentence_transformers")
    if mode in ("F3", "F8"):
        pytest.importorskip("xllamacpp")


@pytest.mark.usefixtures("hydra")
@pytest.mark.parametrize("mode", sorted(set(MODES) - {"F9"}))
def test_every_experiment_a_finding_names_is_a_plan_that_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    needs_extras(mode)
    monkeypatch.chdir(tmp_path)
    log, corpus = world(tmp_path)
    given = Commands(str(log), corpus=str(corpus)).of(mode)
    asked_for = [line.replace("CORPUS", str(corpus)) for line in Commands(str(log)).of(mode)]
    for line in dict.fromkeys((*given, *asked_for)):
        program, verb, *overrides = shlex.split(line)
        assert (program, verb) == ("ragablate", "run")
        plan = session.check([*overrides, "quiet=true"])
        assert len(plan.pipelines) >= 2


@pytest.mark.usefixtures("hydra")
def test_the_floor_that_calibrate_writes_is_the_treatment_of_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("httpx")
    monkeypatch.chdir(tmp_path)
    log, corpus = world(tmp_path)
    calibrate, run = Commands(str(log), corpus=str(corpus)).of("F9")
    assert main(shlex.split(calibrate)[1:]) == 0
    assert "gate=calibrated_floor" in {
        change for arm in session.check(shlex.split(run)[2:]).plan.arms for change in arm.overrides
    }


@pytest.mark.usefixtures("hydra")
def test_a_map_of_fields_and_an_odd_path_come_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("httpx")
    monkeypatch.chdir(tmp_path)
    rows = [{RENAMED.get(k, k): v for k, v in row.items()} for row in acme.ALL]
    log = acme.write_log(tmp_path, *rows).rename(tmp_path / "a log, of=ours.jsonl")
    (line,) = Commands("a log, of=ours.jsonl", fields=RENAMED).of("F10")
    assert len(session.check(shlex.split(line)[2:]).dataset.questions) == len(acme.ALL)
    assert log.exists()


@pytest.mark.usefixtures("hydra")
@pytest.mark.parametrize("mode", sorted(set(MODES) - {"F9"}))
def test_over_a_bundle_an_experiment_is_on_the_pipeline_that_answered(
    toy: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: str
) -> None:
    needs_extras(mode)
    monkeypatch.chdir(tmp_path)
    own = ("dataset=jsonl", f"dataset.path={toy}", "retriever.k1=1.2", "experiment=swap_reader")
    control = Control((*own, "quiet=true"), {"retriever": "bm25", "reader": "extractive"})
    for line in Commands("bundle", control=control).of(mode):
        program, verb, *overrides = shlex.split(line)
        assert (program, verb) == ("ragablate", "run")
        assert "dataset=traces" not in overrides
        assert overrides.count("experiment=swap_reader") <= (mode in ("F10", "F11", "F12"))
        documents = [o.replace("DOCUMENTS", str(toy)) for o in overrides]
        plan = session.check([*documents, "quiet=true"])
        assert len(plan.pipelines) >= 2


def test_a_reader_with_prompts_stays_and_an_arm_brings_its_change(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ("reader=openai_chat", "reader.base_url=http://127.0.0.1:9/v1", "reader.model=small")
    control = Control(own, {"retriever": "bm25", "reader": "openai_chat"})
    (line,) = Commands("bundle", control=control).of("F10")
    assert shlex.split(line)[2:5] == list(own)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "dataset=jsonl", f"dataset.path={toy}", "experiment=swap_assembler",
                 "experiment.swap_assembler.treatments=[20]", "quiet=true"]) == 0  # fmt: skip
    (folder,) = (tmp_path / "outputs" / "toy").iterdir()
    bundle = load(folder)
    assert control_of(bundle, "control").overrides == tuple(bundle.plan["command"][2:])
    (arm,) = set(bundle.arms) - {"control"}
    assert control_of(bundle, arm).overrides[-1] == "assembler.budget_tokens=20"


def test_the_findings_follow_the_counts_with_evidence_and_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    log, corpus = world(tmp_path)
    assert main(["diagnose", str(log), "--corpus", str(corpus)]) == 0
    said = capsys.readouterr().out
    counts, guide = said.split("The field guide")
    assert "12 questions: 0 OK, 12 failed." in counts
    assert "F8: part of the evidence arrived" in guide
    assert "sso: in the context: page-212; not in it: page-1140." in guide
    printed = [line.strip() for line in guide.splitlines() if "ragablate run dataset" in line]
    assert Commands(str(log), corpus=str(corpus)).of("F8")[0] in printed
    causal = re.compile(r"\b(cause[sd]?|because|due to|owing to|responsible|led to)\b", re.I)
    assert causal.findall(said) == []


def test_json_holds_every_finding_and_csv_a_row_a_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, corpus = world(tmp_path)
    assert main(["diagnose", str(log), "--json", "--corpus", str(corpus)]) == 0
    guide = json.loads(capsys.readouterr().out)["guide"]
    assert (guide["failed"], guide["looked"]) == (12, 12)
    partial = next(one for one in guide["findings"] if one["mode"] == "F8")
    assert partial["evidence"][0]["pids"] == ["page-212", "page-1140"]
    assert main(["diagnose", str(log), "--csv", "--corpus", str(corpus)]) == 0
    rows = {r["qid"]: r for r in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert len(rows) == 12
    assert rows["sso"]["guide"].startswith("F8")
    assert "F12" in rows["order"]["modes"].split()


def test_what_cannot_be_read_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, corpus = world(tmp_path)
    vectors = tmp_path / "vectors.npy"
    vectors.write_bytes(b"no vectors")
    for options, sentence in (
        (["--corpus", str(tmp_path / "nowhere.jsonl")], "there is no file"),
        (["--corpus", str(log)], "field"),
        (["--vectors", str(vectors)], "says nothing without --corpus"),
        (["--corpus", str(corpus), "--vectors", str(vectors)], "Give a file of numpy.save"),
        (["--cut", "faithful=high"], "--cut"),
        (["--embedder", str(tmp_path / "nowhere")], "--embedder"),
    ):
        assert main(["diagnose", str(log), *options]) == 2, options
        assert sentence in capsys.readouterr().err


def test_over_a_bundle_grounding_is_what_its_judges_say(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "dataset=jsonl", f"dataset.path={toy}", "experiment=swap_reader",
                 "judge=[correct,faithfulness]", "quiet=true"]) == 0  # fmt: skip
    (bundle,) = (tmp_path / "outputs" / "toy").iterdir()
    capsys.readouterr()
    strict = ["--cut", "faithful=1.0", "--json"]
    assert main(["diagnose", str(bundle), "--corpus", str(toy), *strict]) == 0
    labels = json.loads(capsys.readouterr().out)["guide"]["labels"]
    path = bundle / "arms" / "control" / "verdicts.jsonl"
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    values = {v["qid"]: v["value"] for v in found if v["measure"] == "faithfulness"}
    for label, qids in labels.items():
        for qid in qids:
            if label.startswith("F10"):
                assert values[qid] < 1.0
            if label.startswith("grounded"):
                assert values[qid] == 1.0
    assert any(label.startswith(("F10", "grounded", "F8", "F9")) for label in labels)


@needs_minilm
def test_a_model_compares_the_sentence_and_the_passage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    question = "Which teams need the Security add-on for SSO on the Pro plan?"
    log = acme.write_log(tmp_path, {**acme.SSO, "question": question})
    acme.write_corpus(tmp_path)
    model = ["--embedder", "all-MiniLM-L6-v2", "--json"]
    assert main(["diagnose", str(log), "--corpus", str(tmp_path), *model]) == 0
    findings = json.loads(capsys.readouterr().out)["guide"]["findings"]
    (one,) = (found for found in findings if found["mode"] == "F2")
    assert one["by"] == "embeddings by all-MiniLM-L6-v2"
    scores = one["evidence"][0]["scores"]
    assert scores["sentence"] - scores["passage"] > 0.1
