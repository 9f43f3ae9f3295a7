"""What the runner itself costs an answer, and how its memory grows with the arms.

    python benchmarks/overhead.py [--questions 10000] [--limit 0.5] [--profile FILE]

A plan of six arms (control, gold supplied, no passages, gold removed, another reader, another
search) over questions with a passage each is executed through the runner, store and bundle and
all, as ``ragablate run`` does. The reader is a function of this file that answers at once, so
that what is left is the runner's own. Runner time is the wall clock of the whole execution
without what search, the judges and the comparison take:

- search: the retrievers' ``retrieve``, index and all;
- judges: the judges' ``judge``;
- comparison: proving, comparing and rendering both reports.

Everything else is the runner's: preparing contexts, prompts, digests, the store, the bundle
written and read back. Processor time stands beside the wall clock, because on a machine that
does other work too the latter is mostly waiting. Memory is what the process holds when an arm
has been prepared, when all are judged, and at its peak. It exits with 1 where the wall clock per
answer is above the limit.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ragablate import execute, publishing, session
from ragablate.bundle.read import Bundle
from ragablate.config import composing

LIMIT = 0.5
ARMS = 6
REST = "runner"


def answer(question: str, passages: list[str]) -> str:
    """The reader: the first passage's first words, at once."""
    return passages[0][:60] if passages else "I do not know."


class Parts:
    """Seconds by part; what runs inside another part is taken out of that one."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self._open: list[str] = [REST]
        self._since = (time.perf_counter(), time.process_time())

    def _turn(self) -> None:
        now = (time.perf_counter(), time.process_time())
        part = self._open[-1]
        self.wall[part] = self.wall.get(part, 0.0) + now[0] - self._since[0]
        self.cpu[part] = self.cpu.get(part, 0.0) + now[1] - self._since[1]
        self._since = now

    @contextmanager
    def inside(self, part: str) -> Iterator[None]:
        self._turn()
        self._open.append(part)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def timed(self, part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            with self.inside(part):
                return call(*given, **named)

        return timed

    def drawn(self, part: str, call: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """The same of a method that yields: only what it does itself is counted."""

        def drawn(*given: Any) -> Iterator[Any]:
            with self.inside(part):
                found = iter(call(*given))
            while True:
                with self.inside(part):
                    one = next(found, None)
                if one is None:
                    return
                yield one

        return drawn

    def end(self) -> None:
        self._turn()


def main() -> int:
    args = arguments()
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        write_dataset(folder, args.questions)
        profile = cProfile.Profile() if args.profile else None
        if profile:
            profile.enable()
        parts, held = executed(folder, args.questions)
        if profile:
            profile.disable()
            profile.dump_stats(args.profile)
    answers = args.questions * ARMS
    print(f"{answers} answers, {args.questions} questions in {ARMS} arms")
    print(f"{'':24}{'wall s':>9}{'ms/answer':>11}{'cpu s':>9}{'ms/answer':>11}")
    for part in sorted(parts.wall, key=lambda part: (part.split(":")[0] == REST, part)):
        line(part, parts.wall[part], parts.cpu[part], answers)
    wall, cpu = (
        sum(seconds for part, seconds in of.items() if part.split(":")[0] == REST)
        for of in (parts.wall, parts.cpu)
    )
    line("runner in all", wall, cpu, answers)
    *arms, judged = (f"{mb:.0f}" for mb in held)
    print(f"memory in MB with each arm prepared: {', '.join(arms)}; with all judged: {judged}")
    print(
        f"memory in MB at its peak: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f}"
    )
    print(f"{1000 * wall / answers:.3f} ms of runner time an answer (limit {args.limit:g})")
    return 0 if 1000 * wall / answers <= args.limit else 1


def line(part: str, wall: float, cpu: float, answers: int) -> None:
    print(f"{part:24}{wall:9.2f}{1e3 * wall / answers:11.3f}{cpu:9.2f}{1e3 * cpu / answers:11.3f}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--profile", default="", help="where to write what cProfile saw")
    return parser.parse_args()


def write_dataset(folder: Path, questions: int) -> None:
    """One passage a question, of a hundred words."""
    filler = "It was built of stone and is open every day of the year. " * 8
    rows = {
        "corpus": [
            {"id": f"p{i}", "text": f"Bridge {i} was opened in the year {1000 + i}. {filler}"}
            for i in range(questions)
        ],
        "questions": [
            {
                "id": f"q{i}",
                "question": f"When was bridge {i} opened?",
                "answers": [f"in the year {1000 + i}"],
                "gold_ids": [f"p{i}"],
            }
            for i in range(questions)
        ],
    }
    for name, lines in rows.items():
        text = "".join(json.dumps(row) + "\n" for row in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def executed(folder: Path, questions: int) -> tuple[Parts, list[float]]:
    """Seconds by part, and megabytes held after each arm."""
    from ragablate import compare
    from ragablate.report import html, markdown

    overrides = [
        "dataset=jsonl",
        f"dataset.path={folder}",
        f"outputs={folder / 'outputs'}",
        "reader=function",
        f"reader.function={Path(__file__).stem}:answer",
        "experiment=[oracle_context,closed_book,necessity,swap_reader,swap_retriever]",
        "experiment.swap_reader.variable=reader.sentinel",
        "experiment.swap_reader.treatments=[nothing]",
    ]
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    parts = Parts()
    with composing(), parts.inside(f"{REST}: checking"):
        checked = session.check(overrides)
    assert len(checked.plan.arms) == ARMS
    held: list[float] = []
    for pipeline in checked.pipelines.values():
        retriever = pipeline["retriever"]
        retriever.retrieve = parts.drawn("search", retriever.retrieve)
    for judge, _ in checked.judges.values():
        judge.judge = parts.drawn("judges", judge.judge)
    judged = execute.judge_all

    def judge_all(*given: Any) -> Any:
        with parts.inside(f"{REST}: around judges"):
            found = judged(*given)
        held.append(resident())
        return found

    def readings(*given: Any) -> Any:
        found = prepared(*given)
        held.append(resident())
        return found

    prepared, execute.readings = execute.readings, readings
    execute.judge_all = judge_all
    session.execute = parts.timed(f"{REST}: executing", session.execute)
    session.contents = parts.timed(f"{REST}: lines of the bundle", session.contents)
    publishing.write = parts.timed(f"{REST}: bundle written", publishing.write)
    publishing.load = parts.timed(f"{REST}: bundle read back", publishing.load)
    Bundle.study = parts.timed("comparison", Bundle.study)  # type: ignore[method-assign]
    compare.compare = parts.timed("comparison", compare.compare)
    markdown.render_markdown = parts.timed("comparison", markdown.render_markdown)
    html.render_html = parts.timed("comparison", html.render_html)
    session.run_checked(checked, lambda stage, done, total: None)
    parts.end()
    return parts, held


def resident() -> float:
    """Megabytes of memory the process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


if __name__ == "__main__":
    sys.exit(main())
