"""Asking one endpoint many times at once, patiently and under its limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragablate.errors import AdapterError
from ragablate.functions import one_line
from ragablate.read.http_reply import Meaning, Reading, Transient, Unexplained
from ragablate.read.http_retry import Backoff
from ragablate.read.http_stream import streamed
from ragablate.read.rate_limit import RateLimit
from ragablate.records import Answer, Failure, Item

if TYPE_CHECKING:
    import ssl

    import httpx

_TELLING = 20
"""Requests in a row without an answer that tell something of the endpoint."""
_ALONE = 3
"""Unexplained refusals that tell as much, where there was nothing else."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request."""

    id: str
    """Unique among the requests."""
    body: bytes
    """JSON."""
    tokens: int
    """How many it is expected to take, prompt and answer together."""
    seed: int
    """Of its waits."""


Got = tuple[str, Answer | Failure | Unexplained]
"""An id and what came of it."""


@dataclass(frozen=True, slots=True)
class Manners:
    """How an endpoint is asked; none of it can change an answer."""

    max_concurrency: int = 8
    """Requests at once."""
    requests_per_minute: float | None = None
    """Most requests."""
    tokens_per_minute: float | None = None
    """Most tokens."""
    timeout_s: float = 120.0
    """For one reply, to its last byte."""
    connect_timeout_s: float = 10.0
    """For one connection."""
    retries: int = 5
    """Attempts after the first."""
    backoff_s: float = 1.0
    """Wait before the second attempt, at most; doubled for each one after."""
    longest_wait_s: float = 120.0
    """Longest wait that an endpoint may ask for; where it asks for more, the request fails."""


class EndpointError(AdapterError):
    """The endpoint answers nothing any more, or never did."""

    exit_code = 1


class Exchange:
    """All requests of one batch to one endpoint.

    Args:
        url: Where to post.
        reading: How replies are read; its key is sent along.
        manners: How it is asked.
    """

    def __init__(self, url: str, reading: Reading, manners: Manners) -> None:
        self._url = url
        self._reading = reading
        self._manners = manners
        self._limit = RateLimit(manners.requests_per_minute, manners.tokens_per_minute)
        self._backoff = Backoff(manners.backoff_s)

    def answers(self, asks: Sequence[Ask]) -> Generator[Got, None, None]:
        """Ask everything, and give what comes of each as it comes; see ``streamed``.

        Raises:
            AdapterError: The endpoint says that no request can be right.
        """
        return streamed(partial(self._ask, asks))

    async def _ask(self, asks: Sequence[Ask], emit: Callable[[Got], None]) -> None:
        import httpx

        waiting = iter(asks)
        context = httpx.create_ssl_context()
        workers = [
            asyncio.create_task(self._work(waiting, context, emit))
            for _ in range(min(self._manners.max_concurrency, len(asks)))
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(
        self, waiting: Iterator[Ask], context: ssl.SSLContext, emit: Callable[[Got], None]
    ) -> None:
        # A client each: the pool of a shared one looks through all its connections at every
        # request, which at 64 of them costs more time than all the rest.
        async with self._client(context) as client:
            for ask in waiting:
                emit((ask.id, await self._patiently(client, ask)))

    def _client(self, context: ssl.SSLContext) -> httpx.AsyncClient:
        import httpx

        key = self._reading.key
        return httpx.AsyncClient(
            headers={
                "Content-Type": "application/json",
                **({"Authorization": f"Bearer {key}"} if key else {}),
            },
            # The whole attempt has a time limit of its own, which a slow body cannot stretch.
            timeout=httpx.Timeout(None, connect=self._manners.connect_timeout_s),
            # No proxy of the environment stands between this machine and itself.
            trust_env=not is_loopback(self._url),
            verify=context,
        )

    async def _patiently(
        self, client: httpx.AsyncClient, ask: Ask
    ) -> Answer | Failure | Unexplained:
        attempt = 0
        while True:
            attempt += 1
            await self._turn(ask)
            got = await self._once(client, ask)
            if not isinstance(got, Transient):
                if isinstance(got, Answer) and got.usage:
                    self._limit.correct(ask.tokens, sum(got.usage.values()))
                return got
            asked = got.wait_s
            if attempt > self._manners.retries or (asked or 0) > self._manners.longest_wait_s:
                return Failure("infrastructure", _given_up(got, attempt))
            if asked is not None:
                self._limit.pause(asked)
            await asyncio.sleep(self._backoff.wait(attempt, ask.seed, asked))

    async def _turn(self, ask: Ask) -> None:
        while True:
            wait = self._limit.book(ask.tokens)
            if wait > 0:
                await asyncio.sleep(wait)
            # The endpoint may have asked for a pause meanwhile: then another place is booked.
            if self._limit.paused() <= 0:
                return

    async def _once(self, client: httpx.AsyncClient, ask: Ask) -> Meaning:
        import httpx

        start = time.perf_counter()
        try:
            async with asyncio.timeout(self._manners.timeout_s):
                reply = await client.post(self._url, content=ask.body)
        except TimeoutError:
            limit = self._manners.timeout_s
            return Transient(f"no whole reply within runtime.timeout_s={limit:g}")
        except httpx.ConnectTimeout:
            limit = self._manners.connect_timeout_s
            return Transient(f"no connection within runtime.connect_timeout_s={limit:g}")
        except (httpx.HTTPError, OSError) as error:
            return Transient(f"no reply: {one_line(error)}")
        took = time.perf_counter() - start
        return self._reading.meaning(reply.status_code, reply.headers, reply.content, took)


def settled(found: Iterator[Got], places: int) -> Iterator[Item[Answer]]:
    """Items, with those refusals explained that the endpoint left unexplained.

    Once anything was answered, the endpoint can be asked as it is, so the prompt must be the
    reason: an outcome of the pipeline. Until then a refusal is held back, since an endpoint
    that rejects a setting refuses every prompt.

    Args:
        found: What came of each request, as it came.
        places: How many are asked at once; that many may fail before one that was asked
            earlier is answered.

    Raises:
        EndpointError: So many requests in a row failed that the rest would too.
        AdapterError: Nothing was answered and everything refused.
    """
    held: list[tuple[str, Unexplained]] = []
    telling = max(_TELLING, 2 * places)
    answered, failed = False, 0
    for request_id, got in found:
        if isinstance(got, Unexplained) and not answered:
            held.append((request_id, got))
            if len(held) >= telling:
                raise _refused(got)
            continue
        if isinstance(got, Answer):
            answered, failed = True, 0
            yield from (_outcome(*each) for each in held)
            held = []
        yield _outcome(request_id, got)
        if isinstance(got, Failure) and got.kind == "infrastructure":
            failed += 1
            if failed >= telling:
                raise EndpointError(
                    f"reader: {failed} requests in a row got no answer, the last one because "
                    f"{got.message}; finished work is kept, the same command resumes"
                )
    if len(held) >= _ALONE:
        raise _refused(held[-1][1])
    yield from (
        Item(request_id, None, Failure("infrastructure", got.message)) for request_id, got in held
    )


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _refused(got: Unexplained) -> AdapterError:
    return AdapterError(
        f"reader: {got.message}; it refuses every request, so a setting must be the reason"
    )


def _outcome(request_id: str, got: Answer | Failure | Unexplained) -> Item[Answer]:
    if isinstance(got, Answer):
        return Item(request_id, got)
    failure = Failure("pipeline", got.message) if isinstance(got, Unexplained) else got
    return Item(request_id, None, failure)


def _given_up(got: Transient, attempts: int) -> str:
    if attempts == 1 and got.wait_s is None:
        return got.message
    asked = f", which asks to wait {got.wait_s:g} s" if got.wait_s is not None else ""
    return f"{got.message}{asked} (attempt {attempts}, the last)"
