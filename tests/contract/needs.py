"""What a YAML needs besides itself to be built and run: files, functions.

Every YAML of every group is tested; one that needs something has its overrides here. A YAML
whose extra or model is not installed says so by ``problems()`` and is then skipped, by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ragablate.config import GROUPS, conf_dir


def options(group: str) -> list[str]:
    """Every YAML of a config group."""
    return sorted(p.stem for p in (conf_dir() / group).glob("*.yaml"))


def every() -> list[tuple[str, str]]:
    """Every (group, option) of the catalogue."""
    return [(group, option) for group in GROUPS for option in options(group)]


def overrides(group: str, option: str, folder: Path) -> list[str]:
    """Overrides that make an option complete, with the files they name written to ``folder``."""
    needed = _NEEDS.get((group, option), {})
    lines = []
    for key, value in needed.items():
        if value.startswith("file:"):
            path = folder / value.removeprefix("file:")
            path.write_text(_FILES[path.name], encoding="utf-8")
            value = str(path)
        elif value == "folder:":
            value = str(folder)
        lines.append(f"{group}.{key}={value}")
    return lines


_NEEDS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("dataset", "jsonl"): {"path": "folder:"},
    ("retriever", "run_file"): {"path": "file:toy.run"},
    ("retriever", "function"): {"function": "contract_functions:search"},
    ("reranker", "function"): {"function": "contract_functions:rescore"},
    ("assembler", "replay"): {"path": "file:contexts.jsonl"},
    ("context", "gold_as_in"): {"arm": "control"},
    ("reader", "function"): {"function": "contract_functions:answer"},
    ("reader", "llama_cpp"): {"model": "smollm2", "max_tokens": "4"},
    ("reader", "smollm2"): {"max_tokens": "4"},
    ("reader", "replay"): {"path": "file:answers.jsonl"},
}

BATCHES: Mapping[str, int] = {"llama_cpp": 2, "smollm2": 2}
"""Readers that take seconds a prompt, and how many prompts a batch of the tests holds."""

_QIDS = ("q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8")

_FILES: Mapping[str, str] = {
    "toy.run": "".join(f"{qid} Q0 p{i} {i} {1 / i} toy\n" for qid in _QIDS for i in range(1, 5)),
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
