"""What every page of the console is protected by: headers, and checks of where a request comes from.

No script and no style runs but our own files (a strict CSP), nobody frames us, nothing is cached. A
request must name us by an address, by ``localhost``, or by a name that this server was told is its own:
else another site's name could be pointed here (DNS rebinding). A change must come from our own pages.
"""

import ipaddress
from collections.abc import Iterable
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loopwatch.server.pages.failures import failure

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_OTHERS = ("/api/", "/v1/", "/healthz", "/readyz", "/metrics", "/openapi.json")
"""Beginnings of the paths that programs ask, with keys of their own."""
_SAFE = ("GET", "HEAD", "OPTIONS")


def is_page(path: str) -> bool:
    """Whether a path is the console's, rather than the API's."""
    return not path.startswith(_OTHERS)


class Protected:
    """Adds the headers to every page, and refuses what does not come from where it should."""

    def __init__(self, app: ASGIApp, public_url: str, hosts: Iterable[str] = ()) -> None:
        """``public_url`` is how people reach us; ``hosts`` are further names that are ours."""
        self._app = app
        self._hosts = {"localhost", *hosts}
        self._public_host = urlsplit(public_url).hostname or ""
        self._hosts.add(self._public_host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass pages on, protected; everything else as it is."""
        if scope["type"] != "http" or not is_page(scope["path"]):
            await self._app(scope, receive, send)
            return

        async def protecting(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refused = self._refused(scope["method"], Headers(scope=scope))
        if refused is None:
            await self._app(scope, receive, protecting)
        else:
            await failure(*refused)(scope, receive, protecting)

    def _refused(self, method: str, headers: Headers) -> tuple[int, str] | None:
        """Why a request goes no further, if it does not."""
        host = _host(f"//{headers.get('host', '')}")
        if host not in self._hosts and not _is_address(host):
            reason = "this server does not go by that name: start it with --public-url and the name"
            return HTTPStatus.MISDIRECTED_REQUEST, reason
        if method in _SAFE:
            return None
        origin = headers.get("origin")
        came = headers.get("sec-fetch-site", "same-origin")
        if came not in ("same-origin", "none") or (
            origin is not None and not _is_ours(origin, headers["host"])
        ):
            return HTTPStatus.FORBIDDEN, "this request comes from another site: nothing was changed"
        return None


def _is_ours(origin: str, host: str) -> bool:
    """Whether an origin is the host that was asked, whatever a proxy before us made of the scheme."""
    return urlsplit(origin).netloc.lower() == host.lower()


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
