from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragablate.errors import AdapterError
from ragablate.read.prices import Price, load_prices

TABLE = {"small": {"prompt": 0.15, "completion": 0.6}, "own": {"prompt": 0, "completion": 0}}


def test_a_table_and_a_file_with_it_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("small: {prompt: 0.15, completion: 0.6}\nown: {prompt: 0, completion: 0}\n")
    assert load_prices(TABLE) == load_prices(str(path))
    assert load_prices(TABLE)["small"] == Price(0.15, 0.6)
    assert load_prices(None) == {}


def test_prices_are_for_a_million_tokens() -> None:
    assert Price(0.15, 0.6).cost(2_000_000, 500_000) == pytest.approx(0.6)
    assert Price(0.15, 0.6).of({"prompt_tokens": 10, "completion_tokens": 1}) == pytest.approx(
        2.1e-6
    )


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": 3}, {"completion_tokens": 3}])
def test_tokens_that_are_not_counted_have_no_cost_rather_than_none(usage: dict[str, int]) -> None:
    assert Price(1, 1).of(usage) is None
    assert Price(1, 1).of({"prompt_tokens": 0, "completion_tokens": 0}) == 0.0


@pytest.mark.parametrize(
    "table",
    [
        "text", 7, [], {"m": 1}, {"m": {"prompt": 1}}, {"m": {"prompt": 1, "completion": "x"}},
        {"m": {"prompt": -1, "completion": 1}}, {"m": {"prompt": True, "completion": 1}},
        {"m": {"prompt": float("nan"), "completion": 1}},
        {"m": {"prompt": 1, "completion": 1, "cached": 1}},
    ],
)  # fmt: skip
def test_what_is_no_table_of_prices_is_told(table: Any, tmp_path: Path) -> None:
    import yaml

    path = tmp_path / "prices.yaml"
    path.write_text(yaml.safe_dump(table))
    with pytest.raises(AdapterError, match=r"^prices .*give \{MODEL: \{prompt: USD"):
        load_prices(str(path))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="cannot be read as YAML"):
        load_prices(str(tmp_path / "absent.yaml"))
    (tmp_path / "broken.yaml").write_text("a: [")
    with pytest.raises(AdapterError, match="cannot be read as YAML"):
        load_prices(str(tmp_path / "broken.yaml"))
