"""Building adapters from config, and their fingerprints.

A fingerprint is what a stored result is known by: the adapter's class, its constructor
arguments (``runtime`` apart, a path replaced by the digest of its file where the adapter
offers ``identity``), and the source of every ragablate module it is made of.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hydra.errors import HydraException
from hydra.utils import instantiate
from omegaconf.errors import OmegaConfBaseException

from ragablate import protocols
from ragablate.codec import digest
from ragablate.config import STAGES, PlainConfig, without_runtime
from ragablate.knobs import knob_problems
from ragablate.own_reader import OwnReader, asked, reader_nodes
from ragablate.sources import local_sources

PROTOCOLS: Mapping[str, type] = {
    "dataset": protocols.DatasetSource,
    "chunker": protocols.Chunker,
    "rewriter": protocols.Rewriter,
    "retriever": protocols.Retriever,
    "reranker": protocols.Reranker,
    "gate": protocols.Gate,
    "assembler": protocols.Assembler,
    "context": protocols.Intervention,
    "reader": protocols.Reader,
}
"""Protocol of every config group; ``judge`` holds several and is checked one by one."""

_PACKAGE = Path(__file__).resolve().parent
_CONTRACT = ("ragablate.records", "ragablate.protocols", "ragablate.errors", "ragablate.codec")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The adapters of one arm."""

    stages: Mapping[str, Any]
    """Adapter by config group, in pipeline order."""
    fingerprints: Mapping[str, str]
    """Fingerprint of each adapter alone."""

    def __getitem__(self, stage: str) -> Any:
        return self.stages[stage]


@dataclass(slots=True)
class Workshop:
    """Builds adapters, equal configs once, and collects what is wrong with them.

    Sharing instances matters: an index or a model that two arms both use is loaded once.
    """

    problems: list[str] = field(default_factory=list)
    """One sentence each, in the order found."""
    _built: dict[str, tuple[Any, str]] = field(default_factory=dict)

    def pipeline(self, config: PlainConfig) -> Pipeline | None:
        """All adapters of one arm, or ``None`` with problems noted."""
        stages: dict[str, Any] = {}
        fingerprints: dict[str, str] = {}
        for stage in STAGES:
            built = self.adapter(stage, config[stage], PROTOCOLS[stage])
            if built is None:
                continue
            stages[stage], fingerprints[stage] = built
        return Pipeline(stages, fingerprints) if len(stages) == len(STAGES) else None

    def judges(self, config: PlainConfig) -> dict[str, tuple[Any, str]]:
        """Judges and their fingerprints by name."""
        judges = {}
        section = config.get("judge") or {}
        if not section:
            self.note("no judge is chosen: nothing would be measured; give judge=[correct,…]")
        for name, node in section.items():
            built = self.adapter(f"judge.{name}", node, protocols.Judge)
            if built is not None:
                judges[str(name)] = built
        return judges

    def adapter(self, where: str, node: Any, protocol: type) -> tuple[Any, str] | None:
        """One adapter and its fingerprint, or ``None`` with the problem noted."""
        # A reader is the same whether it ends the pipeline or another stage asks it.
        key = digest("reader" if protocol is protocols.Reader else where, node)
        if key in self._built:
            return self._built[key]
        if not isinstance(node, Mapping) or "_target_" not in node:
            self.note(f"{where} has no _target_: name the class that implements it")
            return None
        wrong = knob_problems(where, node)
        if wrong:
            for problem in wrong:
                self.note(problem)
            return None
        held = self._readers(where, node)
        if held is None:
            return None
        try:
            instance = _instance(node, held)
        except (HydraException, OmegaConfBaseException, TypeError) as error:
            self.note(f"{where} cannot be built: {_reason(error)}")
            return None
        lacking = _lacking(instance, protocol)
        if lacking:
            self.note(
                f"{where}: {node['_target_']} is not a {protocol.__name__}, it has no "
                f"{', '.join(lacking)}"
            )
            return None
        self._collect(where, instance)
        self._built[key] = (instance, fingerprint(node, instance))
        return self._built[key]

    def _readers(
        self, where: str, node: Mapping[str, Any]
    ) -> dict[tuple[str, ...], OwnReader] | None:
        """The readers an adapter is given, or ``None`` with the problems noted."""
        found: dict[tuple[str, ...], OwnReader] = {}
        nodes = reader_nodes(node)
        for path, inner in nodes.items():
            built = self.adapter(".".join((where, *path)), inner, protocols.Reader)
            if built is not None:
                found[path] = OwnReader(*built)
        return found if len(found) == len(nodes) else None

    def note(self, problem: str) -> None:
        """Remember a problem, once."""
        if problem not in self.problems:
            self.problems.append(problem)

    def close(self) -> None:
        """End child processes and connections of everything built."""
        for instance, _ in self._built.values():
            close = getattr(instance, "close", None)
            if close is not None:
                close()

    def _collect(self, where: str, instance: Any) -> None:
        for each in _nested(instance):
            ask = getattr(each, "problems", None)
            if ask is not None:
                for problem in ask():
                    self.note(f"{where}: {problem}")


def _instance(node: Mapping[str, Any], held: Mapping[tuple[str, ...], OwnReader]) -> Any:
    """An adapter; readers that were built before are handed to the constructors that take them."""
    if not held:
        return instantiate(node, _convert_="all")
    given: dict[str, Any] = {}
    for key in dict.fromkeys(path[0] for path in held):
        inside = {path[1:]: own for path, own in held.items() if path[0] == key}
        given[key] = inside[()] if () in inside else _instance(node[key], inside)
    if "_target_" not in node:
        rest = {key: instantiate(v, _convert_="all") if isinstance(v, Mapping) else v
                for key, v in node.items() if key not in given}  # fmt: skip
        return {key: given[key] if key in given else rest[key] for key in node}
    rest = {key: value for key, value in node.items() if key not in given}
    return instantiate({**rest, "_partial_": True}, _convert_="all")(**given)


def _nested(instance: Any) -> list[Any]:
    """An adapter and the adapters it was given, such as the parts of a hybrid."""
    found = [instance]
    for value in getattr(instance, "__dict__", {}).values():
        members = value.values() if isinstance(value, dict) else [value]
        for member in members:
            if type(member).__module__.split(".")[0] not in ("builtins", "pathlib") and callable(
                getattr(member, "problems", None)
            ):
                found.append(member)
    return found


def _reason(error: BaseException) -> str:
    """The innermost cause on one line: Hydra wraps the constructor's own complaint."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split())


def _lacking(instance: Any, protocol: type) -> list[str]:
    names = [
        name
        for name, value in vars(protocol).items()
        if inspect.isfunction(value) and name[0] != "_"
    ]
    return [name for name in names if not callable(getattr(instance, name, None))]


# ── fingerprints ────────────────────────────────────────────────────────────────────────


def fingerprint(node: Mapping[str, Any], instance: Any) -> str:
    """sha256 that identifies what an adapter does.

    Args:
        node: Its resolved config, with ``_target_``.
        instance: The adapter built from it; nested adapters are found under the name of
            the constructor argument they were passed as.
    """
    return digest(_describe(without_runtime(node), instance))


def _describe(node: Any, instance: Any) -> Any:
    if isinstance(node, list):
        members = instance if isinstance(instance, list | tuple) else [None] * len(node)
        return [_describe(n, i) for n, i in zip(node, members, strict=False)]
    if not isinstance(node, Mapping):
        return node
    if "_target_" not in node:
        return {key: _describe(value, _member(instance, key)) for key, value in node.items()}
    instance = asked(instance)
    described = {key: _describe(value, _member(instance, key)) for key, value in node.items()}
    identity = getattr(instance, "identity", None)
    if identity is not None:
        described.update(identity())
    described["_source_"] = source(type(instance))
    return described


def _member(instance: Any, key: str) -> Any:
    if isinstance(instance, Mapping):
        return instance.get(key)
    return getattr(instance, key, None)


def source(kind: type) -> str:
    """sha256 over the source of the class's module and the ragablate modules it uses."""
    return _source(kind.__module__)


@cache
def _source(module: str) -> str:
    own = {name: _file(name) for name in _modules(module)}
    sources = {name: path.read_bytes() for name, path in own.items() if path is not None}
    if not module.startswith("ragablate."):
        sources |= local_sources(module)
    h = hashlib.sha256()
    for name, data in sorted(sources.items()):
        h.update(name.encode())
        h.update(data)
    return h.hexdigest()


def _modules(module: str) -> set[str]:
    seen: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name in seen or name.startswith(_CONTRACT):
            continue
        path = _file(name)
        if path is None:
            continue
        seen.add(name)
        todo.extend(_imports(path))
    return seen


def _imports(path: Path) -> list[str]:
    """Ragablate modules a file imports, lazily or not."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in names if name.startswith("ragablate.")]


def _file(module: str) -> Path | None:
    """Source of a module, found without importing anything; ``None`` for what is no module."""
    if not module.startswith("ragablate."):
        loaded = getattr(sys.modules.get(module), "__file__", None)
        return Path(loaded) if loaded else None
    place = _PACKAGE.joinpath(*module.split(".")[1:])
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    return None
