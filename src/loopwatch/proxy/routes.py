"""What a path means: whose API it is, what is spoken there, and what the client put before it.

A client's base URL ends where its program wants it to: ``/v1``, ``/v1beta``, ``/openai/v1``, nothing. All
of that is dropped, for the upstream's own base URL says where the API begins. Before it may stand labels
of ours: ``/u/NAME`` for the user, ``/k/KEY`` for the proxy's own key.
"""

import re
from typing import NamedTuple
from urllib.parse import unquote

from loopwatch.errors import InputError
from loopwatch.proxy.dialects.dialect import Vendor
from loopwatch.proxy.dialects.names import DialectName

ENDINGS: dict[str, DialectName] = {
    "/chat/completions": "chat",
    "/completions": "completions",
    "/responses": "responses",
}
"""Paths of OpenAI's API at which a model answers, whatever stands before them."""

_LABELS = re.compile(r"/([uk])/([^/]+)(?=/|$)")
_VERSION = re.compile(r"(?:/[A-Za-z][\w.-]*){0,2}?/v\d+(?:(?:alpha|beta)\d*)?(?=/|$)")
_GENERATE = re.compile(r".*:(?:stream[gG]|g)enerateContent", re.DOTALL)
_OLLAMA = "/api"
_UPLOAD = "/upload/"
"""Where Gemini takes files: its version stands behind this, not before."""


class Route(NamedTuple):
    """Whose API, what is spoken there (None: nothing that is watched), and the path behind the version.

    ``rooted`` paths count from the upstream's host, not from its base URL.
    """

    vendor: Vendor
    dialect: DialectName | None
    path: str
    user: str | None = None
    key: str | None = None
    rooted: bool = False


def route(method: str, path: str, headers: frozenset[bytes]) -> Route:
    """What is asked by a request with headers of these names (in lower case).

    Raises InputError for a path that climbs.
    """
    labels: dict[str, str] = {}
    while label := _LABELS.match(path):
        labels[label[1]] = unquote(label[2])
        path = path[label.end() :] or "/"
    if any(unquote(part) in (".", "..") for part in path.split("/")):
        raise InputError("the path has . or .. in it: ask for the address itself")
    found = _named(path, headers)
    if method != "POST":
        found = found._replace(dialect=None)
    return found._replace(user=labels.get("u"), key=labels.get("k"))


def _named(path: str, headers: frozenset[bytes]) -> Route:
    for ending, dialect in ENDINGS.items():
        if path.endswith(ending):
            return Route("openai", dialect, ending)
    if path.startswith(_UPLOAD):
        return Route("gemini", None, path, rooted=True)
    version = _VERSION.match(path)
    rest = path[version.end() :] if version else path
    if rest == "/messages":
        return Route("anthropic", "anthropic", rest)
    if _GENERATE.fullmatch(rest):
        return Route("gemini", "gemini", rest)
    if version is None and path.startswith(f"{_OLLAMA}/"):
        rest = path.removeprefix(_OLLAMA)
        return Route("ollama", "ollama" if rest in ("/chat", "/generate") else None, rest)
    return Route(_vendor(path, headers), None, rest)


def _vendor(path: str, headers: frozenset[bytes]) -> Vendor:
    """Whose API a path is of that several have (``/models``): the headers that clients send tell."""
    if not headers.isdisjoint((b"anthropic-version", b"x-api-key")):
        return "anthropic"
    if b"x-goog-api-key" in headers or path.startswith("/v1beta"):
        return "gemini"
    return "openai"
