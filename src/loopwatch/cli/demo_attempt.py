"""One guarded attempt of the demo: a request, and the reply as it streams in."""

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

import aiohttp
import msgspec

from loopwatch.detect.guard import watch
from loopwatch.detect.trip import Trip
from loopwatch.errors import InputError, LoopTripped, LoopwatchError
from loopwatch.wire.openai import DONE, Choice, decode_chunk
from loopwatch.wire.sse import Event, SSEDecoder


class Model(Protocol):
    """Whoever answers: where, and under which name."""

    @property
    def base_url(self) -> str:
        """Such as ``http://127.0.0.1:8080/v1``."""

    @property
    def name(self) -> str:
        """What requests call it."""


@dataclass(slots=True)
class Attempt:
    """What came of it: the verdict if it became a loop, and the model's own reason for ending."""

    chars: int = 0
    tokens: int = 0
    seconds: float = 0
    finish_reason: str | None = None
    trip: Trip | None = None


async def ask(
    session: aiohttp.ClientSession,
    model: Model,
    request: dict[str, Any],
    show: Callable[[str], None],
    patience: int | None = None,
) -> Attempt:
    """Stream a reply through ``show`` until it ends, loops, or has ``patience`` tokens.

    However it is left, its connection is closed, so that the model stops. Raises LoopwatchError, with
    the model's address, where it does not answer or its reply breaks off.
    """
    attempt = Attempt()
    began = time.monotonic()
    try:
        async with aclosing(watch(_pieces(session, model, request, attempt), "balanced")) as pieces:
            async for piece in pieces:
                show(piece)
                if attempt.tokens == patience:
                    break
    except LoopTripped as loop:
        attempt.trip = loop.trip
    finally:
        show("\n")
        attempt.seconds = time.monotonic() - began
    return attempt


async def _pieces(
    session: aiohttp.ClientSession, model: Model, request: dict[str, Any], attempt: Attempt
) -> AsyncIterator[str]:
    """The pieces of the reply's text; ``attempt`` counts along."""
    url, body = f"{model.base_url}/chat/completions", {"model": model.name, "stream": True} | request
    decoder = SSEDecoder()
    try:
        async with session.post(url, json=body, raise_for_status=True) as response:
            async for data in response.content.iter_any():
                for choice in _choices(decoder.feed(data)):
                    attempt.finish_reason = choice.finish_reason or attempt.finish_reason
                    if choice.delta is not None and choice.delta.content:
                        attempt.tokens += 1
                        attempt.chars += len(choice.delta.content)
                        yield choice.delta.content
    except (aiohttp.ClientError, msgspec.DecodeError, InputError) as error:
        raise LoopwatchError(f"the model at {model.base_url} does not answer: {_reason(error)}") from None
    if attempt.finish_reason is None:
        raise LoopwatchError(f"the reply of the model at {model.base_url} broke off")


def _choices(events: list[Event]) -> list[Choice]:
    """The first choice of each chunk; the one with the usage has none."""
    chunks = [decode_chunk(event.data) for event in events if event.data != DONE]
    return [chunk.choices[0] for chunk in chunks if chunk.choices]


def _reason(error: Exception) -> str:
    """One line; without the address, which aiohttp's own sentences repeat."""
    if isinstance(error, aiohttp.ClientConnectorError) and error.errno:
        return os.strerror(error.errno)
    if isinstance(error, aiohttp.ClientResponseError):
        return f"HTTP {error.status} {error.message}"
    return " ".join(str(error).split()) or type(error).__name__
