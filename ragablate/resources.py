"""Where a file named in a configuration lies: on disk, or inside an installed package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from ragablate.errors import AdapterError

_SCHEME = "pkg://"


def locate(path: str) -> Path:
    """The file or folder that ``path`` names, which need not exist.

    Args:
        path: A plain path, relative to the current working directory, ``~`` expanded; or
            ``pkg://PACKAGE/REST`` for data inside an importable package, such as
            ``pkg://ragablate.data/quickstart``.

    Raises:
        AdapterError: The package cannot be imported or does not lie in the file system.
    """
    if not path.startswith(_SCHEME):
        return Path(path).expanduser()
    package, _, rest = path.removeprefix(_SCHEME).partition("/")
    try:
        root = resources.files(package)
    except (ImportError, TypeError, ValueError, AttributeError) as problem:
        raise AdapterError(
            f"'{path}': there is no importable package '{package}'. Write "
            "pkg://PACKAGE/FILE with an installed package, or a plain path."
        ) from problem
    found = root / rest if rest else root
    if not isinstance(found, Path):
        raise AdapterError(
            f"'{path}': the package '{package}' is not a plain folder on disk. Install it "
            "unzipped, or copy the data out and give their plain path."
        )
    return found
