"""Several llama.cpp servers of one model, each asked no more at once than it has slots."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Any

from ragablate.errors import AdapterError
from ragablate.read.llama_process import LlamaServer, ServerSettings

if TYPE_CHECKING:
    import httpx


_PATIENCE_S = 10.0
"""For a server's word on whether it is ready, while it may be busy loading."""


class Fleet:
    """Equal servers that share the work; one that died is started again when next needed.

    Args:
        settings: What each is started with.
        servers: How many.
        timeout_s: How long a reply may take.
    """

    def __init__(self, settings: ServerSettings, servers: int, timeout_s: float) -> None:
        import httpx

        self._settings = settings
        self._servers: list[LlamaServer | None] = [None] * servers
        self._locks = [threading.Lock() for _ in range(servers)]
        self._closed = False
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for _ in range(settings.slots):
            for index in range(servers):
                self._free.put(index)
        # No proxy of the environment stands between this machine and itself.
        timeout = httpx.Timeout(timeout_s, connect=10.0, pool=None)
        self._client = httpx.Client(timeout=timeout, trust_env=False)

    @property
    def places(self) -> int:
        """How many requests are answered at once."""
        return len(self._servers) * self._settings.slots

    @property
    def pids(self) -> list[int]:
        """Numbers of the child processes that were started."""
        return [server.pid for server in self._servers if server is not None]

    def start(self) -> None:
        """Start the first server; the others start when they are first needed.

        Raises:
            AdapterError: It does not start.
        """
        self._living(0)

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        """Ask a server that has a free slot, waiting for one.

        Raises:
            AdapterError: The server died, now or before, and then cannot be started again.
            httpx.HTTPError: There was no reply.
        """
        import httpx

        index = self._free.get()
        try:
            server = self._living(index)
            headers = {"Authorization": f"Bearer {server.key}"}
            return self._client.post(server.url + path, json=body, headers=headers)
        except httpx.TransportError as error:
            if self._closed or server.alive:
                raise
            raise AdapterError(f"the llama.cpp server ended: {server.end()}") from error
        finally:
            self._free.put(index)

    def close(self) -> None:
        """End every server; requests that still wait for a reply get none."""
        self._closed = True
        for lock, server in zip(self._locks, self._servers, strict=True):
            with lock:
                if server is not None:
                    server.close()
        self._client.close()

    def _living(self, index: int) -> LlamaServer:
        with self._locks[index]:
            if self._closed:
                raise AdapterError("the reader was closed while it was asked")
            server = self._servers[index]
            if server is None or not server.alive:
                if server is not None:
                    server.close()
                server = self._servers[index] = LlamaServer(self._settings)
                self._wait_for(server)
            return server

    def _wait_for(self, server: LlamaServer) -> None:
        end = time.monotonic() + self._settings.start_timeout_s
        while not self._ready(server):
            if time.monotonic() > end:
                server.close()
                raise AdapterError(
                    f"llama.cpp loads {self._settings.model} for longer than "
                    f"{self._settings.start_timeout_s:g} s: raise runtime.start_timeout_s"
                )
            time.sleep(0.1)

    def _ready(self, server: LlamaServer) -> bool:
        """Whether the model is loaded. How long an answer may take has no part in it."""
        import httpx

        try:
            return self._client.get(server.url + "/health", timeout=_PATIENCE_S).status_code == 200
        except httpx.TimeoutException:
            return False
