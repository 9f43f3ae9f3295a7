from __future__ import annotations

import pytest

from ragablate.errors import StoreError
from ragablate.ledger import looks


def test_the_same_plan_again_is_no_further_look(tmp_path):
    assert looks(tmp_path, "set", "a" * 64, ["x"]).count == 1
    assert looks(tmp_path, "set", "a" * 64, ["x"]).count == 1
    assert looks(tmp_path, "set", "b" * 64, ["x"]).count == 2
    assert looks(tmp_path, "other set", "b" * 64, ["x"]).count == 1


def test_claims_that_no_earlier_plan_asked_for_are_named(tmp_path):
    assert looks(tmp_path, "set", "a" * 64, ["x"]).added == ()
    assert looks(tmp_path, "set", "b" * 64, ["x", "y"]).added == ("y",)
    assert looks(tmp_path, "set", "a" * 64, ["x"]).added == ()
    assert looks(tmp_path, "set", "b" * 64, ["x", "y"]).added == ("y",)


def test_a_ledger_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "looks").touch()
    with pytest.raises(StoreError, match="cannot write the ledger"):
        looks(tmp_path, "set", "a" * 64)
