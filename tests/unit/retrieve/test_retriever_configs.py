import inspect
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import get_class, instantiate

from ragablate.config import conf_dir
from ragablate.retrieve.analyze import Analyzer
from ragablate.retrieve.bm25 import BM25
from ragablate.retrieve.run_file import RunFile

NAMES = sorted(path.stem for path in (conf_dir() / "retriever").glob("*.yaml"))


@pytest.fixture
def composed(tmp_path):
    primary = tmp_path / "main.yaml"
    primary.write_text(
        f"defaults:\n  - _self_\n  - retriever: none\n"
        f"hydra:\n  searchpath: ['file://{Path(conf_dir()).as_posix()}']\n"
    )

    def made(name, *overrides):
        with initialize_config_dir(str(tmp_path), version_base="1.3"):
            return compose("main", [f"retriever={name}", *overrides]).retriever

    return made


@pytest.mark.parametrize("name", NAMES)
def test_a_yaml_spells_out_every_knob(composed, name):
    node = composed(name)
    knobs = inspect.signature(get_class(node["_target_"])).parameters
    assert set(node) == {"_target_", *knobs}
    if "analyzer" in node:
        assert set(node.analyzer) == {"_target_", *inspect.signature(Analyzer).parameters}


@pytest.mark.parametrize("name", NAMES)
def test_a_yaml_says_first_which_command_uses_it(name):
    first = (conf_dir() / "retriever" / f"{name}.yaml").read_text().splitlines()[0]
    assert first.startswith(f"# ragablate run retriever={name}")


def test_the_parts_of_a_hybrid_can_be_swapped_added_and_left_out(composed):
    swapped = composed(
        "hybrid",
        "retriever@retriever.retrievers.dense=run_file",
        "retriever.retrievers.dense.path=a.run",
        "+retriever@retriever.retrievers.third=bm25_lucene",
        "~retriever@retriever.retrievers.sparse",
    )
    hybrid = instantiate(swapped, _convert_="all")
    assert {name: type(part) for name, part in hybrid.retrievers.items()} == {
        "dense": RunFile,
        "third": BM25,
    }
    assert hybrid.retrievers["dense"].path == "a.run"
    assert hybrid.retrievers["third"].variant == "lucene"


def test_another_language_is_one_override(composed):
    node = composed("bm25", "retriever.analyzer.language=de")
    assert instantiate(node, _convert_="all").problems() == []
    node = composed("bm25", "retriever.analyzer.language=zh")
    assert instantiate(node, _convert_="all").problems() == []
