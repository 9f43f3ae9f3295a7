"""``ragablate report``: a bundle in every format."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests_support import write_dataset

import ragablate
from ragablate.cli import main


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    data = write_dataset(folder / "toy")
    return ragablate.run(
        "dataset=jsonl", f"dataset.path={data}", f"outputs={folder}", "name=toy",
        "experiment=[closed_book,placebo]",
    ).folder  # fmt: skip


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundle, tmp_path / "elsewhere"))


@pytest.mark.parametrize(("form", "name"), [("md", "report.md"), ("html", "report.html")])
def test_a_report_made_later_is_the_one_in_the_bundle(
    bundle: Path, tmp_path: Path, form: str, name: str
) -> None:
    out = tmp_path / name
    assert main(["report", str(bundle), "--format", form, "--out", str(out)]) == 0
    assert (bundle / name).read_bytes() == out.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        ([], "# toy: which stage loses the answers"),
        (["--format", "csv"], "id,contrast,control,treatment,"),
        (["--format", "latex"], "% needs \\usepackage{booktabs}"),
        (["--cite"], "toy: which stage loses the answers. ragablate "),
    ],
)
def test_every_format_goes_to_standard_output(
    bundle: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], start: str
) -> None:
    assert main(["report", str(bundle), *arguments]) == 0
    assert capfd.readouterr().out.startswith(start)


def test_a_bundle_that_was_moved_gives_the_same_report(
    bundle: Path, copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(bundle)]) == 0
    before = capfd.readouterr().out
    assert main(["report", str(copy)]) == 0
    assert before == capfd.readouterr().out


def test_nothing_is_reported_of_a_changed_bundle(
    copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = copy / "arms" / "control" / "verdicts.jsonl"
    path.write_text(path.read_text().replace('"value":0.0', '"value":1.0', 1))
    assert main(["report", str(copy)]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert "arms/control/verdicts.jsonl is not the file that was written" in said.err


def test_a_report_is_not_written_into_the_bundle(
    copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(copy), "--out", str(copy / "again.md")]) == 2
    assert "is in the bundle" in capfd.readouterr().err
    assert not (copy / "again.md").exists()
    assert ragablate.verify(copy).wrong == ""


def test_wrong_requests_are_one_sentence(
    bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(tmp_path / "nowhere")]) == 2
    assert "give the folder of a bundle" in capfd.readouterr().err
    assert main(["report", str(bundle), "--out", str(tmp_path / "no" / "folder.md")]) == 2
    assert "cannot be written: No such file or directory" in capfd.readouterr().err
    assert main(["report", str(bundle), "--format", "pdf"]) == 2
    assert main(["report"]) == 2
    assert main(["report", "--help"]) == 0
