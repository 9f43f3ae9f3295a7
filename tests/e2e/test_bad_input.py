"""Bad input gets one sentence that says what, where and what to do, and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests_support import PASSAGES, QUESTIONS, ask, write_dataset

RAW: dict[str, bytes] = {
    "invalid JSON": b'{"id": "q1", "question": }\n',
    "not UTF-8": b'{"id": "q1", "question": "caf\xe9"}\n',
}


def refused(done: Any, *parts: str) -> None:
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr + done.stdout
    for part in parts:
        assert part in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("passages", "questions", "parts"),
    [
        ([*PASSAGES, PASSAGES[0]], QUESTIONS, ("corpus.jsonl", "p1")),
        (PASSAGES, [*QUESTIONS, QUESTIONS[0]], ("questions.jsonl", "q1")),
        (PASSAGES, [ask("q1", "Who?", "x", "p99")], ("questions.jsonl", "p99")),
        ([], QUESTIONS, ("corpus.jsonl",)),
        (PASSAGES, [], ("questions.jsonl",)),
    ],
    ids=["duplicate pid", "duplicate qid", "unknown gold pid", "empty corpus", "no questions"],
)
def test_a_faulty_data_set_is_refused(
    ragablate: Any, tmp_path: Path, passages: Any, questions: Any, parts: tuple[str, ...]
) -> None:
    folder = write_dataset(tmp_path / "bad", passages, questions)
    if not passages:
        (folder / "corpus.jsonl").write_text("")
    if not questions:
        (folder / "questions.jsonl").write_text("")
    refused(ragablate("check", "dataset=jsonl", f"dataset.path={folder}"), *parts)


@pytest.mark.parametrize("fault", sorted(RAW))
def test_an_unreadable_line_is_named_by_file_and_number(
    ragablate: Any, toy: Path, fault: str
) -> None:
    file = toy / "questions.jsonl"
    file.write_bytes(file.read_bytes() + RAW[fault])
    done = ragablate("run", "dataset=jsonl", f"dataset.path={toy}")
    refused(done, "questions.jsonl", "9")
    assert not (toy.parent / "outputs").exists()


def test_a_misspelt_field_is_named_instead_of_passed_over(ragablate: Any, toy: Path) -> None:
    file = toy / "questions.jsonl"
    file.write_text(file.read_text().replace('"answerable"', '"answrable"'))
    done = ragablate("check", "dataset=jsonl", f"dataset.path={toy}")
    refused(done, "questions.jsonl", "'answrable': did you mean 'answerable'?")


def test_a_missing_file_and_a_missing_folder_are_named(ragablate: Any, toy: Path) -> None:
    (toy / "corpus.jsonl").unlink()
    refused(ragablate("check", "dataset=jsonl", f"dataset.path={toy}"), "corpus.jsonl")
    refused(ragablate("check", "dataset=jsonl", "dataset.path=nowhere"), "nowhere")


def test_several_problems_of_different_kinds_come_together(ragablate: Any, toy: Path) -> None:
    (toy / "corpus.jsonl").unlink()
    done = ragablate(
        "check",
        "dataset=jsonl",
        f"dataset.path={toy}",
        "retriever=run_file",
        "retriever.path=nowhere.run",
        "reader=function",
        "reader.function=nowhere:read",
        "experiment=[oracle_context]",
        "seed=-x",
    )
    refused(done, "corpus.jsonl", "nowhere.run", "nowhere:read", "seed")


@pytest.mark.parametrize(
    ("override", "part"),
    [
        ("reader=nonsense", "reader/nonsense"),
        ("reader.nonsense=1", "reader.nonsense"),
        ("experiment=nonsense", "experiment/nonsense"),
        ("limit=1", "limit"),
        ("replicates=0", "replicates"),
        ("alpha=2", "alpha"),
        ("nonsense", "nonsense"),
    ],
)
def test_an_unknown_option_or_value_is_refused(ragablate: Any, override: str, part: str) -> None:
    refused(ragablate("check", override), part)


def test_a_key_given_twice_is_refused_rather_than_its_last_value_taken(ragablate: Any) -> None:
    refused(ragablate("check", "limit=20", "limit=40"), "limit is given twice")
    twice = ("experiment=closed_book", "experiment=localize")
    refused(ragablate("check", *twice), "experiment=[a,b]")


def test_an_unknown_command_is_refused(ragablate: Any) -> None:
    refused(ragablate("jump"), "unknown command 'jump'")


def test_an_unwritable_output_folder_is_refused_before_anything_is_read(
    ragablate: Any, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    done = ragablate("run", "outputs=file", "limit=4")
    refused(done, "outputs=file", "cannot be written")


def test_an_eval_gap_is_counted_and_listed_and_no_error(ragablate: Any, tmp_path: Path) -> None:
    gap = {"id": "gap", "question": "Who built the harbours?", "answers": ["Ada Lind"]}
    folder = write_dataset(tmp_path / "gappy", questions=[*QUESTIONS, gap])
    done = ragablate("run", "dataset=jsonl", f"dataset.path={folder}", "experiment=oracle_context")
    assert done.returncode == 0, done.stderr
    assert "1 question without usable gold (gap)" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_full_disk_stops_with_exit_code_1_and_the_same_command_resumes(
    ragablate: Any, toy: Path, tmp_path: Path
) -> None:
    arguments = ["run", "dataset=jsonl", f"dataset.path={toy}", "experiment=oracle_context"]
    done = ragablate(*arguments, preexec_fn=_little_room)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "run the same command again" in done.stderr
    assert "Traceback" not in done.stderr
    assert ragablate(*arguments).returncode == 0


def _little_room() -> None:
    """No file may grow beyond a few kilobytes, as on a disk that is nearly full."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


def test_check_loads_no_model_library_and_is_quick_to_import(
    ragablate: Any, tmp_path: Path
) -> None:
    probe = (
        "import sys; from ragablate.cli import main; code = main(['check']); "
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'scipy.stats'}; "
        "print(found := heavy & set(sys.modules), file=sys.stderr); sys.exit(code or len(found))"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
