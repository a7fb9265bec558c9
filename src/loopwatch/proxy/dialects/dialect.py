"""What the proxy asks of a provider's dialect."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import msgspec

from loopwatch.wire.assembly import Format
from loopwatch.wire.decoding import anything
from loopwatch.wire.reader import PASSED_OVER
from loopwatch.wire.usage import Usage

Vendor = Literal["openai", "anthropic", "gemini", "ollama"]
"""Whose API."""
SHAPELESS = (msgspec.DecodeError, AttributeError, KeyError, TypeError, ValueError)
"""What an event raises that is of no shape that its provider sends."""
Framing = Literal["events", "lines", "array"]
"""How a stream is cut: server-sent events, a JSON object a line, or the elements of one array."""


class Asked(NamedTuple):
    """A request for a reply, its body decoded: ``fields`` as values, ``raw`` each as it was written."""

    path: str
    query: str
    fields: dict[str, Any]
    raw: dict[str, msgspec.Raw]

    def with_fields(self, **fields: Any) -> bytes:
        """The body with some fields set anew; every other is written as it came."""
        return msgspec.json.encode({**self.raw, **fields})


class Onward(NamedTuple):
    """A request as it is sent on."""

    path: str
    query: str
    body: bytes


class Tail(ABC):
    """What must be known of a stream to end it before its time. ``hear`` each event that was relayed."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        """Start before the first event."""
        self.last = b"{}"

    def hear(self, data: bytes) -> None:
        """Take note of an event's data."""
        self.last = data

    @abstractmethod
    def closing(self, usage: Usage, remark: str) -> bytes:
        """What ends the stream as its provider would, after a comment where the format knows one."""

    @abstractmethod
    def failing(self, message: str) -> bytes:
        """What ends the stream with an error in the provider's shape."""

    @property
    def latest(self) -> dict[str, Any]:
        """The last event's object."""
        value = anything(self.last)
        return value if isinstance(value, dict) else {}


class Assembler(ABC):
    """Puts the events of a stream together to the document that was asked for."""

    def __init__(self) -> None:
        """Start before the first event."""
        self.error: dict[str, Any] | None = None
        self.is_torn = False

    def hear(self, data: bytes) -> None:
        """Take an event's data; what is none of the provider's leaves a document that ``is_torn``."""
        if not data.strip() or data.startswith(PASSED_OVER):
            return
        try:
            value = anything(data)
            self.take(value if isinstance(value, dict) else {})
        except SHAPELESS:
            self.is_torn = True

    @abstractmethod
    def take(self, event: dict[str, Any]) -> None:
        """Take an event; one that is an error goes into ``error``."""

    @abstractmethod
    def document(self, cut: Usage | None = None) -> dict[str, Any] | None:
        """The document; of a reply that was ``cut``, with an end and these figures.

        None where the stream was not complete.
        """


class Dialect(ABC):
    """A provider's way to be asked for a reply."""

    vendor: ClassVar[Vendor]
    format: ClassVar[Format]

    def streams(self, asked: Asked) -> bool:
        """Whether a stream is asked for: only where the request says so."""
        return asked.fields.get("stream") is True

    @abstractmethod
    def is_single(self, asked: Asked) -> bool:
        """Whether it is for one reply, of a kind that streams: then it can be guarded."""

    def streaming(self, asked: Asked) -> Onward:
        """The same request, asked as a stream that tells its usage, as most do by themselves."""
        return Onward(asked.path, asked.query, asked.with_fields(stream=True))

    @abstractmethod
    def tail(self, asked: Asked, framing: Framing) -> Tail:
        """For a stream that answers it."""

    @abstractmethod
    def assembler(self) -> Assembler:
        """For a document that answers it."""

    def framing(self, content_type: str) -> Framing | None:
        """How an answer of that type is cut; None where it is no stream."""
        return "events" if content_type == "text/event-stream" else None

    def model(self, asked: Asked) -> str:
        """The model that is asked."""
        model = asked.fields.get("model")
        return model if isinstance(model, str) and model else "unknown"

    def most_tokens(self, asked: Asked) -> int | None:
        """The tokens that the reply may take at most, where the request says so."""
        for name in ("max_completion_tokens", "max_tokens", "max_output_tokens"):
            most = asked.fields.get(name)
            if type(most) is int and most > 0:
                return most
        return None


def json_event(document: Mapping[str, Any], event: str | None = None) -> bytes:
    """One server-sent event that holds a document."""
    head = f"event: {event}\n".encode() if event else b""
    return head + b"data: " + msgspec.json.encode(document) + b"\n\n"


def comment(text: str) -> bytes:
    """A comment in a stream of server-sent events: clients pass it over."""
    return f": {text}\n\n".encode()


def merged(old: Any, new: Any) -> Any:
    """Two fragments of one value: texts and lists joined (items of one index merged), of all else the new."""
    if old is None or new is None:
        return old if new is None else new
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    if isinstance(old, dict) and isinstance(new, dict):
        return merged_into(dict(old), new)
    if isinstance(old, list) and isinstance(new, list):
        return _joined(old, new)
    return new


NAMES = frozenset(("format", "id", "name", "object", "role", "type"))
"""Fields of a fragment that name something: they are said once, or again, never in pieces."""


def merged_into(whole: dict[str, Any], fragment: Mapping[str, Any]) -> dict[str, Any]:
    """``whole`` with a fragment merged into it, key by key."""
    for key, value in fragment.items():
        known = whole.get(key)
        whole[key] = (value or known) if key in NAMES else merged(known, value)
    return whole


def _joined(old: list[Any], new: list[Any]) -> list[Any]:
    joined = list(old)
    for item in new:
        index = item.get("index") if isinstance(item, dict) else None
        place = next(
            (at for at, one in enumerate(joined) if index is not None and one.get("index") == index), None
        )
        if place is None:
            joined.append(item)
        else:
            joined[place] = merged_into(dict(joined[place]), item)
    return joined
