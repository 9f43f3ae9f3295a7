"""Composing the catalogue of choices under ``conf/`` into plain configs.

No ``DictConfig`` leaves this module: everything downstream works on plain values, so that
an adapter can be used without Hydra and a diff sees what an adapter would get.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, MissingConfigException
from omegaconf import Container, DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ragablate.errors import DesignError

STAGES = (
    "chunker", "rewriter", "retriever", "reranker", "gate", "assembler", "context", "reader",
)  # fmt: skip
"""Config groups of the pipeline, in the order data flow through them."""

GROUPS = ("dataset", *STAGES, "judge")
"""Every config group that holds adapters."""

PlainConfig = dict[str, Any]
"""A resolved config: dicts, lists and scalars."""


def conf_dir() -> Path:
    """The shipped catalogue: inside the package when installed, beside it in a checkout."""
    package = Path(__file__).resolve().parent
    inside = package / "conf"
    return inside if inside.is_dir() else package.parent / "conf"


@contextmanager
def composing(config_dir: Path | None = None) -> Iterator[None]:
    """Make ``compose_plain`` usable outside the command line.

    Args:
        config_dir: Another catalogue; the shipped one by default.
    """
    if GlobalHydra.instance().is_initialized():
        yield
        return
    with initialize_config_dir(str((config_dir or conf_dir()).resolve()), version_base="1.3"):
        yield


@dataclass(frozen=True, slots=True)
class Composed:
    """One complete config."""

    values: PlainConfig
    """Resolved plain values, Hydra's own node left out."""
    choices: Mapping[str, str]
    """The option chosen in every config group, such as ``retriever: bm25``."""
    name: str = "config"
    """Primary config it was composed from."""


def compose_plain(overrides: Sequence[str], config_name: str = "config") -> Composed:
    """Compose and resolve a config.

    Args:
        overrides: Hydra overrides, in order; of two for one key the later one wins.
        config_name: Primary config.

    Raises:
        DesignError: An option or key does not exist, a value is missing, or an
            interpolation does not resolve.
    """
    try:
        cfg = compose(config_name, list(overrides), return_hydra_config=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise DesignError([_sentence(error)]) from error
    except ValueError as error:  # what Hydra raises where a group is set to null
        nulls = ", ".join(o for o in overrides if o.endswith("=null")) or "a choice of null"
        raise DesignError([f"{nulls}: {error}; give the name of an option, or []"]) from error
    choices = {str(k): str(v) for k, v in cfg.hydra.runtime.choices.items()}
    values = _plain(cfg)
    problems = [
        f"{key} is not in the config: leave it there, or give it a value, {key}=…"
        for key in _needed()
        if key not in values
    ]
    problems += [
        f"{key} is {value}: give a finite number"
        for key, value in flatten(values).items()
        if isinstance(value, float) and not math.isfinite(value)
    ]
    if problems:
        raise DesignError(problems)
    return Composed(values, choices, config_name)


@cache
def _needed() -> tuple[str, ...]:
    """Keys that every config has, because the shipped one has them; a choice of judges apart."""
    shipped = yaml.safe_load((conf_dir() / "config.yaml").read_text(encoding="utf-8"))
    return ("dataset", *STAGES, *(key for key in shipped if key not in ("defaults", "hydra")))


def _plain(cfg: DictConfig) -> PlainConfig:
    """Resolved values of everything but Hydra's own node."""
    plain: PlainConfig = {}
    try:
        for key in cfg:
            if key != "hydra":
                node = cfg._get_node(key)
                plain[str(key)] = (
                    OmegaConf.to_container(node, resolve=True, throw_on_missing=True)
                    if isinstance(node, Container)
                    else cfg[key]
                )
    except OmegaConfBaseException as error:
        own = OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key != "hydra"])
        missing = sorted(OmegaConf.missing_keys(own))
        raise DesignError(
            [f"{key} has no value: give it on the command line, {key}=…" for key in missing]
            or [f"the config does not resolve: {_sentence(error)}"]
        ) from error
    return plain


def _sentence(error: Exception) -> str:
    """Hydra's message on one line, with its cause and without its search path."""
    text = str(error).split("Config search path:")[0]
    if error.__cause__ is not None and str(error.__cause__) not in text:
        text = f"{text}: {error.__cause__}"
    return " ".join((_with_options(error) or text).split())


def _with_options(error: Exception) -> str:
    """What Hydra says of an unknown option; of one in a list it does not name the others."""
    if not isinstance(error, MissingConfigException) or error.options is not None:
        return ""
    missing = error.missing_cfg_file or ""
    group = missing.rpartition("/")[0]
    options = GlobalHydra.instance().config_loader().get_group_options(group) if group else []
    if not options:
        return ""
    return f"Could not find '{missing}' Available options in '{group}': {' '.join(options)}"


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Leaves of nested plain values by dotted path; an empty container is a leaf."""
    if isinstance(value, Mapping) and value:
        items: Iterator[tuple[str, Any]] = ((str(k), v) for k, v in value.items())
    elif isinstance(value, list) and any(isinstance(v, dict | list) for v in value):
        items = ((str(i), v) for i, v in enumerate(value))
    else:
        return {prefix: value}
    leaves: dict[str, Any] = {}
    for key, item in items:
        leaves.update(flatten(item, f"{prefix}.{key}" if prefix else key))
    return leaves


def without_runtime(value: Any) -> Any:
    """Nested plain values without their ``runtime`` nodes, which cannot change an answer."""
    if isinstance(value, Mapping):
        return {k: without_runtime(v) for k, v in value.items() if k != "runtime"}
    if isinstance(value, list):
        return [without_runtime(v) for v in value]
    return value
