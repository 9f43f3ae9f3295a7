"""Configured files are found on disk or inside a package."""

from pathlib import Path

import pytest

from ragablate.errors import AdapterError
from ragablate.resources import locate


def test_plain_path_is_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.run").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert locate("a.run").read_text() == "x"


def test_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert locate("~/data") == tmp_path / "data"


def test_a_path_that_does_not_exist_is_still_a_path(tmp_path: Path) -> None:
    assert locate(str(tmp_path / "nowhere")) == tmp_path / "nowhere"


def test_package_data_are_found_from_any_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (locate("pkg://ragablate.data/quickstart") / "corpus.jsonl").is_file()
    assert locate("pkg://ragablate.data").name == "data"


@pytest.mark.parametrize(
    "path", ["pkg://no_such_package.data/x", "pkg://", "pkg:///x", "pkg://json.decoder/x"]
)
def test_unknown_package_is_one_sentence_with_the_path(path: str) -> None:
    with pytest.raises(AdapterError, match="no importable package") as error:
        locate(path)
    assert f"'{path}'" in str(error.value)


def test_zipped_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "zipped.zip", "w") as archive:
        archive.writestr("zipped_package/__init__.py", "")
        archive.writestr("zipped_package/corpus.jsonl", "{}")
    monkeypatch.syspath_prepend(str(tmp_path / "zipped.zip"))
    with pytest.raises(AdapterError, match="not a plain folder on disk"):
        locate("pkg://zipped_package/corpus.jsonl")
