"""What a referee would try: moves by document, lopsided scores, answers missing by design."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from validation.contrasts import Arms, Rng, detected, rng_of
from validation.rows import Row
from validation.studies import two_arms


def by_document(count: int, seed: int, sizes: tuple[int, ...] = (20, 30, 40)) -> Iterator[Row]:
    """Few documents change, and then all their questions together."""
    for documents in sizes:
        for up, down, margin in ((0.05, 0.05, 0.10), (0.10, 0.0, 0.10), (0.075, 0.025, 0.05)):
            rng = rng_of(f"V14 documents {documents} {up}", seed)
            keys = np.repeat(np.arange(documents), 5)
            covered = flat = 0
            for _ in range(count):
                kind = rng.random(documents)[keys]
                control = np.where(kind < up, 0.0, 1.0)
                treatment = np.where((kind >= up) & (kind < up + down), 0.0, 1.0)
                found = two_arms(control, treatment, documents=keys, margin=margin)
                assert found.ci95 is not None
                covered += found.ci95.low <= up - down <= found.ci95.high
                flat += found.state == "flat"
            setting = f"{documents} documents, {up:.1%} better, {down:.1%} worse"
            yield Row("V14", "coverage", setting, covered / count, count, 0.93, None)
            if np.isclose(up - down, margin):
                text = f"called flat at the margin {margin}"
                yield Row("V14", text, setting, flat / count, count, None, 0.06)


def collapses(n: int, count: int, seed: int) -> Iterator[Row]:
    """Half of the questions gain a tenth, one in twenty collapses: nothing on average."""
    rng = rng_of(f"V14 collapses {n}", seed)
    found = sum(detected(two_arms(*_collapses(n, rng))) for _ in range(count)) / count
    text = "many small gains, few collapses: detected"
    yield Row("V14", text, f"n = {n}, 10 decodes", found, count, None, 0.06)


def _collapses(n: int, rng: Rng) -> Arms:
    kind, decodes = rng.random(n), np.arange(10)
    gains, collapses_ = kind < 0.5, kind >= 0.95
    control = np.where(collapses_[:, None], 1.0, decodes < 5)
    treatment = np.where(collapses_[:, None], 0.0, decodes < np.where(gains, 6, 5)[:, None])
    return control, treatment


def lopsided(count: int, seed: int) -> Iterator[Row]:
    """Half of the documents gain a question, a tenth lose five: nothing on average."""
    for documents in (10, 20, 40):
        rng = rng_of(f"V14 lopsided {documents}", seed)
        keys = np.repeat(np.arange(documents), 5)
        place = np.tile(np.arange(5), documents)
        found = 0
        for _ in range(count):
            kind = rng.random(documents)[keys]
            gains, loses = (kind < 0.5) & (place == 0), kind >= 0.9
            control = np.where(gains, 0.0, 1.0)
            treatment = np.where(loses, 0.0, 1.0)
            found += detected(two_arms(control, treatment, documents=keys))
        setting = f"{documents} documents"
        yield Row("V14", "lopsided documents: detected", setting, found / count, count, None, 0.06)


def missing(n: int, count: int, seed: int) -> Iterator[Row]:
    """Nothing changes on average, and the treatment has no answer where it would be worse."""
    rng = rng_of(f"V14 missing {n}", seed)
    up = naive = 0
    for _ in range(count):
        control, treatment = _half_and_half(n, rng)
        worse = np.flatnonzero(treatment < control)
        rng.shuffle(worse)
        holes = treatment.copy()
        holes[worse[: n // 20]] = np.nan
        up += two_arms(control, holes).state == "up"
        kept = ~np.isnan(holes)
        naive += two_arms(control[kept], holes[kept]).state == "up"
    setting = f"n = {n}, 5 % missing"
    yield Row("V14", "worst answers missing: said to be up", setting, up / count, count, None, 0.03)
    yield Row("V14", "the same on complete pairs alone", setting, naive / count, count)


def _half_and_half(n: int, rng: Rng) -> Arms:
    kind = rng.random(n)
    control = np.where(kind < 0.1, 0.0, 1.0)
    treatment = np.where((kind >= 0.1) & (kind < 0.2), 0.0, 1.0)
    return control, treatment
