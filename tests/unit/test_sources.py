from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragablate.functions import function_version
from ragablate.sources import local_sources


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A researcher's code: a module, one it imports, one it imports lazily from a package."""
    (tmp_path / "my_answering.py").write_text(
        "import json\nimport my_picking\n\n\ndef answer(question, passages):\n"
        "    from my_package.parts import last\n    return my_picking.pick(passages)\n"
    )
    (tmp_path / "my_picking.py").write_text("def pick(passages):\n    return passages[0]\n")
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "__init__.py").touch()
    (tmp_path / "my_package" / "parts.py").write_text("from . import deeper\nlast = 1\n")
    (tmp_path / "my_package" / "deeper.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_everything_of_the_users_that_a_module_imports_counts(project: Path) -> None:
    function_version("my_answering:answer")
    assert set(local_sources("my_answering")) == {
        "my_answering",
        "my_picking",
        "my_package",
        "my_package.parts",
        "my_package.deeper",
    }


@pytest.mark.parametrize("file", ["my_answering.py", "my_picking.py", "my_package/deeper.py"])
def test_an_edit_anywhere_below_a_function_is_another_version(project: Path, file: str) -> None:
    before = function_version("my_answering:answer")
    assert before == function_version("my_answering:answer")
    path = project / file
    path.write_text(path.read_text() + "\n# edited\n")
    assert function_version("my_answering:answer") != before


def test_installed_packages_and_ragablate_itself_do_not_count() -> None:
    assert local_sources("json") == {}
    assert local_sources("pytest") == {}
    assert local_sources("ragablate.codec") == {}


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages"])
def test_packages_of_another_environment_that_is_seen_do_not_count(
    project: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    elsewhere = project / "base" / "lib" / folder
    elsewhere.mkdir(parents=True)
    (elsewhere / "somebodys.py").write_text("import my_picking\n")
    monkeypatch.syspath_prepend(str(elsewhere))
    (project / "my_importing.py").write_text("import somebodys\n")
    assert set(local_sources("my_importing")) == {"my_importing"}
