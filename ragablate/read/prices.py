"""What tokens cost: a table of prices by model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from ragablate.errors import AdapterError
from ragablate.resources import locate

_FORM = "give {MODEL: {prompt: USD, completion: USD}}, for a million tokens each"


@dataclass(frozen=True, slots=True)
class Price:
    """What a model's tokens cost."""

    prompt: float
    """US dollars for a million tokens of prompts."""
    completion: float
    """US dollars for a million tokens of answers."""

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """US dollars."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6

    def of(self, usage: Mapping[str, int]) -> float | None:
        """US dollars of what a reply counts; ``None`` where it does not count both kinds."""
        if not {"prompt_tokens", "completion_tokens"} <= usage.keys():
            return None
        return self.cost(usage["prompt_tokens"], usage["completion_tokens"])


@dataclass(frozen=True, slots=True)
class Estimate:
    """What some answers may take."""

    prompt_tokens: int
    """Of all prompts together, as far as that is known without the model's own tokenizer."""
    completion_tokens: int | None
    """Of all answers together at most; ``None`` without a longest answer."""
    usd: float | None
    """US dollars at most; ``None`` without a price."""


def load_prices(source: str | Mapping[str, Any] | None) -> dict[str, Price]:
    """Prices by model name.

    Args:
        source: A table, or the path of a YAML file with one; ``None`` knows no price. Free is a
            price of 0, which is not the same.

    Raises:
        AdapterError: The file cannot be read, or the table has not that form.
    """
    if source is None:
        return {}
    where = "prices"
    table: Any = source
    if isinstance(source, str):
        where = f"prices '{source}'"
        try:
            table = yaml.safe_load(locate(source).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            why = " ".join(str(error).split())
            raise AdapterError(f"{where} cannot be read as YAML: {why}") from error
    if not isinstance(table, Mapping):
        raise AdapterError(f"{where} is no table: {_FORM}")
    return {str(model): _price(where, str(model), row) for model, row in table.items()}


def _price(where: str, model: str, row: Any) -> Price:
    if not isinstance(row, Mapping) or set(row) != {"prompt", "completion"}:
        raise AdapterError(f"{where}: the price of '{model}' is {row!r}: {_FORM}")
    for value in row.values():
        right = isinstance(value, int | float) and not isinstance(value, bool)
        if not right or not math.isfinite(value) or value < 0:
            raise AdapterError(f"{where}: the price of '{model}' is {row!r}: {_FORM}")
    return Price(float(row["prompt"]), float(row["completion"]))
