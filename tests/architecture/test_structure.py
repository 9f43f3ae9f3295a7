"""The shape of the house: arrows that never point back, sizes, and who may see gold."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import ragablate
from ragablate import protocols

ROOT = Path(ragablate.__file__).parent
FILES = sorted(p for p in ROOT.rglob("*.py") if "conf" not in p.parts)

LAYERS = [
    {"records", "errors"},
    {"codec", "protocols", "text", "failures", "functions", "sources", "knobs",
     "resources", "recorded", "data", "collecting"},
    {"logs", "dataset", "gold", "chunk", "rewrite", "retrieve", "rerank", "gate", "assemble",
     "intervene", "read", "judge", "prompts", "seeds", "embed"},
    {"config", "store", "stages", "traces", "observed", "compare", "diagnose", "edges",
     "looking", "labelling", "judge_overrides"},
    {"design", "own_reader", "adapters", "prepared", "gating", "broadening", "searched", "sharing",
     "searching", "pipeline", "proofs",
     "leakage"},
    {"budget", "reading", "lending", "judging", "observing", "sentinel", "execute", "bundle",
     "ledger", "calibrate", "well_formed"},
    {"checked", "evidence", "elsewhere", "report", "session", "publishing", "rejudging", "frames",
     "api", "versus"},
    {"jobs", "sweep", "cli", "calibrating"},
]  # fmt: skip
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def part(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """Parts of ragablate a file imports when it is imported, its lazy imports apart."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ragablate."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.ImportFrom) and node.module == "ragablate":
            yield from (alias.name for alias in node.names if alias.name in RANK)


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", FILES, ids=named)
def test_an_import_never_points_back(path: Path) -> None:
    own = part(path)
    if own == "__init__":
        return
    assert own in RANK, f"{own} has no place in the layers: give it one"
    back = [other for other in imports(path) if other != own and RANK[other] > RANK[own]]
    assert back == []


@pytest.mark.parametrize("package", ["records", "design", "compare", "diagnose"])
def test_pure_parts_import_no_model_library(package: str) -> None:
    heavy = {"torch", "transformers", "sentence_transformers", "xllamacpp", "httpx", "faiss"}
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not heavy & {n.split(".")[0] for n in names}, path


@pytest.mark.parametrize("path", FILES, ids=named)
def test_modules_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            code = node.body[1:] if documented and len(node.body) > 1 else node.body
            lines = (node.end_lineno or 0) - code[0].lineno + 1
            assert lines <= 40, f"{node.name} has {lines} lines"


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "helpers", "common", "base", "manager", "misc"}
    assert not empty & {path.stem for path in FILES}


GOLDEN = {"Gold", "ResolvedGold", "JudgeRequest", "InterveneRequest", "Dataset", "Alternative",
          "Part", "GoldPassage", "ResolvedAlternative", "Verdict"}  # fmt: skip


def mentioned(hint: object) -> set[str]:
    """Names of all classes a type hint can carry, through containers and record fields."""
    found: set[str] = set()
    todo = [hint]
    seen: set[int] = set()
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        todo += typing.get_args(each)
        if isinstance(each, type):
            found.add(each.__name__)
            if each.__module__.startswith("ragablate") and hasattr(each, "__annotations__"):
                todo += typing.get_type_hints(each).values()
    return found


SEAMS = [
    (protocol, name)
    for protocol in vars(protocols).values()
    if isinstance(protocol, type) and getattr(protocol, "_is_protocol", False)
    for name, method in vars(protocol).items()
    if inspect.isfunction(method) and not name.startswith("_")
]


@pytest.mark.parametrize(("protocol", "name"), SEAMS, ids=lambda x: getattr(x, "__name__", x))
def test_only_intervene_and_judge_can_receive_gold(protocol: type, name: str) -> None:
    hints = typing.get_type_hints(getattr(protocol, name))
    hints.pop("return", None)
    carried = set().union(*(mentioned(h) for h in hints.values())) if hints else set()
    if name in ("intervene", "judge"):
        assert carried & GOLDEN
    else:
        assert not carried & GOLDEN


def test_no_two_test_files_share_a_name() -> None:
    names = [path.name for path in Path(__file__).parents[1].rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
