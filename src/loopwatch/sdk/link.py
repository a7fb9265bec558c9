"""The connection to a loopwatch server, over httpx2, which every vendor's SDK brings along.

It is imported with the first request. Answers are read up to a size, a key is never shown.
"""

import gzip
import math
import threading
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from loopwatch.errors import MissingPackage, SettingsError
from loopwatch.wire.decoding import anything

if TYPE_CHECKING:
    import httpx2

POST_SECONDS = 10.0
CHECK_SECONDS = 2.0
LONGEST_ASKED = 300.0
"""Seconds of a Retry-After that are obeyed at most."""
GZIP_LEVEL = 5
EXAMPLE = "http://127.0.0.1:8700"
PROXY = "the proxy that the environment names cannot be used"
REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
"""The answers to a key that is none."""


class _BadProxy(Exception):
    """The environment names a proxy that httpx2 can do nothing with."""


class Answer(NamedTuple):
    """A server's answer: ``status`` 0 where there is none; ``document`` None where it is no JSON object.

    ``fault`` says why there is none, where it is not the server.
    """

    status: int
    document: dict[str, Any] | None = None
    retry_after: float | None = None
    fault: str | None = None


class Link:
    """Asks one server with one key. Safe to use from several threads; made anew in a forked child."""

    def __init__(self, endpoint: str, api_key: str | None) -> None:
        base = _address(endpoint)
        for ending in ("/api/v1/log", "/api/v1/calls", "/api/v1"):
            base = base.removesuffix(ending)
        self._base = base
        self._key = _header(api_key)
        self._client: httpx2.Client | None = None
        self._lock = threading.Lock()

    @property
    def _is_here(self) -> bool:
        """Whether the server is on this machine, where no proxy stands between."""
        return urlsplit(self._base).hostname in {"localhost", "127.0.0.1", "::1"}

    def __repr__(self) -> str:
        """Whom it asks, without the key."""
        return f"Link({_without_password(self._base)!r})"

    def post(self, rows: Sequence[bytes]) -> Answer:
        """Send rows, each one JSON object, as one batch."""
        body = gzip.compress(b"\n".join(rows), GZIP_LEVEL, mtime=0)
        headers = {"content-type": "application/x-ndjson", "content-encoding": "gzip"}
        return self._ask("POST", "/api/v1/calls", POST_SECONDS, content=body, headers=headers)

    def check(self, user: str, plan: str, model: str) -> Answer:
        """Ask whether a user's next call may be made."""
        params = {"userId": user, "planName": plan, "model": model}
        return self._ask("GET", "/api/v1/check", CHECK_SECONDS, params=params)

    def close(self) -> None:
        """Close the connections; the next request opens others."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def forget(self) -> None:
        """Leave the connections to the process that this one was forked from."""
        self._lock = threading.Lock()
        self._client = None

    def _ask(self, method: str, path: str, seconds: float, **request: Any) -> Answer:
        try:
            client, failures = self._open()
        except _BadProxy as error:
            return Answer(0, fault=str(error))
        headers = request.pop("headers", {})
        if self._key is not None:
            headers["x-api-key"] = self._key
        try:
            response = client.request(method, self._base + path, headers=headers, timeout=seconds, **request)
        except failures:
            return Answer(0)
        return Answer(
            response.status_code, _document(response.content), _seconds(response.headers.get("retry-after"))
        )

    def _open(self) -> "tuple[httpx2.Client, tuple[type[Exception], ...]]":
        try:
            import httpx2
        except ImportError:
            raise MissingPackage("the tracker sends with httpx2: pip install 'loopwatch[sdk]'") from None
        with self._lock:
            if self._client is None:
                try:
                    self._client = httpx2.Client(follow_redirects=False, trust_env=not self._is_here)
                except ImportError as error:
                    raise _BadProxy(f"{PROXY} ({error})") from None
                except (ValueError, httpx2.InvalidURL):  # which may quote a password
                    raise _BadProxy(f"{PROXY}: is its address right?") from None
            return self._client, (httpx2.HTTPError, httpx2.InvalidURL, OSError, RuntimeError)


def _address(endpoint: str) -> str:
    """A server's address. Raises SettingsError for what is none."""
    address = endpoint.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(character.isspace() for character in address):
        raise SettingsError(
            f"endpoint is {_without_password(endpoint)!r}: give the server's address, like {EXAMPLE}"
        )
    return address


def _without_password(endpoint: str) -> str:
    return endpoint.rpartition("@")[2]


def _header(key: str | None) -> str | None:
    """A key as a header may carry it, without the line break of the file that it was in."""
    if key is None:
        return None
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise SettingsError(
            "api_key holds characters that no key has: give it as `loopwatch keys create` prints it"
        )
    return key


def _document(content: bytes) -> dict[str, Any] | None:
    try:
        document = anything(content)
    except Exception:  # noqa: BLE001  a page of a proxy, or whatever else
        return None
    return document if isinstance(document, dict) else None


def _seconds(header: str | None) -> float | None:
    """What a Retry-After asks for, where it is a number of seconds."""
    try:
        value = float(header or "")
    except ValueError:
        return None
    return min(value, LONGEST_ASKED) if math.isfinite(value) and value >= 0 else None
