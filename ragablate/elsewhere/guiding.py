"""The field guide over a log that was sorted: which answers it looks at, and with what at hand."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ragablate.bundle.read import load
from ragablate.dataset.rows import CorpusRow, as_passage, read_rows
from ragablate.diagnose.guide import Cuts, Guided, Known, look
from ragablate.diagnose.guide.case import Embed
from ragablate.diagnose.guide.commands import Commands
from ragablate.diagnose.guide.cuts import cuts
from ragablate.diagnose.guide.hubs import Frequencies
from ragablate.diagnose.traversal import RIGHT, SUPPORTED
from ragablate.elsewhere.bundle_entries import control_of, log_of, with_verdicts
from ragablate.elsewhere.scoring import declined
from ragablate.elsewhere.settings import Settings
from ragablate.elsewhere.sorting import Diagnosis
from ragablate.errors import DatasetError, RagablateError
from ragablate.logs import Entry, Log
from ragablate.logs.choosing import chosen
from ragablate.records import Passage
from ragablate.resources import locate


@dataclass(frozen=True, slots=True)
class Hands:
    """What is at hand besides the log."""

    corpus: tuple[Passage, ...] | None = None
    """The corpus; ``None`` where none is given."""
    corpus_path: str = ""
    """Its file."""
    embed: Embed | None = None
    """Gives vectors; ``None`` without a model."""
    embedder: str = ""
    """The model's name."""
    vectors: Sequence[Sequence[float]] | None = None
    """Deployed vectors of the corpus, in its order."""


def add_guide_options(parser: argparse.ArgumentParser) -> None:
    """Options of the field guide."""
    add = parser.add_argument_group("the field guide").add_argument
    add("--corpus", type=Path, metavar="JSONL",
        help="id and text of passages: BM25 searches them, and a judge reads them")  # fmt: skip
    add("--embedder", default="", metavar="MODEL", help="compare by embeddings, not by words")
    add("--vectors", default="", metavar="NPY", help="deployed vectors of the corpus (numpy.save)")
    add("--cut", action="append", default=[], metavar="NAME=VALUE",
        help="move a cut of conf/diagnose/guide.yaml")  # fmt: skip


class Counted:
    """Entries that are counted for the guide as they go by.

    Args:
        entries: A log's.
        frequencies: Where they are counted.
    """

    def __init__(self, entries: Iterable[Entry], frequencies: Frequencies) -> None:
        self._entries = entries
        self._frequencies = frequencies

    def __iter__(self) -> Iterator[Entry]:
        """The same entries."""
        for entry in self._entries:
            self._frequencies.count(entry)
            yield entry

    @property
    def notes(self) -> tuple[str, ...]:
        """What the log does not say; known at the end."""
        return tuple(getattr(self._entries, "notes", ()))


class GuideBook:
    """The field guide as the command line asks for it.

    Args:
        asked: The command line.
        how: How the log is read.

    Raises:
        DatasetError: Corpus, vectors or model cannot be read.
        DesignError: A cut has no meaning.
    """

    def __init__(self, asked: argparse.Namespace, how: Settings) -> None:
        if asked.vectors and asked.corpus is None:
            raise DatasetError(["--vectors says nothing without --corpus: give both."])
        # One cut for the buckets and for the guide, unless the guide's own is moved.
        own = [] if how.supported == SUPPORTED else [f"faithful={how.supported}"]
        self.cuts = cuts([*own, *asked.cut])
        self.how = how
        self.keep_going = bool(asked.keep_going)
        self.frequencies = Frequencies(self.cuts.depth)
        corpus = None if asked.corpus is None else read_corpus(str(asked.corpus))
        self.hands = Hands(
            corpus=corpus,
            corpus_path="" if asked.corpus is None else str(corpus_file(str(asked.corpus))),
            embed=embedder(asked.embedder) if asked.embedder else None,
            embedder=asked.embedder,
            vectors=read_vectors(asked.vectors, len(corpus or ())) if asked.vectors else None,
        )

    def counted(self, entries: Iterable[Entry]) -> Counted:
        """The entries of the log, counted as they go by."""
        return Counted(entries, self.frequencies)

    def look(self, path: Path, arm: str, found: Diagnosis) -> Guided:
        """What the guide says of the failed answers of a log, or of an arm of a bundle.

        Raises:
            DatasetError: The log cannot be read again.
        """
        failed = [qid for one in found.failures for qid in one.qids]
        sample = sampled(failed, self.cuts.most)
        how = self.how
        file = str(log_of(path, arm))
        log = chosen(file, how.format, how.fields, sample, self.keep_going)
        commands = commands_of(log, how, self.hands)
        if path.is_dir():
            bundle = load(path)
            log = replace(log, entries=tuple(with_verdicts(log.entries, bundle, arm)))
            commands = replace(commands, control=control_of(bundle, arm))
        return guided(log, len(failed), how, self.cuts, self.hands, self.frequencies, commands)


def sampled(qids: Sequence[str], most: int) -> frozenset[str]:
    """At most so many questions, by the hash of their ids, so by nothing they say; 0 takes all."""
    return frozenset(sorted(qids, key=_place)[: most or None])


def _place(qid: str) -> tuple[str, str]:
    return hashlib.sha256(qid.encode("utf-8", "surrogatepass")).hexdigest(), qid


def guided(
    log: Log,
    failed: int,
    how: Settings,
    lines: Cuts,
    hands: Hands,
    frequencies: Frequencies,
    commands: Commands,
) -> Guided:
    """Look at failed answers, of a question with several decodes at the first that failed.

    Args:
        log: The answers that are looked at.
        failed: Failed questions of the whole log.
        how: How the log is read.
        lines: Where the guide draws its lines.
        hands: What is at hand.
        frequencies: How often passages are ranked in the whole log.
        commands: What writes the experiments.
    """
    first: dict[str, Entry] = {}
    for entry in sorted(log.entries, key=lambda e: e.replicate):
        if entry.qid not in first or _right(first[entry.qid], how.measure):
            first[entry.qid] = entry
    known = Known(log.texts, hands.corpus, hands.embed, hands.embedder, hands.vectors)
    phrases = how.all_phrases
    answers = [(entry, declined(entry, phrases)) for entry in first.values()]
    return look(answers, known, lines, frequencies, commands, failed)


def _right(entry: Entry, measure: str) -> bool:
    """Whether a decode is known to be right, so that another one of the question failed."""
    return not entry.error and entry.verdicts.get(measure, 0.0) >= RIGHT


def commands_of(log: Log, how: Settings, hands: Hands) -> Commands:
    """What writes experiments over a log."""
    model = next((entry.model for entry in log.entries if entry.model), "") or "MODEL"
    form = log.format if log.format in ("openinference", "ragas", "ragchecker") else "auto"
    return Commands(log.path, form, how.fields, hands.corpus_path or "CORPUS", model)


def read_corpus(path: str) -> tuple[Passage, ...]:
    """The passages of a file of JSON lines with ``id`` and ``text``, and ``title`` and ``meta``.

    Args:
        path: The file, or a folder that holds it as ``corpus.jsonl``.

    Raises:
        DatasetError: It cannot be read, a line of it is broken, or an id stands in it twice.
    """
    file = corpus_file(path)
    problems: list[str] = []
    rows = read_rows(file, CorpusRow, problems)
    passages = {p.pid: p for p in (as_passage(row) for _, row in rows.found)}
    if not problems and len(passages) < len(rows.found):
        problems.append(f"{file} holds an id twice. Give every passage an id of its own.")
    if not problems and not passages:
        problems.append(f"{file} holds no passage. Write one JSON object with id and text a line.")
    if problems:
        raise DatasetError(problems[:20])
    return tuple(passages.values())


def corpus_file(path: str) -> Path:
    """The file of a corpus.

    Raises:
        DatasetError: There is none.
    """
    try:
        file = locate(path)
    except RagablateError as error:
        raise DatasetError([f"--corpus {path}: {error}"]) from error
    file = file / "corpus.jsonl" if file.is_dir() else file
    if not file.is_file():
        raise DatasetError([f"--corpus: there is no file {file}. Give JSON lines of id and text."])
    return file


def read_vectors(path: str, passages: int) -> Sequence[Sequence[float]]:
    """Vectors of a corpus from a NumPy file, one row a passage in the corpus' order.

    Raises:
        DatasetError: The file cannot be read, or has another number of rows.
    """
    import numpy as np

    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DatasetError([f"--vectors {path}: {error}. Give a file of numpy.save."]) from error
    if getattr(found, "ndim", 0) != 2 or len(found) != passages:
        shape = getattr(found, "shape", "none")
        raise DatasetError(
            [f"--vectors {path}: its shape is {shape}; give one row for each of the {passages:,} "
             "passages of the corpus, in its order."]
        )  # fmt: skip
    rows: list[list[float]] = found.astype(float).tolist()
    return rows


def embedder(model: str) -> Embed:
    """Vectors by a sentence-transformers model, as long as the model makes them.

    Raises:
        DatasetError: The extra or the model is missing.
    """
    from ragablate.embed.embedder import Embedder
    from ragablate.embed.models import model_problems

    problems = model_problems(model, None)
    if problems:
        raise DatasetError([f"--embedder: {problem}" for problem in problems])
    embedding = Embedder(model, normalize=False)

    def embed(role: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        rows = embedding.embed("query" if role == "query" else "passage", "", list(texts))
        found: list[list[float]] = rows[:].tolist()
        return found

    return embed
