"""The source a user's function or adapter is made of: its module and what that imports.

Only the user's own modules count. The standard library and installed packages are left
out: they change with the environment, whose versions a bundle records.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

_LIBRARY = tuple(
    {
        str(Path(sysconfig.get_path(name)).resolve())
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
    }
)
_PACKAGES = frozenset({"site-packages", "dist-packages"})
"""Folders of installed packages have one of these names, also those of another environment that
this one sees (``--system-site-packages``, a ``.pth`` file, ``PYTHONPATH``)."""


def local_sources(module: str) -> dict[str, bytes]:
    """Source by name of a module and of every module of the user's it imports, lazily or not.

    Args:
        module: Dotted name of a module that is imported already.
    """
    found: dict[str, bytes] = {}
    todo = [module]
    while todo:
        name = todo.pop()
        path = _path(name)
        if name in found or path is None:
            continue
        found[name] = path.read_bytes()
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        todo.extend(_imported(found[name], package))
    return found


def _path(name: str) -> Path | None:
    """Where a user's module lies; ``None`` for installed ones and for what is no module."""
    origin = getattr(sys.modules.get(name), "__file__", None)
    if origin is None:
        try:
            spec = find_spec(name)
        except Exception:  # a parent package of somebody else's that does not import
            return None
        origin = spec.origin if spec is not None else None
    if origin is None or not origin.endswith(".py") or name.split(".")[0] == "ragablate":
        return None
    path = Path(origin).resolve()
    return path if path.is_file() and not _installed(path) else None


def _installed(path: Path) -> bool:
    return str(path).startswith(_LIBRARY) or not _PACKAGES.isdisjoint(path.parts)


def _imported(source: bytes, package: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            if base:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)
