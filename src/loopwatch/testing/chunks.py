"""Chat completion chunks as events, the way OpenAI's API streams them: what the servers here write."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

_TOKEN = re.compile(r"\s?\w+|\W")
"""What stands in for a tokenizer: a word with the space before it, or a mark."""


def tokens(text: str) -> Iterator[str]:
    """The text in pieces of about a token."""
    return iter(_TOKEN.findall(text))


def event(data: bytes) -> bytes:
    """One server-sent event."""
    return b"data: " + data + b"\n\n"


def json_event(document: Mapping[str, Any]) -> bytes:
    """One event that holds a document."""
    return event(msgspec.json.encode(document))


DONE = event(b"[DONE]")
"""The event after the last chunk."""


def head(identity: str | None, model: str) -> dict[str, Any]:
    """What every chunk of a reply begins with."""
    return {"id": identity, "object": "chat.completion.chunk", "created": 0, "model": model}


def present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def choice(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    """The only choice of a chunk."""
    return {"index": 0, "delta": delta, "finish_reason": finish_reason}


def usage(input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """The figures that every provider sends."""
    return {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }
