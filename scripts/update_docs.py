"""Write the generated parts of the README and of the quickstart study.

    python scripts/update_docs.py            rewrite them
    python scripts/update_docs.py --check    exit 1 if any of them is out of date

Generated are: the output of the bare command, the YAML shown, the table of seams, and the
effect tables of ``experiments/quickstart``, whose ``effects.json`` comes from the same run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
STUDY = ROOT / "experiments" / "quickstart"

ARROWS = {
    "dataset": "→ documents or passages, questions, gold",
    "chunker": "documents → passages",
    "rewriter": "question + history → searches",
    "retriever": "searches → candidates",
    "reranker": "candidates → retrieved",
    "gate": "candidates, retrieved → go, refuse, clarify or broaden",
    "assembler": "retrieved → context, and what was evicted and why",
    "context": "context + gold → context (the interventions)",
    "reader": "question + context → prompt → answer",
    "judge": "trace + gold → verdicts",
}


def execute(folder: Path) -> str:
    """Run the bare command in an empty folder at a width of 100; returns what it printed."""
    return subprocess.run(
        [sys.executable, "-m", "ragablate.cli", "run"],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def summary(output: str) -> str:
    """The last tables of the output, which do not depend on when it was run."""
    start = output.index("localize: ladder")
    end = output.index("\nBundle ─")
    return "\n".join(line.rstrip() for line in output[start:end].strip().splitlines())


def seams() -> str:
    """Rows of the table of seams, from the catalogue itself."""
    rows = ["| config group | arrow | choices |", "| --- | --- | --- |"]
    for group, arrow in ARROWS.items():
        options = sorted(p.stem for p in (ROOT / "conf" / group).glob("*.yaml"))
        rows.append(f"| `{group}` | {arrow} | {', '.join(options)} |")
    return "\n".join(rows)


def filled(text: str, marker: str, language: str, content: str) -> str:
    """``text`` with the fenced block after a marker replaced."""
    pattern = rf"(<!-- {re.escape(marker)} -->\n```{language}\n).*?(```)"
    changed, count = re.subn(
        pattern, lambda m: f"{m[1]}{content.rstrip()}\n{m[2]}", text, flags=re.DOTALL
    )
    if count != 1:
        raise SystemExit(f"the marker '{marker}' occurs {count} times")
    return changed


def readme(output: str) -> str:
    """The README with its generated parts renewed."""
    text = README.read_text(encoding="utf-8")
    text = filled(text, "output of: ragablate run", "text", summary(output))
    name = "conf/experiment/oracle_context.yaml"
    text = filled(text, f"file: {name}", "yaml", (ROOT / name).read_text(encoding="utf-8"))
    return re.sub(
        r"(<!-- seams -->\n\n)\|.*?\n(?=\n)", lambda m: m[1] + seams() + "\n", text, flags=re.DOTALL
    )


def study(output: str) -> str:
    """The study's README with its effect table renewed."""
    text = (STUDY / "README.md").read_text(encoding="utf-8")
    return filled(text, "output of: ragablate run", "text", summary(output))


def main() -> int:
    """Renew or check; returns the exit code."""
    with tempfile.TemporaryDirectory() as name:
        output = execute(Path(name))
        (effects,) = Path(name).glob("outputs/quickstart/*/effects.json")
        wanted = {
            README: readme(output),
            STUDY / "README.md": study(output),
            STUDY / "effects.json": effects.read_text(encoding="utf-8"),
        }
    stale = [
        path
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run scripts/update_docs.py")
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")
        print(f"renewed {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
