"""Choosing the next token of every text of a batch, and knowing whether rounding decided it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch
from transformers import LogitsProcessor

_ROUNDING = 1e-4
"""Of logits as large as the row's largest: a judgement, about a thousand times the precision of
single floats, and so little that few tokens are as close to each other."""
_SHARE = 1e-4
"""Of the probability, by which ``top_p`` may be missed."""


class Chooser(LogitsProcessor):
    """Makes the likeliest token of what it returns the choice of every text.

    At a temperature the choice is the largest sum of a token's log-probability and Gumbel
    noise (the Gumbel-max trick: Gumbel 1954; Maddison, Tarlow and Minka 2014), which draws
    from the softmax. The noise of a text comes from its own seed, so that it is the same
    whatever the text is batched with.

    Args:
        seeds: One a text.
        temperature: 0 adds no noise.
        top_p: Share of the probability that is drawn from.
        ends: Tokens after which a text is of no interest.
    """

    def __init__(
        self, seeds: Sequence[int], temperature: float, top_p: float, ends: Collection[int]
    ) -> None:
        self._temperature = temperature
        self._top_p = top_p
        self._ends = ends
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._sure = [True] * len(seeds)
        self._begun = False

    def sure(self) -> list[bool]:
        """By text, whether every choice held by more than rounding."""
        return list(self._sure)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Scores [texts, tokens] with the chosen token on top."""
        logits = scores.float()
        over = [self._begun and int(last) in self._ends for last in input_ids[:, -1]]
        self._begun = True
        room = _ROUNDING * (1 + _largest(logits))
        if self._temperature > 0:
            chosen, doubtful = self._drawn(logits, room)
        else:
            best = logits.topk(min(2, logits.shape[-1]))
            chosen = best.indices[:, 0]
            doubtful = (best.values[:, 0] - best.values[:, -1]) <= 2 * room
        for row, doubt in enumerate(doubtful.tolist()):
            if doubt and not over[row]:
                self._sure[row] = False
        result = torch.full_like(scores, -float("inf"))
        return result.scatter(1, chosen[:, None], 0.0)

    def _drawn(self, logits: Any, room: Any) -> tuple[Any, Any]:
        """The drawn token of every text, and whether rounding may have drawn it."""
        scaled = (logits - logits.amax(-1, keepdim=True)) / self._temperature
        noise = torch.stack([_gumbel(scaled.shape[-1], g) for g in self._generators])
        noisy = scaled + noise.to(scaled.device)
        chosen = noisy.masked_fill(~_nucleus(scaled, self._top_p), -float("inf")).argmax(-1)
        doubtful = torch.zeros_like(chosen, dtype=torch.bool)
        if self._top_p < 1:
            for share in (self._top_p - _SHARE, min(1.0, self._top_p + _SHARE)):
                inside = _nucleus(scaled, share)
                doubtful |= noisy.masked_fill(~inside, -float("inf")).argmax(-1) != chosen
        kept = noisy.masked_fill(~_nucleus(scaled, self._top_p), -float("inf"))
        best = kept.topk(min(2, kept.shape[-1])).values
        close = (best[:, 0] - best[:, -1]) <= 2 * room / self._temperature
        return chosen, doubtful | close


def _nucleus(scaled: Any, share: float) -> Any:
    """Mask [texts, tokens] of the smallest set with a share of the probability (Holtzman 2020)."""
    if share >= 1:
        return torch.ones_like(scaled, dtype=torch.bool)
    ordered, where = scaled.softmax(-1).sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(-1) - ordered
    inside = before < max(share, 0.0)
    inside[:, 0] = True
    return torch.zeros_like(inside).scatter(1, where, inside)


def _largest(logits: Any) -> Any:
    finite = torch.where(torch.isfinite(logits), logits.abs(), torch.zeros_like(logits))
    return finite.amax(-1)


def _gumbel(count: int, generator: Any) -> Any:
    return -torch.empty(count).exponential_(generator=generator).log()
