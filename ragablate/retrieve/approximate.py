"""The node ``approximate`` of the dense retriever: nearest neighbours by a graph of faiss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragablate.retrieve.exact import Matrix

INDEXES = ("none", "hnsw")
_DEFAULTS: Mapping[str, Any] = {"index": "none", "links": 32, "build": 200, "search": 64}
_FIRST = 10


def approximate_of(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The node with defaults for what it leaves out."""
    return {**_DEFAULTS, **(given or {})}


def approximate_problems(given: Mapping[str, Any] | None) -> list[str]:
    """Knobs that do not exist or have no meaning, and a missing extra."""
    node = approximate_of(given)
    found = [
        f"approximate.{name} is no knob: the knobs are {', '.join(_DEFAULTS)}"
        for name in node
        if name not in _DEFAULTS
    ]
    if node["index"] not in INDEXES:
        found.append(f"approximate.index is {node['index']!r}: give {' or '.join(INDEXES)}")
    for name in ("links", "build", "search"):
        value = node[name]
        if isinstance(value, bool) or not isinstance(value, int) or value < (name == "links") + 1:
            least = (name == "links") + 1
            found.append(f"approximate.{name} is {value!r}: give a number from {least}")
    if node["index"] == "hnsw" and find_spec("faiss") is None:
        found.append(
            "approximate.index=hnsw needs faiss, which is not installed: pip install "
            "'ragablate[approximate]'"
        )
    return found


class Graph:
    """A hierarchical navigable small world (Malkov and Yashunin 2018) over passages.

    It is built and searched by one thread and from a fixed seed of the library, so that equal
    vectors give equal graphs and neighbours.

    Args:
        passages: One row a passage.
        links: Links of a passage (M).
        build: How many candidates are looked at when a passage is put in (efConstruction).
        search: How many are looked at in a search (efSearch), at least the depth.
    """

    def __init__(self, passages: Matrix, links: int, build: int, search: int) -> None:
        faiss = _faiss()
        self._passages = passages
        self._search = search
        self._index = faiss.IndexHNSWFlat(passages.shape[1], links, faiss.METRIC_INNER_PRODUCT)
        self._index.hnsw.efConstruction = build
        with _one_thread():
            self._index.add(passages[:])

    def search(
        self, query: NDArray[np.float32], k: int, digits: int, mask: NDArray[np.bool_] | None
    ) -> tuple[list[int], list[float]]:
        """Rows and scores, best first, of what was found among the ``k`` nearest.

        Scores are those of exact search. A mask leaves rows out while the graph is walked: where
        few rows pass, parts of the graph may not be reached, and fewer than ``k`` are found.
        """
        import numpy as np

        from ragablate.retrieve.exact import inner_products, rounded

        faiss = _faiss()
        knobs: dict[str, Any] = {"efSearch": max(self._search, k)}
        if mask is not None:
            knobs["sel"] = faiss.IDSelectorBatch(np.flatnonzero(mask))
        with _one_thread():
            _, found = self._index.search(
                query[None], k, params=faiss.SearchParametersHNSW(**knobs)
            )
        rows = np.sort(found[0][found[0] >= 0])
        if not rows.size:
            return [], []
        scores = rounded(inner_products(query, self._passages, rows), digits)
        order = np.lexsort((rows, -scores))
        return rows[order].tolist(), scores[order].tolist()


def recall(found: Sequence[int], exact: Sequence[int]) -> dict[str, float]:
    """The signal ``exact_recall``: share of exact search's first ten that were found.

    Nothing where exact search finds nothing.
    """
    wanted = set(exact[:_FIRST])
    if not wanted:
        return {}
    return {"exact_recall": len(wanted & set(found[:_FIRST])) / len(wanted)}


def _faiss() -> Any:
    # Its type hints lack what it makes up when it is imported.
    return import_module("faiss")


@contextmanager
def _one_thread() -> Iterator[None]:
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
