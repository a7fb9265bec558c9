"""Decoding JSON that anybody may have sent: whatever is wrong with it is one kind of error."""

from typing import TypeVar

import msgspec

T = TypeVar("T")

_anything = msgspec.json.Decoder()


def decoded(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """What ``data`` holds. Raises msgspec.DecodeError, also for what is no UTF-8 or nested too deep."""
    try:
        return decoder.decode(data)
    except UnicodeDecodeError:
        raise msgspec.DecodeError("it is not UTF-8") from None
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deep") from None


def anything(data: bytes) -> object:
    """The JSON value that ``data`` is, of whatever shape. Raises msgspec.DecodeError where it is none."""
    return decoded(_anything, data)


def text_of(raw: msgspec.Raw) -> str:
    """A JSON value as it was written; nothing where it is null. Raises msgspec.DecodeError as above."""
    try:
        text = bytes(raw).decode()
    except UnicodeDecodeError:
        raise msgspec.DecodeError("it is not UTF-8") from None
    return "" if text == "null" else text


def is_json(data: bytes) -> bool:
    """Whether ``data`` is one whole JSON value."""
    try:
        decoded(_anything, data)
    except msgspec.DecodeError:
        return False
    return True
