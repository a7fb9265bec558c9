"""OTLP's binary form, as far as spans need it: bytes in, the same shape out that its JSON form has.

A few field numbers of ``opentelemetry.proto.collector.trace.v1`` stand here instead of a dependency of
several megabytes. Fields that are not named are skipped, so newer senders are understood.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from loopwatch.errors import InputError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""The wire types that are in use."""
_MOST_VARINT = 10
_MOST_DEPTH = 32
_MOST_FIELDS = 200_000
"""Fields of a request, of any kind: 512 spans, as exporters send them, have some 20,000."""
_SIGN = 1 << 63


class Field(NamedTuple):
    """One field of a message: its number's name, how it is read, whether it may come more than once."""

    name: str
    kind: int
    read: "Callable[[Any, Depth], Any]"
    many: bool = False


Message = Mapping[int, Field]


class Depth:
    """How deep a message is being read, and how many fields of it have been."""

    __slots__ = ("fields", "level")

    def __init__(self) -> None:
        """Begin at the outside."""
        self.level = 0
        self.fields = 0


def decode(data: bytes, message: Message, depth: "Depth") -> dict[str, Any]:
    """One message. Raises InputError for bytes that are none, or hold too many fields."""
    if depth.level > _MOST_DEPTH:
        raise InputError("the protobuf message is nested too deeply")
    depth.level += 1
    values: dict[str, Any] = {}
    for number, kind, value in _fields(memoryview(data)):
        depth.fields += 1
        if depth.fields > _MOST_FIELDS:
            raise InputError(f"the message has more than {_MOST_FIELDS} fields: send fewer spans at once")
        field = message.get(number)
        if field is None or field.kind != kind:
            continue
        read = field.read(value, depth)
        if field.many:
            values.setdefault(field.name, []).append(read)
        else:
            values[field.name] = read
    depth.level -= 1
    return values


def _fields(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, at = _varint(data, at)
            yield number, kind, value
            continue
        if kind == BYTES:
            size, at = _varint(data, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise InputError("the body is no protobuf message: unknown wire type")
        if at + size > len(data):
            raise InputError("the protobuf message breaks off: send all of it")
        yield number, kind, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(data[at : at + _MOST_VARINT]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:  # noqa: PLR2004  the last byte of a number has its highest bit clear
            return value & 0xFFFF_FFFF_FFFF_FFFF, at + place + 1
    raise InputError("the body is no protobuf message: a number does not end")


def _text(value: memoryview, _: object) -> str:
    return bytes(value).decode("utf-8", "replace")


def _hex(value: memoryview, _: object) -> str:
    return value.hex()


def _moment(value: memoryview, _: object) -> int:
    return int.from_bytes(value, "little")


def _signed(value: int, _: object) -> int:
    return value - (1 << 64) if value & _SIGN else value


def _double(value: memoryview, _: object) -> float:
    number: float = struct.unpack("<d", value)[0]
    return number


def _flag(value: int, _: object) -> bool:
    return bool(value)


def _nested(message: Message) -> Callable[[memoryview, Depth], dict[str, Any]]:
    def read(value: memoryview, depth: Depth) -> dict[str, Any]:
        return decode(bytes(value), message, depth)

    return read


# An attribute's value: lists and objects in it are what messages are made of, and are not even read.
_VALUE: Message = {
    1: Field("stringValue", BYTES, _text),
    2: Field("boolValue", VARINT, _flag),
    3: Field("intValue", VARINT, _signed),
    4: Field("doubleValue", FIXED64, _double),
}
_ATTRIBUTE: Message = {1: Field("key", BYTES, _text), 2: Field("value", BYTES, _nested(_VALUE))}
_RESOURCE: Message = {1: Field("attributes", BYTES, _nested(_ATTRIBUTE), many=True)}
_STATUS: Message = {3: Field("code", VARINT, _signed)}
_SPAN: Message = {
    1: Field("traceId", BYTES, _hex),
    2: Field("spanId", BYTES, _hex),
    4: Field("parentSpanId", BYTES, _hex),
    5: Field("name", BYTES, _text),
    7: Field("startTimeUnixNano", FIXED64, _moment),
    8: Field("endTimeUnixNano", FIXED64, _moment),
    9: Field("attributes", BYTES, _nested(_ATTRIBUTE), many=True),
    15: Field("status", BYTES, _nested(_STATUS)),
}
_SCOPE_SPANS: Message = {2: Field("spans", BYTES, _nested(_SPAN), many=True)}
_RESOURCE_SPANS: Message = {
    1: Field("resource", BYTES, _nested(_RESOURCE)),
    2: Field("scopeSpans", BYTES, _nested(_SCOPE_SPANS), many=True),
}
_REQUEST: Message = {1: Field("resourceSpans", BYTES, _nested(_RESOURCE_SPANS), many=True)}


def decode_request(data: bytes) -> dict[str, Any]:
    """An ``ExportTraceServiceRequest`` in the shape of its JSON form. Raises InputError."""
    return decode(data, _REQUEST, Depth())


def encode_answer(rejected: int, reason: str) -> bytes:
    """An ``ExportTraceServiceResponse``; empty where every span was taken."""
    if not rejected:
        return b""
    text = reason.encode()
    partial = b"\x08" + _encoded(rejected) + b"\x12" + _encoded(len(text)) + text
    return b"\x0a" + _encoded(len(partial)) + partial


def _encoded(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:  # noqa: PLR2004  seven bits a byte
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
