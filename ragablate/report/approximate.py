"""How much of what exact search finds an approximate search of a run found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ragablate.compare.numbers import count
from ragablate.traces import TraceLine

_SIGNALS = ("exact_recall",)


def recalls(traces: Mapping[str, Sequence[TraceLine]]) -> list[str]:
    """One sentence an arm that searched approximately.

    Args:
        traces: By arm.
    """
    found = []
    for arm, lines in traces.items():
        by_qid = {
            (line.qid, name): value
            for line in lines
            for name, value in line.signals.items()
            if name.rsplit(".", 1)[-1] in _SIGNALS
        }
        for name in sorted({name for _, name in by_qid}):
            values = [value for (_, own), value in by_qid.items() if own == name]
            part = f" ({name.rsplit('.', 1)[0]})" if "." in name else ""
            mean = math.fsum(values) / len(values)
            found.append(
                f"{arm}{part}: approximate search found {mean:.3f} of the first ten of exact "
                f"search (mean of {count(len(values), 'question')}, lowest {min(values):.2f})."
            )
    return found
