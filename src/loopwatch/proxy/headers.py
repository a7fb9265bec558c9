"""Headers on their way through: all but those that are about one connection alone (RFC 9110, 7.6.1)."""

from collections.abc import Iterable, Mapping

from multidict import CIMultiDict

from loopwatch.client.transport import Response
from loopwatch.sdk.labels import HEADERS as LABELS

HOP = frozenset(
    (
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
        *("te", "trailer", "transfer-encoding", "upgrade"),
    )
)
KEY = "x-loopwatch-key"
"""The header with the proxy's own key."""
OURS = frozenset((KEY, *LABELS))
"""Headers that are for us and go no further."""
ASKED_ANEW = frozenset(("host", "expect"))
"""Headers that our own request has its own of."""

Headers = list[tuple[bytes, bytes]]


def onward(headers: Headers, *, via: str, watched: bool, length: bool) -> CIMultiDict[str]:
    """The headers of our own request: the client's, and ``via`` us.

    What is ``watched`` is asked for unpacked, for compressed events come late. ``length`` says whether the
    body's length stays as announced.
    """
    dropped = HOP | OURS | ASKED_ANEW | _named(headers)
    if not length:
        dropped |= {"content-length"}
    if watched:
        dropped |= {"accept-encoding"}
    kept = CIMultiDict(
        (key, value.decode("latin-1"))
        for name, value in headers
        if (key := name.decode("latin-1").lower()) not in dropped
    )
    if watched:
        kept["accept-encoding"] = "identity"
    kept.add("via", f"1.1 {via}")
    return kept


def _named(headers: Headers) -> frozenset[str]:
    """The headers that ``Connection`` names: they are about the connection too."""
    values = (value.decode("latin-1") for name, value in headers if name == b"connection")
    return frozenset(token.strip().lower() for value in values for token in value.split(","))


def back(response: Response, *, without: Iterable[str] = ()) -> Headers:
    """The headers of our answer: the upstream's, those in ``without`` left out."""
    dropped = HOP | frozenset(without)
    dropped |= {
        token.strip().lower()
        for token in _text(response.headers, "connection").split(",")
        if token.strip().lower() != "close"
    }
    return [
        (name.lower().encode("latin-1"), value.encode("utf-8", "surrogateescape"))
        for name, value in response.headers.items()
        if name.lower() not in dropped and _is_sendable(value)
    ]


def _is_sendable(value: str) -> bool:
    return all(character == "\t" or " " <= character != "\x7f" for character in value)


def _text(headers: Mapping[str, str], name: str) -> str:
    return headers.get(name) or ""


def content_type(response: Response) -> str:
    """What the body is, without parameters, in lower case."""
    return _text(response.headers, "content-type").partition(";")[0].strip().lower()


def encoding(response: Response) -> str:
    """How the body is packed; nothing where it is not."""
    value = _text(response.headers, "content-encoding").strip().lower()
    return "" if value == "identity" else value
