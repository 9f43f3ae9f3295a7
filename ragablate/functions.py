"""User functions named in a config as ``package.module:name``."""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any, cast

from ragablate.errors import AdapterError
from ragablate.sources import local_sources


def load_function(spec: str, where: str) -> Callable[..., Any]:
    """The function a config names.

    Args:
        spec: ``package.module:name``; ``name`` may be dotted (``Class.method``).
        where: The config key that holds it, such as ``retriever.function``, for messages.

    Raises:
        AdapterError: The text has not that form, the module cannot be imported, or the name
            is missing or not callable.
    """
    module_name, name = _parts(spec, where)
    found = _import(module_name, spec, where)
    for part in name.split("."):
        if not hasattr(found, part):
            raise AdapterError(
                f"{where} is '{spec}', but the module '{module_name}' has no '{name}'"
                f"{_near(found, part)}"
            )
        found = getattr(found, part)
    if not callable(found):
        raise AdapterError(
            f"{where} is '{spec}', which is of type {type(found).__name__}: name something "
            "that can be called"
        )
    return cast(Callable[..., Any], found)


def function_problems(spec: str, where: str) -> list[str]:
    """What would stop ``load_function``, as far as it shows without running the module.

    The packages above the module are imported, the module itself is not.
    """
    try:
        module_name, _ = _parts(spec, where)
        if find_spec(module_name) is None:
            return [_no_module(spec, where, module_name)]
    except AdapterError as error:
        return [str(error)]
    except ModuleNotFoundError as error:
        return [_no_module(spec, where, error.name or spec)]
    except (Exception, SystemExit) as error:
        return [f"{where} is '{spec}', but its package cannot be imported: {one_line(error)}"]
    return []


def source_digest(function: Callable[..., Any]) -> str:
    """sha256 over the function's qualified name and the source it is made of.

    That is its whole module and every module of the user's which that imports, so that an
    edited function anywhere that it may call counts too. Empty where there is no source:
    built in, compiled, or typed into a prompt.
    """
    function = inspect.unwrap(function)
    owner = function if hasattr(function, "__qualname__") else type(function)
    module = inspect.getmodule(owner)
    try:
        source = inspect.getsource(module) if module else ""
    except (OSError, TypeError):
        source = ""
    if not source:
        return ""
    text = f"{owner.__qualname__}\n{source}"
    h = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name, data in sorted(local_sources(owner.__module__).items()):
        h.update(f"\n{name}\n".encode())
        h.update(data)
    return h.hexdigest()


def function_version(spec: str, declared: str = "") -> str:
    """What a fingerprint knows a user's function by: the declared version, or its source.

    Empty where there is no source or the function cannot be loaded, which ``load_function``
    reports.
    """
    if declared:
        return declared
    try:
        return source_digest(load_function(spec, "function"))
    except AdapterError:
        return ""


def one_line(error: BaseException) -> str:
    """An exception's type and message on one line, cut to 300 characters, as any file holds it."""
    text = f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 300 else text[:299] + "…"


def _parts(spec: str, where: str) -> tuple[str, str]:
    module_name, colon, name = str(spec).partition(":")
    if not colon or not all(part.isidentifier() for part in f"{module_name}.{name}".split(".")):
        raise AdapterError(
            f"{where} is '{spec}': write it as package.module:name, such as my_rag.search:run"
        )
    return module_name, name


def _import(module_name: str, spec: str, where: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if f"{module_name}.".startswith(f"{missing}."):
            raise AdapterError(_no_module(spec, where, missing)) from error
        raise AdapterError(
            f"{where} is '{spec}', but importing '{module_name}' fails because there is no "
            f"module '{missing}': install it"
        ) from error
    except (Exception, SystemExit) as error:
        raise AdapterError(
            f"{where} is '{spec}', but importing '{module_name}' fails: {one_line(error)}"
        ) from error


def _no_module(spec: str, where: str, missing: str) -> str:
    return (
        f"{where} is '{spec}', but there is no module '{missing}': install it, or put its "
        "folder on PYTHONPATH"
    )


def _near(holder: Any, name: str) -> str:
    names = [n for n in dir(holder) if not n.startswith("_") and callable(getattr(holder, n))]
    close = get_close_matches(name, names, n=1)
    return f": did you mean '{close[0]}'?" if close else ": correct the name"
