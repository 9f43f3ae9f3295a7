"""A retriever whose rankings somebody computed before: a TREC run."""

from __future__ import annotations

import gzip
import hashlib
import math
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragablate.errors import AdapterError
from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Failure, Hit, Item, Ranking
from ragablate.resources import locate
from ragablate.retrieve.restrict import depth_problems, restriction

_ABSENT = ("unmeasured", "empty")
_GZIP = b"\x1f\x8b"


class _Line(NamedTuple):
    number: int
    hit: Hit


class RunFile:
    """Rankings read from a TREC run, by the qid of the question.

    The text of a search is not looked at, so a rewriter changes nothing about them; only
    that it searches nothing at all, or often, does. Of a question that the run does not name
    it cannot be told whether nothing was found or nobody searched: it is unmeasured, or gets
    an empty ranking where ``absent`` says so. Lines are ordered by descending score, as
    trec_eval orders them, and the column of ranks is ignored; ties go by ascending pid, as
    everywhere here (trec_eval takes them by descending pid).

    Args:
        path: A file with lines ``qid Q0 pid rank score tag``, separated by white space, plain
            or gzipped, in UTF-8; or ``pkg://PACKAGE/FILE`` for a file inside an installed
            package.
        depth: How many passages a ranking holds at most.
        pool: Whether a question's pool restricts what is ranked.
        apply_filter: Whether a question's metadata filter restricts what is ranked.
        absent: What a question without a line in the run is: ``unmeasured``, or ``empty``,
            searched without a find.
    """

    def __init__(
        self,
        path: str,
        depth: int = 100,
        pool: bool = False,
        apply_filter: bool = False,
        absent: str = "unmeasured",
    ) -> None:
        self.path = path
        self.depth = depth
        self.pool = pool
        self.apply_filter = apply_filter
        self.absent = absent
        self._run: dict[str, list[_Line]] | None = None

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """Look up the ranking of each search's question.

        Raises:
            AdapterError: The file is missing or a line of it is malformed, or the corpus has
                no passage that a ranking names.
        """
        problems = self.problems()
        if problems:
            raise AdapterError(problems[0])
        if self._run is None:
            self._run = _parse(self.path, self._read())
        for request in requests:
            qid = request.question.qid
            if qid not in self._run and self.absent == "unmeasured":
                reason = (
                    f"the run '{self.path}' does not name question '{qid}': take a run of these "
                    "questions, or set absent=empty where it means that nothing was found"
                )
                yield Item(request.id, None, Failure("infrastructure", reason))
            else:
                yield Item(request.id, self._ranking(corpus, request, self._run))

    def problems(self) -> list[str]:
        """A missing file, a depth that keeps nothing, or an unknown ``absent``."""
        try:
            missing = not locate(self.path).is_file()
        except AdapterError as error:
            return [str(error)]
        found = [f"the run '{self.path}' does not exist: correct path"] if missing else []
        if self.absent not in _ABSENT:
            found.append(f"absent is '{self.absent}': set it to {' or '.join(_ABSENT)}")
        return found + depth_problems(self.depth)

    def identity(self) -> dict[str, object]:
        """The sha256 of the file in place of its path; the path where there is no file."""
        if not locate(self.path).is_file():
            return {}
        return {"path": f"sha256:{hashlib.sha256(self._read()).hexdigest()}"}

    def _read(self) -> bytes:
        try:
            return locate(self.path).read_bytes()
        except OSError as error:
            raise AdapterError(
                f"the run '{self.path}' cannot be read: {error.strerror or error}"
            ) from error

    def _ranking(
        self, corpus: Corpus, request: SearchRequest, run: dict[str, list[_Line]]
    ) -> Ranking:
        passes = restriction(corpus, request.question, self.pool, self.apply_filter)
        hits = []
        for number, hit in run.get(request.question.qid, ()):
            passage = corpus.by_pid.get(hit.pid)
            if passage is None:
                raise AdapterError(
                    f"{self.path}, line {number}: passage '{hit.pid}', ranked for question "
                    f"'{request.question.qid}', is not in the corpus: was the run made over "
                    "another corpus, or the corpus cut by a chunker since?"
                )
            if passes is None or passes(passage):
                hits.append(hit)
        return tuple(hits[: self.depth])


def _parse(path: str, data: bytes) -> dict[str, list[_Line]]:
    """The lines of every qid, best first."""
    run: dict[str, list[_Line]] = {}
    seen: dict[tuple[str, str], int] = {}
    for number, raw in enumerate(_unpacked(path, data).split(b"\n"), start=1):
        if not raw.strip():
            continue
        qid, hit = _line(f"{path}, line {number}", raw)
        first = seen.setdefault((qid, hit.pid), number)
        if first != number:
            raise AdapterError(
                f"{path}, line {number}: passage '{hit.pid}' is ranked for question '{qid}' on "
                f"line {first} already: keep one of the two"
            )
        run.setdefault(qid, []).append(_Line(number, hit))
    for lines in run.values():
        lines.sort(key=lambda line: (-line.hit.score, line.hit.pid))
    return run


def _unpacked(path: str, data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data.removeprefix(b"\xef\xbb\xbf")
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise AdapterError(f"the run '{path}' is gzipped but damaged: {error}") from error


def _line(where: str, raw: bytes) -> tuple[str, Hit]:
    try:
        # Split as bytes: only ASCII white space separates, a pid may hold any other.
        columns = [column.decode("utf-8") for column in raw.split()]
    except UnicodeDecodeError as error:
        raise AdapterError(f"{where}: not UTF-8; save the run as UTF-8") from error
    if len(columns) != 6:
        raise AdapterError(
            f"{where}: {len(columns)} columns, not the six of a TREC run (qid Q0 pid rank score "
            "tag), separated by white space"
        )
    qid, _, pid, _, score, _ = columns
    try:
        value = float(score)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise AdapterError(f"{where}: the score '{score}' is not a finite number")
    return qid, Hit(pid, value)
