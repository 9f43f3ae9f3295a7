"""Validate the comparator on planted worlds, and write the table of results.

    python benchmarks/validation/run.py                  full: most of an hour of CPU
    python benchmarks/validation/run.py --profile fast   400 sets, n = 100: about a minute
    python benchmarks/validation/run.py --only V5 V9     some tests
    python benchmarks/validation/run.py --jobs 2         on two cores

Equal arguments give equal numbers, whatever the number of jobs. Exit code 1 if a band is
missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from validation import contrasts, designs, ladders, traps  # noqa: E402
from validation.rows import Row, markdown, summary  # noqa: E402
from validation.worlds import BY_NAME  # noqa: E402

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Profile:
    """How much is simulated."""

    name: str
    """``fast`` or ``full``."""
    sets: int
    """Sets per setting of everything but ladders."""
    ladder_sets: int
    """Sets per world and number of questions."""
    coverage_n: tuple[int, ...]
    """Numbers of questions of ladders."""
    contrast_n: tuple[int, ...]
    """Numbers of questions of contrasts and designs."""
    widening: float
    """Monte Carlo standard errors that bands are widened by."""


PROFILES = {
    "fast": Profile("fast", 400, 400, (100,), (100,), 3.0),
    "full": Profile("full", 2000, 2000, (30, 50, 100, 200), (20, 50, 100, 200), 0.0),
}
"""The two profiles: in full every band is taken as it stands."""

Job = tuple[str, str, tuple[object, ...]]
"""Module, function and arguments."""


def jobs(profile: Profile, seed: int) -> Iterator[tuple[set[str], Job]]:
    """Every procedure of a profile, with the tests it belongs to; the longest first."""
    full, sets = profile.name == "full", profile.sets
    for n in sorted(profile.coverage_n, reverse=True):
        for world in BY_NAME:
            job = ("ladders", "measure", (world, n, profile.ladder_sets, seed))
            yield {"V2", "V4", "V14"} if world == "co-failing" else {"V2", "V4"}, job
    for n in profile.contrast_n:
        yield {"V7", "V3"}, ("designs", "factorial", (n, sets, seed))
        yield {"V7"}, ("designs", "shares", (n, sets, seed))
        yield {"V7"}, ("designs", "mediation", (n, sets, seed))
        yield {"V3"}, ("contrasts", "nulls", (n, sets, seed))
        yield {"V5"}, ("contrasts", "margin_edge", (n, sets, seed))
        yield {"V6"}, ("contrasts", "shapes", (n, sets, seed))
        yield {"V8"}, ("contrasts", "conditional_trap", (n, sets, seed))
        yield {"V9"}, ("contrasts", "judges", (2 * n, sets, seed))
        yield {"V14"}, ("traps", "collapses", (n, sets, seed))
        yield {"V14"}, ("traps", "missing", (n, sets, seed))
    yield {"V3"}, ("contrasts", "clustered_nulls", (sets, seed))
    documents = (20, 30, 40) if full else (30,)
    yield {"V14"}, ("traps", "by_document", (sets, seed, documents))
    yield {"V14"}, ("traps", "lopsided", (sets, seed))


def perform(job: Job) -> list[Row]:
    """One procedure."""
    module, function, arguments = job
    if module == "ladders":
        world, *rest = arguments
        return list(ladders.measure(BY_NAME[str(world)], *rest))  # type: ignore[arg-type]
    place = {"contrasts": contrasts, "designs": designs, "traps": traps}[module]
    rows: list[Row] = list(getattr(place, function)(*arguments))
    return rows


def validate(
    profile: Profile, only: Sequence[str] = (), cores: int = 1, seed: int = 0
) -> list[Row]:
    """All rows of a profile, by test, in a fixed order."""
    chosen = [job for tests, job in jobs(profile, seed) if not only or tests & set(only)]
    found: list[Row] = []
    with ProcessPoolExecutor(cores) as pool:
        for number, rows in enumerate(pool.map(perform, chosen), 1):
            print(f"{number}/{len(chosen)} {rows[0].test} {rows[0].setting}", file=sys.stderr)
            found += rows
    kept = [row for row in found if not only or row.test in only]
    return sorted(kept, key=lambda row: int(row.test[1:]))


def table(rows: Sequence[Row], profile: Profile) -> str:
    """The page of results."""
    missed = sum(not row.holds(profile.widening) for row in rows)
    lines = [
        f"# Results of the {profile.name} profile",
        "",
        f"{len(rows)} rows, {missed} outside their band. Written by `run.py`; do not edit.",
        "",
        *summary(rows, profile.widening),
        "",
        *markdown(rows, profile.widening),
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Run, print what missed its band, write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--profile", choices=sorted(PROFILES), default="full")
    parser.add_argument("--only", nargs="*", default=[], metavar="TEST")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="default: results.md, for all of full")
    options = parser.parse_args()
    profile = PROFILES[options.profile]
    rows = validate(profile, options.only, options.jobs, options.seed)
    page = table(rows, profile)
    whole = profile.name == "full" and not options.only
    out = options.out or (HERE / "results.md" if whole else None)
    if out is not None:
        out.write_text(page, encoding="utf-8")
    missed = [row for row in rows if not row.holds(profile.widening)]
    print("\n".join(markdown(missed, profile.widening)) if missed else "every band holds")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
