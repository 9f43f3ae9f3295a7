"""The pipeline a bundle records: its control, as it was resolved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragablate.config import STAGES, PlainConfig
from ragablate.errors import DesignError


def recorded_pipeline(folder: Path) -> PlainConfig:
    """The resolved config of the control of a bundle.

    Args:
        folder: The bundle.

    Raises:
        DesignError: There is no bundle, or its plan holds no pipeline.
    """
    try:
        plan: Any = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise DesignError(
            [f"no bundle can be read at {folder}: {error.strerror or error}; give its folder"]
        ) from error
    except ValueError as error:
        raise DesignError([f"{folder}/plan.json is not JSON: {error}"]) from error
    config = plan.get("config") if isinstance(plan, dict) else None
    if not isinstance(config, dict) or not all(
        isinstance(config.get(stage), dict) for stage in STAGES
    ):
        raise DesignError([f"{folder}/plan.json holds no complete pipeline: give another bundle"])
    return config
