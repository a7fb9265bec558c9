"""Why there is no answer: what aiohttp says, in words of ours. Its own may quote what was sent."""

import os
from urllib.parse import urlsplit

import aiohttp

from loopwatch.client.transport import TransportError

NO_PROXY = "the proxy in the environment has no http:// address: correct HTTP_PROXY or HTTPS_PROXY"


def told(error: Exception, url: str, proxy: str | None, within: float) -> TransportError:
    """The error of a request to ``url``, by way of ``proxy`` where there is one.

    ``within`` are the seconds in which a connection had to be made.
    """
    host = _host(url)
    there = f"the proxy at {_host(proxy)}" if proxy is not None else host
    if isinstance(error, aiohttp.ClientConnectorError):
        return _unconnected(error, there, host)
    if isinstance(error, TimeoutError):
        return TransportError(f"cannot connect to {there} within {within:g} seconds")
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return _refused_by_proxy(error.status, there)
    why = _permanent(error, there, host, proxied=proxy is not None)
    if why is not None:
        return TransportError(why, permanent=True)
    return TransportError(f"{there} closed the connection before the answer was complete")


def _permanent(error: Exception, there: str, host: str, *, proxied: bool) -> str | None:
    """What asking again cannot change; None where it may."""
    if isinstance(error, aiohttp.ClientResponseError):
        return f"{there} sent what is no valid HTTP: check the scheme and the port"
    if proxied and isinstance(error, aiohttp.InvalidURL | ValueError):
        return NO_PROXY
    if isinstance(error, aiohttp.InvalidURL | UnicodeError):
        return f"there can be no host called {host}: check the base URL"
    if isinstance(error, aiohttp.ClientError | ConnectionError):
        return None
    return f"the request could not be sent ({type(error).__name__})"


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.hostname}:{port}"


def _unconnected(error: aiohttp.ClientConnectorError, there: str, host: str) -> TransportError:
    """Why there is no connection."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = getattr(error.certificate_error, "verify_message", "") or "it cannot be verified"
        return TransportError(f"the certificate of {host} was refused: {why}", permanent=True)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        why = getattr(error.os_error, "reason", None) or "no common protocol"
        reason = f"TLS with {host} failed ({why}): is it http:// instead of https://?"
        return TransportError(reason, permanent=True)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return TransportError(f"there is no host called {error.host}: check its address")
    number = error.os_error.errno
    why = os.strerror(number) if number else "no answer"  # asyncio's own text repeats the address
    return TransportError(f"cannot connect to {there}: {why}")


def _refused_by_proxy(status: int, there: str) -> TransportError:
    if status == 407:  # noqa: PLR2004  proxy authentication required
        return TransportError(
            f"{there} asks for a password (HTTP 407): put it into HTTPS_PROXY, http://user:password@host",
            permanent=True,
        )
    return TransportError(f"{there} did not let us through (HTTP {status})")
