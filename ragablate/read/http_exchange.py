"""Asking endpoints many times at once, patiently and under their limits."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragablate import __version__
from ragablate.errors import AdapterError
from ragablate.functions import one_line
from ragablate.read.http_reply import Meaning, Reading, Transient, Unexplained
from ragablate.read.http_retry import Backoff
from ragablate.read.http_stream import streamed
from ragablate.read.rate_limit import RateLimit
from ragablate.records import Answer, Failure

if TYPE_CHECKING:
    import httpx


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


def strictest(several: Sequence[Manners]) -> Manners:
    """Manners that are right for everybody: the fewest requests, the most patience."""
    return Manners(
        min(m.max_concurrency for m in several),
        _least(m.requests_per_minute for m in several),
        _least(m.tokens_per_minute for m in several),
        max(m.timeout_s for m in several),
        max(m.connect_timeout_s for m in several),
        max(m.retries for m in several),
        max(m.backoff_s for m in several),
        max(m.longest_wait_s for m in several),
    )


def _least(rates: Iterable[float | None]) -> float | None:
    return min((rate for rate in rates if rate is not None), default=None)


class Endpoint:
    """One address, with what all requests to it share: places, limits and connections.

    Args:
        url: Where to post.
        key: The API key; empty sends none.
        manners: How it is asked.
    """

    def __init__(self, url: str, key: str, manners: Manners) -> None:
        self._url = url
        self._key = key
        self.manners = manners
        """How it is asked."""
        self._limit = RateLimit(manners.requests_per_minute, manners.tokens_per_minute)
        self._backoff = Backoff(manners.backoff_s)
        self._address: httpx.URL | None = None
        self._headers: httpx.Headers | None = None
        self._idle: list[httpx.AsyncClient] = []
        self._secure: ssl.SSLContext | None = None
        self.places = asyncio.Semaphore(manners.max_concurrency)
        """One for each request that may be open."""

    async def close(self) -> None:
        """End all connections."""
        for client in self._idle:
            await client.aclose()

    async def answer(self, ask: Ask) -> Answer | Failure | Unexplained:
        """What comes of a request in the end, however often it has to be made.

        Raises:
            AdapterError: The endpoint says that no request can be right.
        """
        # A connection each: the pool of a shared client looks through all its connections at
        # every request, which at 64 of them costs more time than all the rest.
        client = self._idle.pop() if self._idle else self._client()
        try:
            return await self._patiently(client, ask)
        finally:
            self._idle.append(client)

    def _client(self) -> httpx.AsyncClient:
        import httpx

        if self._secure is None:
            # Reading the certificates of all authorities takes a while, so it is done once.
            https = urlsplit(self._url).scheme == "https"
            empty = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self._secure = httpx.create_ssl_context() if https else empty
        # No proxy of the environment stands between this machine and itself.
        return httpx.AsyncClient(trust_env=not is_loopback(self._url), verify=self._secure)

    def _request(self, body: bytes) -> httpx.Request:
        """A request made whole: what a client would merge in takes a good part of its time."""
        import httpx

        if self._address is None:
            self._address = httpx.URL(self._url)
            self._headers = httpx.Headers(
                {
                    "Accept": "application/json",
                    "Content-Type": "application/json",
                    "User-Agent": f"ragablate/{__version__}",
                    **({"Authorization": f"Bearer {self._key}"} if self._key else {}),
                }
            )
        # The whole attempt has a time limit of its own, which a slow body cannot stretch.
        timeout = httpx.Timeout(None, connect=self.manners.connect_timeout_s).as_dict()
        return httpx.Request(
            "POST",
            self._address,
            headers=self._headers,
            content=body,
            extensions={"timeout": timeout},
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
            if attempt > self.manners.retries or (asked or 0) > self.manners.longest_wait_s:
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
            request = self._request(ask.body)
            async with asyncio.timeout(self.manners.timeout_s):
                reply = await client.send(request)
        except TimeoutError:
            limit = self.manners.timeout_s
            return Transient(f"no whole reply within runtime.timeout_s={limit:g}")
        except httpx.ConnectTimeout:
            limit = self.manners.connect_timeout_s
            return Transient(f"no connection within runtime.connect_timeout_s={limit:g}")
        except httpx.InvalidURL as error:
            raise AdapterError(f"reader.base_url is no address: {one_line(error)}") from error
        except (httpx.HTTPError, OSError) as error:
            return Transient(f"no reply: {one_line(error)}")
        took = time.perf_counter() - start
        return ask.reading.meaning(reply.status_code, reply.headers, reply.content, took)


@dataclass(frozen=True, slots=True)
class Ask:
    """One request."""

    endpoint: Endpoint
    """Whom to ask."""
    reading: Reading
    """How its reply is read."""
    body: bytes
    """JSON."""
    tokens: int
    """How many it is expected to take, prompt and answer together."""
    seed: int
    """Of its waits."""


Got = tuple[int, Answer | Failure | Unexplained]
"""The number of a request and what came of it."""


def answers(asks: Iterable[Ask]) -> Generator[Got, None, None]:
    """Ask everything, and give what comes of each as it comes; see ``streamed``.

    Requests begin in their order, whoever is asked: where the next one's endpoint has no free
    place, all that follow wait with it.

    Args:
        asks: Taken one by one, each when there is a place for the one before it.

    Raises:
        AdapterError: An endpoint says that no request can be right.
    """
    return streamed(partial(_ask_all, asks))


async def _ask_all(asks: Iterable[Ask], emit: Callable[[Got], None]) -> None:
    endpoints: dict[int, Endpoint] = {}

    async def one(number: int, ask: Ask) -> None:
        try:
            emit((number, await ask.endpoint.answer(ask)))
        finally:
            ask.endpoint.places.release()

    try:
        async with asyncio.TaskGroup() as group:
            for number, ask in enumerate(asks):
                endpoints[id(ask.endpoint)] = ask.endpoint
                await ask.endpoint.places.acquire()
                group.create_task(one(number, ask))
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    finally:
        for endpoint in endpoints.values():
            await endpoint.close()


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _given_up(got: Transient, attempts: int) -> str:
    if attempts == 1 and got.wait_s is None:
        return got.message
    asked = f", which asks to wait {got.wait_s:g} s" if got.wait_s is not None else ""
    return f"{got.message}{asked} (attempt {attempts}, the last)"
