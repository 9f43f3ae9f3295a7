"""A bundle proves itself, and what was changed in it is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests_support import write_dataset

import ragablate
from ragablate.bundle import manifest
from ragablate.bundle.write import arm_folder
from ragablate.errors import BundleError


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    data = write_dataset(folder / "toy")
    outcome = ragablate.run(
        "dataset=jsonl",
        f"dataset.path={data}",
        f"outputs={folder / 'outputs'}",
        "experiment=[oracle_context,closed_book,swap_reader,localize]",
    )
    return outcome.folder


@pytest.fixture
def bundle(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "copied-elsewhere"))


def reseal(bundle: Path) -> None:
    """Make the hashes fit again, as somebody who wants to deceive would."""
    (bundle / manifest.NAME).write_text(manifest.render(manifest.files(bundle)))


def test_an_untouched_bundle_holds_wherever_it_was_copied(bundle: Path) -> None:
    found = ragablate.verify(bundle)
    assert found.wrong == ""
    assert found.files > 15
    assert found.numbers > 500


KINDS = [
    "plan.json", "effects.json", "questions.jsonl", "contexts.jsonl", "prompts.jsonl",
    "report.md", "diagnosis.json", ".hydra/config.yaml", "arms/control/traces.jsonl",
    "arms/control/verdicts.jsonl", "arms/control/run.trec",
]  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_one_flipped_byte_in_any_file_is_named(bundle: Path, name: str) -> None:
    data = bytearray((bundle / name).read_bytes())
    data[len(data) // 2] ^= 1
    (bundle / name).write_bytes(bytes(data))
    assert ragablate.verify(bundle).wrong.startswith(f"{name} was changed")


def test_a_missing_and_an_added_file_are_named(bundle: Path) -> None:
    (bundle / "extra.txt").touch()
    assert "extra.txt is not listed" in ragablate.verify(bundle).wrong
    (bundle / "extra.txt").unlink()
    (bundle / "report.md").unlink()
    assert "report.md is listed in the MANIFEST and missing" in ragablate.verify(bundle).wrong


def test_a_changed_number_is_found_although_the_hashes_fit(bundle: Path) -> None:
    path = bundle / "effects.json"
    effects = json.loads(path.read_text())
    effects["effects"][0]["effect"] += 0.01
    path.write_text(json.dumps(effects))
    reseal(bundle)
    wrong = ragablate.verify(bundle).wrong
    assert effects["effects"][0]["id"] in wrong
    assert "effect is" in wrong


def test_a_changed_verdict_is_found_although_the_hashes_fit(bundle: Path) -> None:
    path = bundle / "arms" / "context=oracle" / "verdicts.jsonl"
    lines = path.read_text().splitlines()
    place = next(i for i, line in enumerate(lines) if '"measure":"correct"' in line)
    verdict = json.loads(lines[place])
    verdict["value"] = 1.0 - verdict["value"]
    lines[place] = json.dumps(verdict)
    path.write_text("\n".join(lines) + "\n")
    reseal(bundle)
    assert ragablate.verify(bundle).wrong.startswith("effects.json.")


def test_a_changed_context_is_found_although_the_hashes_fit(bundle: Path) -> None:
    path = bundle / "contexts.jsonl"
    path.write_text(path.read_text().replace("1931", "1932"))
    reseal(bundle)
    assert "does not have that digest" in ragablate.verify(bundle).wrong


def test_a_changed_proof_is_found_although_the_hashes_fit(bundle: Path) -> None:
    path = bundle / "arms" / "reader=extractive_wide" / "traces.jsonl"
    lines = path.read_text().splitlines()
    trace, other = json.loads(lines[0]), json.loads(lines[1])
    for key in ("context_digest", "prompt_pids"):
        trace[key] = other[key]
    lines[0] = json.dumps(trace)
    path.write_text("\n".join(lines) + "\n")
    reseal(bundle)
    assert "proofs" in ragablate.verify(bundle).wrong


def test_a_folder_that_is_no_bundle_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="give the folder of a bundle"):
        ragablate.verify(tmp_path)


def test_frames_hold_every_effect_verdict_and_trace(bundle: Path) -> None:
    loaded = ragablate.load(bundle)
    verdicts = ragablate.verdicts_frame(loaded)
    assert len(verdicts) == sum(len(v) for v in loaded.verdicts.values())
    assert verdicts[verdicts.value.isna()].reason.ne("").all()
    traces = ragablate.traces_frame(loaded)
    assert set(traces.arm) == set(loaded.traces)
    from ragablate.compare import compare

    effects = ragablate.effects_frame(compare(loaded.study()))
    assert effects.id.is_unique
    assert {"control", "treatment", "ci95_low", "ci95_high"} <= set(effects.columns)


def test_everything_that_is_exported_can_be_imported() -> None:
    for name in ragablate.__all__:
        assert getattr(ragablate, name) is not None
    with pytest.raises(AttributeError):
        ragablate.nonsense  # noqa: B018


def test_arms_whose_names_differ_only_in_signs_keep_their_own_answers(
    toy: Path, tmp_path: Path
) -> None:
    treatments = "[{a+b:['assembler.budget_tokens=0']},{a_b:['assembler.budget_tokens=5000']}]"
    outcome = ragablate.run(
        "dataset=jsonl",
        f"dataset.path={toy}",
        f"outputs={tmp_path / 'outputs'}",
        "experiment=swap_assembler",
        f"experiment.swap_assembler.treatments={treatments}",
    )
    traces = outcome.bundle.traces
    assert {bool(t.prompt_pids) for t in traces["assembler.budget_tokens=a+b"]} == {False}
    assert {bool(t.prompt_pids) for t in traces["assembler.budget_tokens=a_b"]} == {True}


@pytest.mark.parametrize(
    ("one", "other"),
    [("x=a/b", "x=a_b"), ("x=A", "x=a"), ("x=é", "x=_"), ("x=" + "a" * 300, "x=" + "a" * 301)],
)
def test_no_two_arms_share_a_folder_on_any_file_system(one: str, other: str) -> None:
    folders = {arm_folder(one).casefold(), arm_folder(other).casefold()}
    assert len(folders) == 2
    assert all(len(folder.encode()) < 200 and "/" not in folder for folder in folders)
    assert arm_folder("context=with_gold") == "context=with_gold"


def edited(key: str, value: object) -> Callable[[bytes], bytes]:
    """A change of one field of the first line of a file."""

    def change(data: bytes) -> bytes:
        first, _, rest = data.partition(b"\n")
        return json.dumps({**json.loads(first), key: value}).encode() + b"\n" + rest

    return change


def replaced(old: str, new: str) -> Callable[[bytes], bytes]:
    """The first of some words put otherwise."""
    return lambda data: data.replace(old.encode(), new.encode(), 1)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("arms/control/traces.jsonl", edited("arm", "other"), "its trace is of arm other"),
        ("arms/control/traces.jsonl", edited("prompt_pids", ["p9"]), "other passages"),
        ("arms/control/traces.jsonl", edited("prompt_digest", "0" * 64), "prompt is not stored"),
        ("arms/control/traces.jsonl", edited("frame_digest", "0" * 64), "the frame of its prompt"),
        ("arms/control/traces.jsonl", edited("gold_pids", []), "describe it differently"),
        ("arms/control/traces.jsonl", edited("answerable", False), "describe it differently"),
        ("arms/control/traces.jsonl", edited("abstained", None), "about the abstention"),
        ("arms/control/traces.jsonl", edited("retrieved", []), "different rankings"),
        ("arms/control/traces.jsonl", edited("replicate", 2), "question q1: "),
        ("arms/control/run.trec", replaced(" p1 ", " p2 "), "different rankings"),
        ("prompts.jsonl", replaced("Zorbat", "Zurbat"), "does not have that digest"),
        ("questions.jsonl", replaced('"Ada Lind"', '"Eva Lind"'), "the gold of question q1"),
        ("plan.json", replaced('"replicates": 1', '"replicates": 3'), "replicates is"),
        ("report.md", replaced("8 questions", "9 questions"), "report.md does not say"),
        ("effects.json", lambda data: b"\xff", "does not hold what a bundle does"),
        ("plan.json", lambda data: b"[" * 100_000, "does not hold what a bundle does"),
        ("arms/control/verdicts.jsonl", lambda data: data[data.index(b"\n") + 1 :], ""),
    ],
)
def test_files_that_contradict_each_other_are_named_although_the_hashes_fit(
    bundle: Path, name: str, change: Callable[[bytes], bytes], said: str
) -> None:
    before = (bundle / name).read_bytes()
    (bundle / name).write_bytes(change(before))
    assert (bundle / name).read_bytes() != before
    reseal(bundle)
    try:
        wrong = ragablate.verify(bundle).wrong
    except BundleError as error:
        wrong = str(error)
    assert wrong
    assert said in wrong
