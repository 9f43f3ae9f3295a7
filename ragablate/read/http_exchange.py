"""Asking endpoints many times at once, patiently and under their limits."""

from __future__ import annotations

import asyncio
import os
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
    import aiohttp


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
        self._session: aiohttp.ClientSession | None = None
        self.places = asyncio.Semaphore(manners.max_concurrency)
        """One for each request that may be open."""

    async def close(self) -> None:
        """End all connections."""
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        """What all requests go through; it belongs to the loop that runs now."""
        import aiohttp

        if self._session is None:
            headers = {
                "Accept": "application/json",
                "Content-Type": "application/json",
                "User-Agent": f"ragablate/{__version__}",
                **({"Authorization": f"Bearer {self._key}"} if self._key else {}),
            }
            self._session = aiohttp.ClientSession(
                # How many are open at once is settled by the places.
                connector=aiohttp.TCPConnector(limit=0, ssl=_trusted(self._url)),
                headers=headers,
                cookie_jar=aiohttp.DummyCookieJar(),
                # The whole attempt has a time limit of its own, which a slow body cannot stretch.
                timeout=aiohttp.ClientTimeout(sock_connect=self.manners.connect_timeout_s),
                # No proxy of the environment stands between this machine and itself.
                trust_env=not is_loopback(self._url),
            )
        return self._session

    async def answer(self, ask: Ask) -> Answer | Failure | Unexplained:
        """What comes of a request in the end, however often it has to be made.

        Raises:
            AdapterError: The endpoint says that no request can be right.
        """
        attempt = 0
        while True:
            attempt += 1
            await self._turn(ask)
            got = await self._once(ask)
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

    async def _once(self, ask: Ask) -> Meaning:
        import aiohttp

        start = time.perf_counter()
        try:
            async with (
                asyncio.timeout(self.manners.timeout_s),
                self._open().post(self._url, data=ask.body, allow_redirects=False) as reply,
            ):
                content = await reply.read()
        except aiohttp.ConnectionTimeoutError:
            limit = self.manners.connect_timeout_s
            return Transient(f"no connection within runtime.connect_timeout_s={limit:g}")
        except TimeoutError:
            limit = self.manners.timeout_s
            return Transient(f"no whole reply within runtime.timeout_s={limit:g}")
        except aiohttp.InvalidURL as error:
            raise AdapterError(f"reader.base_url is no address: {one_line(error)}") from error
        except (aiohttp.ClientError, OSError) as error:
            return Transient(f"no reply: {one_line(error)}")
        took = time.perf_counter() - start
        return ask.reading.meaning(reply.status, reply.headers, content, took)


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


def _trusted(url: str) -> ssl.SSLContext | bool:
    """Whom to trust: certifi's authorities, or those of ``SSL_CERT_FILE``/``SSL_CERT_DIR``."""
    if urlsplit(url).scheme != "https":
        return True
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


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
