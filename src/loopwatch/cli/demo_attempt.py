"""One guarded attempt of the demo: a request, and the reply as it streams in."""

import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from loopwatch.client.items import Delta, Reply
from loopwatch.client.model import ModelClient
from loopwatch.detect.trip import Trip
from loopwatch.errors import LoopedReply, LoopwatchError


@dataclass(slots=True)
class Attempt:
    """What came of it: the verdict if it became a loop, and the model's own reason for ending."""

    chars: int = 0
    tokens: int = 0
    seconds: float = 0
    finish_reason: str | None = None
    trip: Trip | None = None


async def ask(
    client: ModelClient, request: dict[str, Any], show: Callable[[str], None], patience: int | None = None
) -> Attempt:
    """Stream a reply through ``show`` until it ends, loops, or has ``patience`` tokens.

    However it is left, its connection is closed, so that the model stops. Raises LoopwatchError where
    the model does not answer or its reply breaks off.
    """
    attempt = Attempt()
    began = time.monotonic()
    try:
        async with aclosing(client.stream(request)) as items:
            async for item in items:
                if isinstance(item, Reply):
                    if item.finish_reason is None:
                        raise LoopwatchError("the model's reply broke off")
                    attempt.finish_reason = item.finish_reason
                elif isinstance(item, Delta) and item.channel == "content":
                    attempt.tokens += 1
                    attempt.chars += len(item.text)
                    show(item.text)
                if attempt.tokens == patience:
                    break
    except LoopedReply as loop:
        (attempt.trip,) = loop.trips
        attempt.tokens += 1  # the piece at which it was cut was not shown
        attempt.chars = attempt.trip.chars
    finally:
        show("\n")
        attempt.seconds = time.monotonic() - began
    return attempt
