"""A running llama.cpp server, seen from the process that asks it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from dataclasses import asdict, dataclass
from typing import IO

from ragablate.errors import AdapterError
from ragablate.read import llama_server

_ERROR = re.compile(r"(?:[\d.]+ )?E (.*)")
"""How llama.cpp logs what went wrong."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What a server is started with."""

    model: str
    """Path of a GGUF file."""
    n_ctx: int
    """Tokens of prompt and answer together, per slot."""
    slots: int
    """Requests decoded at once, in one batch."""
    gpu_layers: int
    """Layers of the model on a GPU."""
    threads: int
    """Threads that compute."""
    start_timeout_s: float
    """Time it may take to load the model."""


class LlamaServer:
    """A llama.cpp server in a child process, on a free port of this machine alone.

    Args:
        settings: What to start it with.

    Raises:
        AdapterError: It does not start; the sentence holds what llama.cpp says about it.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.key = secrets.token_hex(16)
        """Without it in the header ``Authorization`` the server answers nobody."""
        self._log = tempfile.TemporaryFile("w+b")  # noqa: SIM115
        self._process = self._spawn(self._log)
        # Also where nobody calls ``close``: no child and no open file outlives this object.
        self._finalizer = weakref.finalize(self, _end, os.getpid(), self._process, self._log)
        self.url = self._address()
        """Where it listens."""

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Number of the child process."""
        return self._process.pid

    def close(self) -> None:
        """End the process; a second call does nothing."""
        self._finalizer()

    def end(self) -> str:
        """How it ended, with the last line of its log."""
        said = self._said()[-1:]
        return _status(self._process.poll()) + (f", saying '{said[0]}'" if said else "")

    def _complaint(self) -> str:
        """Why it did not start: the first error is the most telling one."""
        lines = self._said()
        errors = [found[1] for line in lines if (found := _ERROR.match(line))]
        return (errors or lines[-1:] or [_status(self._process.poll())])[0]

    def _said(self) -> list[str]:
        """The last lines of its log, each cut to 300 characters."""
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - 20_000))
        log = self._log.read().decode("utf-8", "replace")
        return [" ".join(line.split())[:300] for line in log.splitlines() if line.strip()]

    def _spawn(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        # -P keeps this package's modules from shadowing others of the same name.
        process = subprocess.Popen(
            [sys.executable, "-P", llama_server.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        told = {**asdict(self.settings), "key": self.key, "parent": os.getpid()}
        assert process.stdin is not None
        # A child that has ended already says why in its log.
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(told).encode() + b"\n")
            process.stdin.flush()
        return process

    def _address(self) -> str:
        assert self._process.stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(self.settings.start_timeout_s, give_up)
        timer.start()
        try:
            line = self._process.stdout.readline().decode().strip()
        finally:
            timer.cancel()
        if line and not late.is_set():
            return line
        self._process.wait()
        reason = (
            f"not ready after {self.settings.start_timeout_s:g} s, raise runtime.start_timeout_s"
            if late.is_set()
            else self._complaint()
        )
        self.close()
        raise AdapterError(f"llama.cpp cannot serve {self.settings.model}: {reason}")


def _end(owner: int, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    """Kill a server, whatever it is doing, unless a fork of its owner asks."""
    if os.getpid() != owner:
        return
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, log):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def _status(code: int | None) -> str:
    if code is not None and code < 0:
        return f"its process was ended by {signal.Signals(-code).name}, as when memory runs out"
    return f"its process ended with exit code {code}"
