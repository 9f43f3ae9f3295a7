"""Two standard errors of one mean difference: for questions like these, and for these alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ragablate.compare.inference.arrays import cluster_codes, cluster_sums
from ragablate.compare.scores import Pairs


def over_questions(pairs: Pairs, keys: Sequence[str] | None) -> float | None:
    """Standard error for questions like these: sqrt(s2_D / n), clustered where a key repeats.

    With G clusters of summed deviations S_g it is sqrt(G/(G - 1) * sum S_g^2) / n. ``None``
    with fewer than two questions or clusters.

    Sources: Miller, "Adding error bars to evals"; Cameron and Miller, "A practitioner's guide
    to cluster-robust inference".
    """
    differences = pairs.differences
    n = len(differences)
    if n < 2:
        return None
    mean = math.fsum(differences) / n
    deviations = np.asarray([d - mean for d in differences], dtype=np.float64)
    codes = cluster_codes(None if keys is None else tuple(keys), n)
    sums = deviations if codes is None else cluster_sums(deviations, codes)
    units = len(sums)
    if units < 2:
        return None
    squares = math.fsum(float(s) ** 2 for s in sums)
    return math.sqrt(units / (units - 1) * squares) / n


def over_decodes(pairs: Pairs) -> float | None:
    """Standard error for exactly these questions: sqrt(within / (K n)).

    ``None`` where questions were decoded once. Source: Wang, "Measuring all the noises of LLM
    evals".
    """
    if pairs.within is None or not pairs.qids:
        return None
    return math.sqrt(pairs.within / (pairs.replicates * len(pairs.qids)))
