"""F4: answers that rest on a passage which no longer holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragablate.assemble.duplicates import SHINGLE, shingles
from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.decision import ERROR, FABRICATED, REFUSED_RIGHTLY
from ragablate.diagnose.guide.finding import Evidence
from ragablate.judge.figures import facts
from ragablate.judge.markers import find_markers
from ragablate.records import Passage, Scalar

_QUOTED = 160


@dataclass(frozen=True, slots=True)
class _Version:
    """A passage that says nearly the same as another."""

    passage: Passage
    share: float


def superseded(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Passages that answers rest on and that metadata, or a newer version, call outdated."""
    resting: dict[str, list[str]] = defaultdict(list)
    gold: dict[str, frozenset[str]] = {}
    for case in cases:
        if case.label not in (ERROR, FABRICATED, REFUSED_RIGHTLY):
            gold[case.qid] = case.gold
            for pid in rested_on(case):
                resting[pid].append(case.qid)
    at_hand = {pid: known.passages[pid] for pid in resting if pid in known.passages}
    versions = _versions(at_hand, known, cuts)
    for pid, passage in sorted(at_hand.items()):
        found = _by_status(passage, cuts) or _by_version(passage, versions[pid], cuts)
        if found is None:
            golden = frozenset().union(*(gold[qid] for qid in resting[pid]))
            found = _by_gold(passage, versions[pid], golden)
        if found is not None:
            says, pids, scores = found
            quotes = tuple(known.text(p)[:_QUOTED] for p in (pid, *pids))
            yield Evidence(tuple(sorted(set(resting[pid]))), says, (pid, *pids), scores, quotes)


def rested_on(case: Case) -> tuple[str, ...]:
    """What an answer cites, by pid or by place in the prompt; all that was shown without that."""
    shown = case.entry.shown or ()
    cited = []
    for marker in find_markers(case.entry.answer or "", frozenset(shown)):
        if marker.item in shown:
            cited.append(marker.item)
        elif marker.item.isdecimal() and 1 <= int(marker.item) <= len(shown):
            cited.append(shown[int(marker.item) - 1])
    return tuple(dict.fromkeys(cited)) or shown


_Found = tuple[str, tuple[str, ...], dict[str, float]]


def _by_status(passage: Passage, cuts: Cuts) -> _Found | None:
    meta = passage.meta
    for key in cuts.successor_keys:
        if meta.get(key):
            return f"{passage.pid}: {key} is {meta[key]}", (str(meta[key]),), {}
    for key in cuts.status_keys:
        value = meta.get(key)
        if value is not None and str(value) not in cuts.current:
            return f"{passage.pid}: {key} is {value}", (), {}
    return None


def _by_version(passage: Passage, versions: Sequence[_Version], cuts: Cuts) -> _Found | None:
    own = _date(passage.meta, cuts)
    newer = [(_date(v.passage.meta, cuts), v) for v in versions]
    later = [(date, v.share, v.passage.pid) for date, v in newer if own and date > own]
    if not later:
        return None
    date, share, pid = max(later)
    says = f"{passage.pid} is of {own}, and {pid}, which says nearly the same, of {date}"
    return says, (pid,), {"overlap": round(share, 3)}


def _by_gold(passage: Passage, versions: Sequence[_Version], gold: frozenset[str]) -> _Found | None:
    """Without dates: another version carries the gold, and states other figures."""
    if passage.pid in gold:
        return None
    for version in versions:
        other = version.passage
        if other.pid in gold and facts(other.text) != facts(passage.text):
            says = (f"{passage.pid} says nearly the same as {other.pid}, which carries the gold, "
                    "with other figures")  # fmt: skip
            return says, (other.pid,), {"overlap": round(version.share, 3)}
    return None


def _date(meta: Mapping[str, Scalar], cuts: Cuts) -> str:
    """The first date of a passage's metadata, as ISO 8601 sorts; empty without one."""
    return next((str(meta[key]) for key in cuts.date_keys if meta.get(key)), "")


def _versions(
    wanted: Mapping[str, Passage], known: Known, cuts: Cuts
) -> Mapping[str, list[_Version]]:
    """Every passage at hand that resembles a wanted one, by its pid."""
    own = {pid: shingles(p.text) for pid, p in wanted.items()}
    holding: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for pid, runs in own.items():
        for run in runs:
            holding[run].append(pid)
    rough = frozenset(run for p in wanted.values() for run in _rough(p.text))
    found: dict[str, list[_Version]] = defaultdict(list)
    for other in known.passages.values() if holding else ():
        if rough.isdisjoint(_rough(other.text)):
            continue
        runs = shingles(other.text)
        common = Counter(pid for run in runs for pid in holding.get(run, ()))
        for pid, n in common.items():
            share = n / (len(runs) + len(own[pid]) - n)
            if pid != other.pid and share >= cuts.version_overlap:
                found[pid].append(_Version(other, share))
    return found


def _rough(text: str) -> Iterator[object]:
    """Runs of words as white space parts them, which versions share many of: quick to compare.

    A text of fewer words, as of a script without spaces, has one that all such texts share.
    """
    words = text.casefold().split()
    if len(words) < SHINGLE:
        return iter((None,))
    return zip(*(words[n:] for n in range(SHINGLE)), strict=False)
