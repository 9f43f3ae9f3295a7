"""What a YAML needs besides itself to be built and run: files, functions.

Every YAML of every group is tested; one that needs something has its overrides here. A YAML
whose extra or model is not installed says so by ``problems()`` and is then skipped, by name.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

import tiny_models
from chat_server import ChatServer

from ragablate.config import GROUPS, conf_dir


def options(group: str) -> list[str]:
    """Every YAML of a config group."""
    return sorted(p.stem for p in (conf_dir() / group).glob("*.yaml"))


def every() -> list[tuple[str, str]]:
    """Every (group, option) of the catalogue."""
    return [(group, option) for group in GROUPS for option in options(group)]


def together() -> list[list[tuple[str, str]]]:
    """The catalogue in few compositions: one option of each group in each of them."""
    columns = [[(group, option) for option in options(group)] for group in GROUPS]
    return [[one for one in row if one is not None] for row in zip_longest(*columns)]


def overrides(group: str, option: str, folder: Path) -> list[str]:
    """Overrides that make an option complete, with the files they name written to ``folder``."""
    needed = _NEEDS.get((group, option), {})
    lines = []
    for key, value in needed.items():
        if value.startswith("file:"):
            path = folder / value.removeprefix("file:")
            path.write_text(_FILES[path.name], encoding="utf-8")
            value = str(path)
        elif value.startswith("tree:"):
            value = str(_tree(value.removeprefix("tree:"), folder))
        elif value == "folder:":
            value = str(folder)
        elif value == "server:":
            value = _server()
        elif value in ("cross_encoder:", "causal_model:", "inference_model:"):
            value = _model(value.removesuffix(":"))
        whole = "@" in key or key.startswith(f"{group}.")
        lines.append(f"{key}={value}" if whole else f"{group}.{key}={value}")
    return lines


@cache
def _model(kind: str) -> str:
    """A tiny model, made in a process of its own so that no model library is loaded here."""
    folder = Path(tempfile.mkdtemp()) / kind
    atexit.register(shutil.rmtree, folder.parent, ignore_errors=True)
    if tiny_models.EXTRA:
        make = f"import sys, pathlib, tiny_models as t; t.{kind}(pathlib.Path(sys.argv[1]))"
        subprocess.run(
            [sys.executable, "-c", make, str(folder)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        )
    return str(folder)


@cache
def _server() -> str:
    """Address of a chat server that answers with the first passage, for as long as tests run."""
    server = ChatServer()
    atexit.register(server.__exit__)
    return server.__enter__().url


def _tree(name: str, folder: Path) -> Path:
    """A folder with the files of ``_TREES``, the tables of ``parquet`` written by its library."""
    top = folder / name
    for inside, text in _TREES[name].items():
        path = top / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if name == "parquet" and find_spec("pyarrow") is not None:
        import pyarrow
        from pyarrow import parquet

        for table, rows in _TABLES.items():
            parquet.write_table(pyarrow.Table.from_pylist(rows), top / f"{table}.parquet")
    return top


_WRITER: Mapping[str, str] = {
    "reader@rewriter.reader": "function",
    "rewriter.reader.function": "contract_functions:write",
}

_NEEDS: Mapping[tuple[str, str], Mapping[str, str]] = {
    **{("rewriter", name): _WRITER for name in ("standalone", "decompose", "hyde", "iterative")},
    ("rewriter", "function"): {"function": "contract_functions:parts"},
    ("dataset", "jsonl"): {"path": "folder:"},
    ("dataset", "beir"): {"path": "tree:beir"},
    ("dataset", "csv"): {"path": "tree:csv"},
    ("dataset", "parquet"): {"path": "tree:parquet"},
    ("dataset", "squad"): {"path": "file:squad.json"},
    ("dataset", "hotpotqa"): {"path": "file:hotpotqa.json"},
    ("chunker", "function"): {"function": "contract_functions:places"},
    ("chunker", "contextual_written"): {
        "reader@chunker.reader": "function",
        "chunker.reader.function": "contract_functions:write",
    },
    ("retriever", "run_file"): {"path": "file:toy.run"},
    ("retriever", "recency"): {"day": "2026-01-01"},
    ("retriever", "function"): {"function": "contract_functions:search"},
    ("reranker", "cross_encoder"): {"model": "cross_encoder:", "revision": "null"},
    ("reranker", "function"): {"function": "contract_functions:rescore"},
    ("assembler", "replay"): {"path": "file:contexts.jsonl"},
    ("context", "gold_as_in"): {"arm": "control"},
    ("reader", "function"): {"function": "contract_functions:answer"},
    ("reader", "llama_cpp"): {"model": "smollm2", "max_tokens": "4", "runtime.threads": "1"},
    ("reader", "smollm2"): {"max_tokens": "4"},
    ("reader", "transformers"): {
        "model": "causal_model:",
        "max_tokens": "4",
        "runtime.threads": "1",
    },
    ("reader", "litellm"): {"base_url": "server:", "model": "openai/scripted"},
    ("reader", "openai_chat"): {"base_url": "server:", "model": "scripted"},
    ("reader", "replay"): {"path": "file:answers.jsonl"},
    ("dataset", "traces"): {"path": "file:log.jsonl"},
    ("retriever", "logged"): {"path": "file:log.jsonl"},
    ("assembler", "logged"): {"path": "file:log.jsonl"},
    ("reader", "logged"): {"path": "file:log.jsonl"},
    ("gate", "floor"): {"floor": "0.5"},
    ("gate", "gap"): {"floor": "0.5"},
    ("gate", "relevance"): {"floor": "0.5"},
    ("gate", "floor_then_relevance"): {"floor": "0.5", "relevance": "0.5"},
    ("gate", "relevance_read"): {
        "reader@gate.reader": "function",
        "gate.reader.function": "contract_functions:checked",
    },
    ("gate", "combined"): {"weights": "{top: 1.0}"},
    ("gate", "function"): {"function": "contract_functions:let_through"},
    ("judge", "correct_llm"): {
        "correct_llm.endpoint.base_url": "server:",
        "correct_llm.endpoint.model": "scripted",
    },
    ("judge", "faithfulness_llm"): {
        "faithfulness_llm.support.endpoint.base_url": "server:",
        "faithfulness_llm.support.endpoint.model": "scripted",
    },
    ("judge", "faithfulness_nli"): {"faithfulness_nli.support.model": "inference_model:"},
    ("judge", "citation_support_llm"): {
        "citation_support_llm.support.endpoint.base_url": "server:",
        "citation_support_llm.support.endpoint.model": "scripted",
    },
    ("judge", "citation_support_nli"): {"citation_support_nli.support.model": "inference_model:"},
}

BATCHES: Mapping[str, int] = {"llama_cpp": 2, "smollm2": 2}
"""Readers that take seconds a prompt, and how many prompts a batch of the tests holds."""

_QIDS = ("q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8")

_TABLES: Mapping[str, list[dict[str, object]]] = {
    "corpus": [{"id": "p1", "title": "Mirr", "text": "The Mirr is a river of Ostland."}],
    "questions": [
        {"id": "q1", "question": "Where is the Mirr?", "answers": ["Ostland"], "gold_ids": [["p1"]]}
    ],
}

_TREES: Mapping[str, Mapping[str, str]] = {
    "beir": {
        "corpus.jsonl": '{"_id": "p1", "title": "Mirr", "text": "A river.", "metadata": {}}\n',
        "queries.jsonl": '{"_id": "q1", "text": "What is the Mirr?"}\n',
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\tp1\t1\n",
    },
    "csv": {
        "corpus.csv": "id,title,text\np1,Mirr,A river.\n",
        "questions.csv": "id,question,answers,gold_ids\nq1,What is the Mirr?,river,p1\n",
    },
    "parquet": {"SOURCE.md": "Written by tests.\n"},
}

_FILES: Mapping[str, str] = {
    "squad.json": json.dumps(
        {
            "data": [
                {
                    "title": "Mirr",
                    "paragraphs": [
                        {
                            "context": "The Mirr is a river.",
                            "qas": [
                                {
                                    "id": "q1",
                                    "question": "What is the Mirr?",
                                    "answers": [{"text": "river", "answer_start": 14}],
                                }
                            ],
                        }
                    ],
                }
            ]
        }
    ),
    "hotpotqa.json": json.dumps(
        [
            {
                "_id": "q1",
                "question": "What is the Mirr?",
                "answer": "a river",
                "supporting_facts": [["Mirr", 0]],
                "context": [["Mirr", ["The Mirr is a river."]]],
            }
        ]
    ),
    "toy.run": "".join(f"{qid} Q0 p{i} {i} {1 / i} toy\n" for qid in _QIDS for i in range(1, 5)),
    "log.jsonl": "".join(
        json.dumps(
            {
                "qid": qid,
                "question": f"Question {qid}?",
                "retrieved": [{"pid": "p1", "text": "A river.", "score": 2.5}],
                "prompt_pids": ["p1"],
                "answer": "A river.",
                "references": ["river"],
                "gold_pids": ["p1"],
            }
        )
        + "\n"
        for qid in _QIDS
    ),
    "contexts.jsonl": "".join(
        json.dumps(
            {
                "qid": qid,
                "context": {
                    "passages": [
                        {
                            "pid": "p1",
                            "text": "The Mirr is a river.",
                            "body": "The Mirr is a river.",
                        }
                    ]
                },
            }
        )
        + "\n"
        for qid in _QIDS
    ),
    "answers.jsonl": "".join(json.dumps({"qid": qid, "answer": "Varn"}) + "\n" for qid in _QIDS),
}
