"""How close the endpoint reader comes to what an endpoint's places allow.

    python benchmarks/saturation.py [--questions 500] [--arms 4] [--places 64] [--latency 0.2]

A server of its own process answers every chat completion after the latency. The plan of several
prompt templates over the same questions is executed through the runner, store and all, as
``ragablate run`` does; the time is that of the reader calls, from the first to the last answer
stored. The same requests are then made by a bare asyncio loop with the same client. The ratio is
wall time over (unique calls × latency / places): 1.00 is every place busy all the time. It exits
with 1 where the runner's ratio is above the limit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import aiohttp

from ragablate import session
from ragablate.config import composing

SERVER = Path(__file__).resolve().parent.parent / "tests" / "e2e" / "chat_server.py"
TEMPLATES = ("plain", "strict", "cite", "quote", "question_last", "sources_are_data")
LIMIT = 1.10


def main() -> int:
    args = arguments()
    with server(args.latency) as url, tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        write_dataset(folder, args.questions)
        calls, wall, whole, cpu, bodies = through_the_runner(folder, url, args)
        ideal = calls * args.latency / args.places
        bare = asyncio.run(bare_loop(url, bodies, args.places))
    print(f"{calls} unique calls, {args.latency:g} s each, {args.places} places: {ideal:.2f} s")
    print(f"runner: {wall:.2f} s, ratio {wall / ideal:.3f} (limit {LIMIT:.2f}), "
          f"{1000 * cpu / calls:.2f} ms of processor time a call")  # fmt: skip
    print(f"bare asyncio loop, same client: {bare:.2f} s, ratio {bare / ideal:.3f}")
    print(f"runner over bare loop: {wall / bare:.3f}")
    print(f"the whole execution, with search, judges, comparison and bundle: {whole:.2f} s")
    return 0 if wall / ideal <= LIMIT else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--arms", type=int, default=4, choices=range(2, len(TEMPLATES) + 1))
    parser.add_argument("--places", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.2)
    return parser.parse_args()


@contextmanager
def server(latency: float) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, str(SERVER), str(latency)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


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
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def through_the_runner(
    folder: Path, url: str, args: argparse.Namespace
) -> tuple[int, float, float, float, list[bytes]]:
    """Calls, seconds of reading and of everything, processor time of reading, what was asked."""
    marks: dict[int, tuple[float, float]] = {}

    def progress(stage: str, done: int, total: int) -> None:
        if stage == "read":
            marks.setdefault(done, (time.perf_counter(), time.process_time()))

    treatments = ",".join(TEMPLATES[1 : args.arms])
    overrides = [
        "dataset=jsonl",
        f"dataset.path={folder}",
        f"outputs={folder / 'outputs'}",
        "reader=openai_chat",
        f"reader.base_url={url}",
        "reader.model=scripted",
        f"reader.runtime.max_concurrency={args.places}",
        "experiment=swap_reader",
        "experiment.swap_reader.variable=reader.prompt",
        f"experiment.swap_reader.treatments=[{treatments}]",
        "judge=[correct]",
    ]
    start = time.perf_counter()
    with composing():
        outcome = session.run(overrides, progress)
    whole = time.perf_counter() - start
    lines = (outcome.folder / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    bodies = [
        json.dumps({"model": "scripted", "messages": [{"role": "user", "content": line}]}).encode()
        for line in lines
    ]
    wall, cpu = (
        end - begin for begin, end in zip(marks[min(marks)], marks[max(marks)], strict=True)
    )
    return outcome.calls, wall, whole, cpu, bodies


async def bare_loop(url: str, bodies: Sequence[bytes], places: int) -> float:
    """Seconds in which the same requests are made by nothing but workers and the client."""
    waiting = iter(bodies)

    async def work(client: aiohttp.ClientSession) -> None:
        for body in waiting:
            async with (
                asyncio.timeout(60),
                client.post(f"{url}/chat/completions", data=body) as reply,
            ):
                json.loads(await reply.read())

    start = time.perf_counter()
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        headers={"Content-Type": "application/json"},
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as client:
        await asyncio.gather(*(work(client) for _ in range(places)))
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
