"""How long chunkers take, beside the plain library, on the same documents in one process.

    python benchmarks/chunking.py [--data DIR] [--megabytes 50] [--only fixed recursive]

The passages of ``DIR/corpus.jsonl`` are joined under headings to documents of some fifty
kilobytes, repeated until there are enough. Every chunker runs as the runner runs it, each passage
held to its document; times are wall clock. The library is semantic-text-splitter, called on the
same documents without making a passage of what it cuts. Peak memory is not limited to one
chunker: passages of the one before are freed first.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import semantic_text_splitter

from ragablate.chunk.contextual import Contextual
from ragablate.chunk.fixed import Fixed
from ragablate.chunk.parent import Parent
from ragablate.chunk.recursive import Recursive
from ragablate.chunk.section import Sections
from ragablate.chunk.sentence import Sentence
from ragablate.records import Document
from ragablate.searched import cut

SHIPPED = Path(__file__).resolve().parent.parent / "ragablate" / "data" / "quickstart"
CHUNKERS: dict[str, Callable[[], Any]] = {
    "fixed": Fixed,
    "fixed, overlap 50": lambda: Fixed(200, 50),
    "sentence": Sentence,
    "recursive": Recursive,
    "section": Sections,
    "contextual": lambda: Contextual(Fixed()),
    "parent": lambda: Parent(Fixed(), Sentence(1)),
}


def main() -> int:
    args = arguments()
    documents = list(replicated(args.data / "corpus.jsonl", int(args.megabytes * 1e6)))
    size = sum(len(document.text.encode()) for document in documents) / 1e6
    print(f"{len(documents)} documents, {size:.1f} MB")
    plain, cuts = timed(lambda: library(documents))
    print(f"{'plain library':<20} {plain:>6.1f} s  {cuts:>9,} passages")
    for name, make in CHUNKERS.items():
        if args.only and name.split(",")[0] not in args.only:
            continue
        took, number = timed(lambda make=make: len(cut(make(), documents, silent)))
        print(
            f"{name:<20} {took:>6.1f} s  {number:>9,} passages  {size / took:>6.1f} MB/s  "
            f"{took / plain:>5.1f} times the plain library"
        )
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=SHIPPED, help="folder with corpus.jsonl")
    parser.add_argument("--megabytes", type=float, default=50.0)
    parser.add_argument("--only", nargs="*", help="names of chunkers")
    return parser.parse_args()


def replicated(path: Path, wanted: int) -> Iterator[Document]:
    rows = [json.loads(line) for line in path.open(encoding="utf-8")]
    made, number, parts, length = 0, 0, list[str](), 0
    while made < wanted:
        for row in rows:
            part = f"## {row.get('title') or 'Untitled'}\n\n{row['text']}\n\n"
            parts.append(part)
            length += len(part.encode())
            if length >= 50_000:
                yield Document(f"d{number}", "".join(parts), f"Document {number}")
                made, number, parts, length = made + length, number + 1, [], 0
            if made >= wanted:
                return


def library(documents: list[Document]) -> int:
    splitter = semantic_text_splitter.TextSplitter(1000)
    return sum(len(splitter.chunk_indices(document.text)) for document in documents)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def silent(stage: str, done: int, total: int) -> None:
    """A progress that is not shown."""


if __name__ == "__main__":
    sys.exit(main())
