"""The child process that runs llama.cpp's own OpenAI-compatible server.

Run as a script by ``ragablate.read.llama_process``, never imported for its ``main``. It needs
nothing but the standard library and ``xllamacpp``. The first line of standard input is its
settings as JSON; when the server answers, its address is the only line of standard output;
everything llama.cpp logs goes to standard error.

It ends when its parent does, however that ends: standard input closes, or it becomes the
child of another process. While the model loads, which may keep Python from running, Linux
itself is asked to kill it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
import time
from typing import Any

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Load the model, report the address, serve until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    settings = json.loads(sys.stdin.readline())
    parent = int(settings["parent"])
    # Threads that spin for each other, as libgomp's do unless told, take a busy machine several
    # times as long. It reads this when it is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "100")
    _kill_with_parent(signal.SIGKILL if sys.platform == "linux" else 0)
    threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()
    try:
        server = _serve(settings)
    except RuntimeError as error:
        print(f"E {error}", file=sys.stderr, flush=True)
        os._exit(1)
    # The signal of Linux comes when the *thread* that started this process ends, which may
    # be long before its process does.
    _kill_with_parent(0)
    print(server.listening_address, file=report, flush=True)
    sys.stdin.read()
    # Tearing the server down may hang; nothing is to be saved.
    os._exit(0)


def _kill_with_parent(number: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


def _exit_with(parent: int) -> None:
    """End this process once it has another parent; Windows keeps the number of a dead one."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def _serve(settings: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings["key"]]
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["n_ctx"] * settings["slots"]
    params.n_gpu_layers = settings["gpu_layers"]
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = settings["threads"]
    # What would let one request change the answer to another, or the number of threads the
    # answer to any: a reused prefix and flash attention both change the order of sums.
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.cache_idle_slots = False
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # What would silently cut a prompt or shrink the context.
    params.ctx_shift = False
    params.fit_params = False
    params.kv_unified = False
    params.offline = True
    params.warmup = False
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 1
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
