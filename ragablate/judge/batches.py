"""Judges that ask about the claims of many answers at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ragablate.judge.outcome import Detailed, Items, Measured, item, same
from ragablate.judge.support import Ask, Support
from ragablate.protocols import JudgeRequest
from ragablate.records import Claim, Failure, Item, Measure

_TOGETHER = 32
"""Answers at a time: enough to keep an endpoint's places busy, few enough to lose in a crash."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What has to be known of one answer, and what it is worth then."""

    asks: Sequence[Ask]
    """Decided in this order."""
    measure: Callable[[list[Claim]], Mapping[str, Measured | Detailed]]
    """From what was decided to the value of every measure."""

    @staticmethod
    def settled(measures: Sequence[Measure], measured: Measured) -> Wanted:
        """Nothing has to be known: every measure is worth the same."""
        return Wanted((), lambda _: same(measures, measured))


@dataclass(frozen=True, slots=True)
class Batched:
    """Judges answers in batches, each claim with the same passages once."""

    support: Support
    """What decides about claims."""
    measures: Sequence[Measure]
    """What is measured."""
    wanted: Callable[[JudgeRequest], Wanted]
    """What has to be known of an answer."""

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """One item per request, in order, as every batch is decided."""
        for start in range(0, len(requests), _TOGETHER):
            batch = requests[start : start + _TOGETHER]
            wanted = [self.wanted(request) for request in batch]
            asks = list(dict.fromkeys(ask for each in wanted for ask in each.asks))
            decided = dict(zip(asks, self.support.check(asks), strict=True))
            for request, each in zip(batch, wanted, strict=True):
                found = [decided[ask] for ask in each.asks]
                failed = next((f for f in found if isinstance(f, Failure)), None)
                if failed is not None:
                    yield Item(request.id, None, failed)
                else:
                    claims = [claim for claim in found if isinstance(claim, Claim)]
                    yield item(request, self.measures, each.measure(claims))
