"""Bundles and comparisons as pandas frames, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragablate.bundle.read import Bundle
from ragablate.codec import plain
from ragablate.records import Comparison

if TYPE_CHECKING:
    import pandas as pd


def effects_frame(comparison: Comparison) -> pd.DataFrame:
    """One row an effect; interval limits in columns of their own, missing as NaN."""
    import pandas as pd

    rows = []
    for effect in comparison.effects:
        row = plain(effect)
        for name in ("ci95", "ci90"):
            interval = row.pop(name)
            row[f"{name}_low"] = interval["low"] if interval else None
            row[f"{name}_high"] = interval["high"] if interval else None
        row["control"], row["treatment"] = row.pop("arms")
        rows.append(row)
    return pd.DataFrame(rows)


def verdicts_frame(bundle: Bundle) -> pd.DataFrame:
    """One row a verdict, with arm, answerable and slices; unmeasured values as NaN."""
    import pandas as pd

    rows = []
    for arm, verdicts in bundle.verdicts.items():
        for verdict in verdicts:
            question = bundle.questions[verdict.qid]
            slices = {f"slice.{name}": value for name, value in question.slices.items()}
            rows.append(
                {"arm": arm, **plain(verdict), "answerable": question.gold.answerable, **slices}
            )
    return pd.DataFrame(rows)


def traces_frame(bundle: Bundle) -> pd.DataFrame:
    """One row a trace, fields as in ``traces.jsonl``."""
    import pandas as pd

    return pd.DataFrame([plain(t) for traces in bundle.traces.values() for t in traces])
