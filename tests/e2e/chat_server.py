"""A real HTTP server on loopback that answers chat completions as a script says.

    with ChatServer(script) as server:
        ...  # server.url, server.asked

Also a program, for benchmarks: ``python chat_server.py SECONDS`` prints its address, answers
every request after so many seconds, and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

PASSAGE = re.compile(r"<passage 1>\n(.*?)\n</passage 1>", re.DOTALL)
ETERNITY = 3600.0


@dataclass(frozen=True)
class Asked:
    """One request, as it came."""

    number: int
    """From 1, over all requests."""
    attempt: int
    """From 1, over the requests with this very body."""
    prompt: str
    """All messages, one after the other."""
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    path: str
    at: float
    """When it came, in seconds that only grow."""

    def asks(self, question: str) -> bool:
        return question in self.prompt


@dataclass(frozen=True)
class Reply:
    """What is sent back, and how."""

    status: int = 200
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    way: Literal["whole", "drip", "cut"] = "whole"
    """``drip``: a byte at a time, for ever; ``cut``: the connection is reset in the middle."""


Script = Callable[[Asked], Reply]


# ── replies ─────────────────────────────────────────────────────────────────────────────


def completion(
    text: str | None,
    finish: str | None = "stop",
    model: str = "scripted",
    fingerprint: str | None = None,
    delay_s: float = 0.0,
    **more: Any,
) -> Reply:
    """A chat completion of 50 tokens for 5."""
    message = {"role": "assistant", "content": text}
    content = {
        "object": "chat.completion",
        "model": model,
        "system_fingerprint": fingerprint,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55},
        **more,
    }
    return Reply(content=json.dumps(content).encode(), delay_s=delay_s)


def refusal(
    status: int, message: str, headers: Mapping[str, str] | None = None, **more: Any
) -> Reply:
    content = {"error": {"message": message, "type": "invalid_request_error", **more}}
    return Reply(status, json.dumps(content).encode(), headers or {})


def busy(retry_after: str | None = None) -> Reply:
    headers = {"Retry-After": retry_after} if retry_after is not None else {}
    return refusal(429, "rate limit reached", headers)


def crash(status: int = 500) -> Reply:
    return refusal(status, "internal error")


HANG = completion("too late", delay_s=ETERNITY)
DRIP = Reply(200, completion("too slow").content, way="drip")
CUT = Reply(200, completion("never whole").content, way="cut")
BROKEN_JSON = Reply(200, b'{"choices": [{"message": {"content": "Ada')
NOT_JSON = Reply(200, b"<html><body>Bad gateway</body></html>")
NO_CHOICES = Reply(200, b'{"object": "chat.completion", "model": "scripted", "choices": []}')


def first_passage(asked: Asked, **how: Any) -> Reply:
    """The first passage it is shown, or its refusal to answer without any."""
    found = PASSAGE.search(asked.prompt)
    return completion(found[1] if found else "NO ANSWER", **how)


def by_question(replies: Mapping[str, Sequence[Reply]], then: Script = first_passage) -> Script:
    """To prompts with a question these replies, one an attempt; to the rest, ``then``."""

    def script(asked: Asked) -> Reply:
        for question, some in replies.items():
            if asked.asks(question) and asked.attempt <= len(some):
                return some[asked.attempt - 1]
        return then(asked)

    return script


# ── the server ──────────────────────────────────────────────────────────────────────────


class ChatServer:
    """Listens on a free port of this machine, in a thread of its own.

    Args:
        script: What to answer.
        port: Where to listen; 0 for any free port.
    """

    def __init__(self, script: Script = first_passage, port: int = 0) -> None:
        self.script = script
        self.asked: list[Asked] = []
        """Every request, in the order they came."""
        self.at_once = 0
        """The most requests that were unanswered at one time."""
        self._open = 0
        self._seen: Counter[bytes] = Counter()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._port = port
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ChatServer:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        handlers: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._connection(reader, writer))
            handlers.add(task)
            task.add_done_callback(handlers.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", self._port, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in list(handlers):
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                asked = await self._receive(reader)
                self._open += 1
                self.at_once = max(self.at_once, self._open)
                try:
                    reply = self.script(asked)
                    # The delay is what the client sees: what happens here is a part of it.
                    await asyncio.sleep(asked.at + reply.delay_s - time.monotonic())
                    await self._answer(reply, writer)
                finally:
                    self._open -= 1
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has left, or was thrown out
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _receive(self, reader: asyncio.StreamReader) -> Asked:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        at = time.monotonic()
        body = json.loads(raw)
        self._seen[raw] += 1
        prompt = "\n".join(message["content"] for message in body.get("messages", ()))
        asked = Asked(
            len(self.asked) + 1, self._seen[raw], prompt, body, headers, first.split()[1],
            at,
        )  # fmt: skip
        self.asked.append(asked)
        return asked

    async def _answer(self, reply: Reply, writer: asyncio.StreamWriter) -> None:
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(reply.content)),
            **reply.headers,
        }
        lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{k}: {v}" for k, v in headers.items())]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode()
        if reply.way == "whole":
            writer.write(head + reply.content)
            await writer.drain()
        elif reply.way == "drip":
            writer.write(head)
            # The last byte never comes.
            for byte in reply.content[:-1]:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.05)
            await asyncio.sleep(ETERNITY)
        else:
            writer.write(head + reply.content[: len(reply.content) // 2])
            await writer.drain()
            await asyncio.sleep(0.05)
            _reset(writer)
            raise ConnectionResetError


def _reset(writer: asyncio.StreamWriter) -> None:
    """End a connection without a farewell, as a crashed machine or a proxy does."""
    end: socket.socket = writer.get_extra_info("socket")
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def main() -> None:
    delay = float(sys.argv[1])
    with ChatServer(lambda asked: first_passage(asked, delay_s=delay)) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
