"""The real transport: aiohttp.

A connection serves one request. A reply that is dropped closes its connection, so there is little to
keep; and some servers (llama.cpp) announce that they keep a connection and close it all the same.
"""

import asyncio
import ssl
from collections.abc import AsyncIterable, Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from loopwatch.client.endpoint import is_loopback
from loopwatch.client.faults import NO_PROXY, told
from loopwatch.client.transport import Request, TransportError

CONNECT = 30
"""Seconds for a connection to be made, TLS included. What comes later is the client's two clocks' affair."""


CLOSED = TransportError("the client has been closed: make a new one", permanent=True)


class AiohttpTransport:
    """Sends requests with aiohttp, through the proxies that the environment names."""

    def __init__(self, ssl_context: ssl.SSLContext | None = None) -> None:
        """Use ``ssl_context`` where a server's certificate is not one of the system's."""
        self.closed = False
        self._ssl = ssl_context
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def send(self, request: Request) -> "AiohttpResponse":
        """Send a request and wait for the head of its answer. Raises TransportError where none comes."""
        return await self.ask(request.method, URL(request.url), request.headers, request.body or None)

    async def ask(
        self, method: str, url: URL, headers: Mapping[str, str], body: "bytes | AsyncIterable[bytes] | None"
    ) -> "AiohttpResponse":
        """As ``send``; the body may also be one that is still coming."""
        address = str(url)
        proxy = _proxy(address)
        try:
            response = await self._running().request(
                method,
                url,
                headers=headers,
                data=body,
                proxy=proxy,
                allow_redirects=False,  # a key is for the host that it was given for
            )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self.failure(error, address, proxy) from None
        return AiohttpResponse(response, self, proxy)

    async def aclose(self) -> None:
        """Close whatever is open, for good: what is under way ends with a TransportError."""
        self.closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def failure(self, error: Exception, url: str, proxy: str | None) -> TransportError:
        """What to raise for an error of aiohttp's."""
        return CLOSED if self.closed else told(error, url, proxy, CONNECT)

    def _running(self) -> aiohttp.ClientSession:
        """The session of the running event loop; one of another loop is of no use."""
        if self.closed:
            raise CLOSED
        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            if self._session is not None and not self._session.closed:
                self._session.detach()  # its loop is gone, and with it all that was open
            self._session = self._new_session()
            self._loop = loop
        return self._session

    def _new_session(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=0,  # to wait for others would count as a provider that is silent
            force_close=True,
            ssl=self._ssl if self._ssl is not None else True,
        )
        timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT)
        return aiohttp.ClientSession(
            connector=connector, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()
        )


class AiohttpResponse:
    """An answer whose head has arrived."""

    __slots__ = ("_lost", "_proxy", "_response", "_transport")

    def __init__(
        self, response: aiohttp.ClientResponse, transport: AiohttpTransport, proxy: str | None
    ) -> None:
        """Take over aiohttp's."""
        self._response = response
        self._transport = transport
        self._proxy = proxy
        connection = response.connection
        protocol = connection.protocol if connection is not None else None
        self._lost = protocol.closed if protocol is not None else None
        if self._lost is not None:
            self._lost.add_done_callback(_hear_of)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers."""
        return self._response.headers

    async def read(self) -> bytes:
        """What has arrived since the last call; nothing at the end. Raises TransportError."""
        try:
            data = await self._response.content.readany()
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self._transport.failure(error, str(self._response.url), self._proxy) from None
        if not data:
            self._refuse_break()
        return data

    def _refuse_break(self) -> None:
        """Raise TransportError where the end was none: of a body without a length, any end looks like one."""
        if self._transport.closed:
            raise CLOSED
        lost = self._lost
        error = lost.exception() if lost is not None and lost.done() and not lost.cancelled() else None
        if isinstance(error, Exception):
            raise self._transport.failure(error, str(self._response.url), self._proxy)

    def drop(self) -> None:
        """Close the connection, whatever is still to come."""
        self._response.close()


def _hear_of(lost: "asyncio.Future[None]") -> None:
    """Or asyncio would complain that nobody asked how the connection ended."""
    if not lost.cancelled():
        lost.exception()


def _proxy(url: str) -> str | None:
    """The proxy for an address. Not aiohttp's ``trust_env``: that reads passwords from ~/.netrc as well."""
    parts = urlsplit(url)
    if not parts.hostname or is_loopback(parts.hostname) or proxy_bypass(parts.hostname):
        return None
    proxy = getproxies().get(parts.scheme)
    if proxy is not None and urlsplit(proxy).scheme not in ("http", "https"):
        raise TransportError(NO_PROXY, permanent=True)
    return proxy
