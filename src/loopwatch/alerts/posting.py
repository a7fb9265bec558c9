"""One HTTP POST to somewhere that a customer named: guarded, bounded, and discreet about where it went.

No redirects, no proxies, no cookies, at most ``SECONDS`` in all. Addresses are judged after the name was
looked up, and the connection goes to one of those addresses and no other. Messages name the host alone: a
webhook's path is its password.
"""

import os
import socket
import ssl
from asyncio import get_running_loop
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Self, TypeAlias

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from pydantic import SecretStr
from yarl import URL

from loopwatch.clock import Clock, SystemClock
from loopwatch.config.reach import Reach, all_public, host_of, url_fault
from loopwatch.errors import ChannelError

SECONDS = 10.0
"""Time that a request may take in all, from looking up the name to the end of the answer's beginning."""
_READ = 4_000
"""Bytes of an answer that are read; error codes are in the first hundred."""

Lookup: TypeAlias = Callable[[str, int], Awaitable[list[tuple[int, str]]]]
"""From a name and a port to its addresses: each with its family (``AF_INET``, ``AF_INET6``)."""

_TRANSIENT = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the status, the beginning of the text, and the wait in seconds that was asked for."""

    status: int
    text: str
    retry_after: float | None = None

    @property
    def ok(self) -> bool:
        """Whether it was taken."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def permanent(self) -> bool:
        """Whether the same request would be refused again: anything but 408, 425, 429 and 5xx."""
        return self.status < HTTPStatus.INTERNAL_SERVER_ERROR and self.status not in _TRANSIENT


class Poster:
    """Posts to webhooks. One for a process, opened with ``async with``.

    ``seconds`` bounds each request; ``lookup`` stands in for the system's resolver, and ``context`` for the
    TLS of the system's certificates.
    """

    def __init__(
        self,
        reach: Reach = Reach(),  # noqa: B008  frozen
        *,
        clock: Clock | None = None,
        seconds: float = SECONDS,
        lookup: Lookup | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._reach = reach
        self._clock = clock if clock is not None else SystemClock()
        self._seconds = seconds
        self._lookup = lookup if lookup is not None else _system_lookup
        self._tls: ssl.SSLContext | bool = context if context is not None else True
        self._open = AsyncExitStack()
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(
            resolver=_Guard(self._reach, self._lookup), ssl=self._tls, use_dns_cache=False, force_close=True
        )
        self._session = await self._open.enter_async_context(
            aiohttp.ClientSession(
                connector=connector,
                timeout=aiohttp.ClientTimeout(total=self._seconds),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": "loopwatch"},
                trust_env=False,
            )
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def post(self, url: SecretStr, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Post ``body``, as JSON unless the headers say otherwise; any status is an answer.

        Raises ChannelError where there is none, and for an address that is not allowed.
        """
        if self._session is None:
            raise RuntimeError("the poster is not open: async with Poster() as poster")
        address = url.get_secret_value()
        host = host_of(address)
        target = _target(address, self._reach)
        try:
            async with self._session.post(
                target,
                data=body,
                headers={"Content-Type": "application/json", **headers},
                allow_redirects=False,
            ) as response:
                text = (await response.content.read(_READ)).decode("utf-8", "replace")
                wait = _seconds_of(response.headers.get("Retry-After"), self._clock.now())
                return Answer(response.status, text, wait)
        except TimeoutError:
            reason = f"{host} did not answer within {self._seconds:g} seconds"
        except (aiohttp.ClientError, OSError) as error:
            reason = _reason(error, host)
        # Outside of the handler: what aiohttp raises has the URL in it, and must not travel along.
        raise ChannelError(reason)

    async def deliver(
        self,
        url: SecretStr,
        body: bytes,
        headers: Mapping[str, str] | None = None,
        *,
        reason: Callable[[Answer], str] = lambda _: "",
    ) -> None:
        """Post, and raise ChannelError unless it was taken; ``reason`` reads one from the answer."""
        answer = await self.post(url, body, headers or {})
        if not answer.ok:
            host = host_of(url.get_secret_value())
            raise ChannelError(
                f"{host} answered HTTP {answer.status}{_hint(answer)} {reason(answer)}".rstrip(),
                permanent=answer.permanent,
                retry_after=answer.retry_after,
            )


class _Guard(AbstractResolver):
    """Looks names up and lets only allowed addresses through; aiohttp connects to what it returns."""

    def __init__(self, reach: Reach, lookup: Lookup) -> None:
        self._reach = reach
        self._lookup = lookup

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._lookup(host, port)
        if not self._reach.private and not all_public(address for _, address in found):
            reason = f"{host} has a private address: use a public one, or allow private addresses"
            raise ChannelError(reason, permanent=True)
        return [
            ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=0)
            for kind, address in found
            if family in (socket.AF_UNSPEC, kind)
        ]

    async def close(self) -> None:
        """Nothing is kept."""


async def _system_lookup(host: str, port: int) -> list[tuple[int, str]]:
    found = await get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(int(family), str(address[0])) for family, _, _, _, address in found]


def _target(url: str, reach: Reach) -> URL:
    """The URL as aiohttp reads it, judged once more by the host that *it* sees in it."""
    fault = url_fault(url, reach)
    target = None
    try:
        target = URL(url)
        fault = fault or url_fault(str(target.origin()), reach)
    except ValueError:
        fault = fault or "cannot be read"
    if fault is not None or target is None:
        raise ChannelError(f"the webhook's URL {fault}", permanent=True)
    return target


def _reason(error: Exception, host: str) -> str:
    """Why there was no answer, without the URL."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"{host} has no address"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"the certificate of {host} is not trusted"
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return f"{host} speaks no TLS that can be used"
    if isinstance(error, aiohttp.ClientConnectorError):
        number = error.os_error.errno
        return f"cannot connect to {host}: {os.strerror(number) if number else 'no address answers'}"
    return f"{host} broke the connection off"


def _hint(answer: Answer) -> str:
    is_redirect = HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST
    return ": redirects are not followed, set the address it leads to" if is_redirect else ""


def _seconds_of(retry_after: str | None, now: datetime) -> float | None:
    """The wait that a Retry-After header asks for, in seconds or by a date; None where it says neither."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, IndexError):
        return None
    at = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())
