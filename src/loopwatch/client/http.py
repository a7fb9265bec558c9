"""The real transport: aiohttp.

A connection serves one request. A reply that is dropped closes its connection, so there is little to
keep; and some servers (llama.cpp) announce that they keep a connection and close it all the same.
"""

import asyncio
import os
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from loopwatch.client.endpoint import is_loopback
from loopwatch.client.transport import Request, TransportError

CONNECT = 30
"""Seconds for a connection to be made, TLS included. What comes later is the client's two clocks' affair."""


class AiohttpTransport:
    """Sends requests with aiohttp, through the proxies that the environment names."""

    def __init__(self, ssl_context: ssl.SSLContext | None = None) -> None:
        """Use ``ssl_context`` where a server's certificate is not one of the system's."""
        self._ssl = ssl_context
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def send(self, request: Request) -> "AiohttpResponse":
        """Send a request and wait for the head of its answer. Raises TransportError where none comes."""
        try:
            response = await self._running().request(
                request.method,
                request.url,
                headers=request.headers,
                data=request.body or None,
                proxy=_proxy(request.url),
                allow_redirects=False,  # a key is for the host that it was given for
            )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _told(error, request.url) from None
        return AiohttpResponse(response)

    async def aclose(self) -> None:
        """Close whatever is open."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _running(self) -> aiohttp.ClientSession:
        """The session of the running event loop; one of another loop is of no use."""
        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            connector = aiohttp.TCPConnector(
                limit=0,  # to wait for others would count as a provider that is silent
                force_close=True,
                ssl=self._ssl if self._ssl is not None else True,
            )
            timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT)
            self._session = aiohttp.ClientSession(
                connector=connector, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()
            )
            self._loop = loop
        return self._session


class AiohttpResponse:
    """An answer whose head has arrived."""

    __slots__ = ("_response",)

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        """Take over aiohttp's."""
        self._response = response

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
            return await self._response.content.readany()
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _told(error, str(self._response.url)) from None

    def drop(self) -> None:
        """Close the connection, whatever is still to come."""
        self._response.close()


def _proxy(url: str) -> str | None:
    """The proxy for an address. Not aiohttp's ``trust_env``: that reads passwords from ~/.netrc as well."""
    parts = urlsplit(url)
    if not parts.hostname or is_loopback(parts.hostname) or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


def _told(error: Exception, url: str) -> TransportError:
    """What aiohttp says, in words of ours: its own may quote what was sent."""
    parts = urlsplit(url)
    host = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return _unconnected(error, host)
    if isinstance(error, TimeoutError):
        return TransportError(f"cannot connect to {host} within {CONNECT} seconds")
    if isinstance(error, aiohttp.ClientResponseError):
        return TransportError(f"{host} does not speak HTTP: check the scheme and the port", permanent=True)
    if isinstance(error, aiohttp.ClientError | ConnectionError):
        return TransportError(f"{host} closed the connection before the answer was complete")
    return TransportError(f"the request could not be sent ({type(error).__name__})", permanent=True)


def _unconnected(error: aiohttp.ClientConnectorError, host: str) -> TransportError:
    """Why there is no connection."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = getattr(error.certificate_error, "verify_message", "") or "it cannot be verified"
        return TransportError(f"the certificate of {host} was refused: {why}", permanent=True)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        why = getattr(error.os_error, "reason", None) or "no common protocol"
        reason = f"TLS with {host} failed ({why}): is it http:// instead of https://?"
        return TransportError(reason, permanent=True)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return TransportError(f"there is no host called {error.host}: check the base URL")
    number = error.os_error.errno
    why = os.strerror(number) if number else "no answer"  # asyncio's own text repeats the address
    return TransportError(f"cannot connect to {host}: {why}")
