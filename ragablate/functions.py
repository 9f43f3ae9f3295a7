"""User functions named in a config as ``package.module:name``."""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Callable
from typing import Any

from ragablate.errors import AdapterError


def load_function(spec: str, where: str) -> Callable[..., Any]:
    """The function a config names.

    Args:
        spec: ``package.module:name``; ``name`` may be dotted (``Class.method``).
        where: The config key that holds it, such as ``retriever.function``, for messages.

    Raises:
        AdapterError: The text has not that form, the module cannot be imported, or the name
            is missing or not callable.
    """
    module_name, colon, name = spec.partition(":")
    if not colon or not all(part.isidentifier() for part in f"{module_name}.{name}".split(".")):
        raise AdapterError(
            f"{where} is '{spec}': write it as package.module:name, such as my_rag.search:run"
        )
    found: Any = _import(module_name, spec, where)
    for part in name.split("."):
        if not hasattr(found, part):
            raise AdapterError(
                f"{where} is '{spec}': the module '{module_name}' has no '{name}'"
                f"{_near(found, part)}"
            )
        found = getattr(found, part)
    if not callable(found):
        raise AdapterError(
            f"{where} is '{spec}', which is a {type(found).__name__}, not a function: "
            "name something that can be called"
        )
    return found  # type: ignore[no-any-return]


def source_digest(function: Callable[..., Any]) -> str:
    """sha256 over the function's source text; empty where it has none (built in, typed in)."""
    try:
        source = inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


def _import(module_name: str, spec: str, where: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise AdapterError(
                f"{where} is '{spec}', but there is no module '{error.name}': install it, or "
                "put its folder on PYTHONPATH"
            ) from error
        raise AdapterError(
            f"{where} is '{spec}', but importing '{module_name}' fails because there is no "
            f"module '{error.name}': install it"
        ) from error
    except Exception as error:
        raise AdapterError(
            f"{where} is '{spec}', but importing '{module_name}' fails: "
            f"{type(error).__name__}: {one_line(error)}"
        ) from error


def one_line(error: BaseException) -> str:
    """An exception's message on one line, cut to 300 characters; its type where it has none."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:299] + "…"


def _near(holder: Any, name: str) -> str:
    import difflib

    names = [n for n in dir(holder) if callable(getattr(holder, n, None)) and n[0] != "_"]
    close = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean '{close[0]}'?" if close else ": correct the name"
