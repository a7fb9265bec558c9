"""What a reply that was thrown away has cost in the end.

A stream that is dropped never brings its usage. OpenRouter, and whoever speaks like it, can be asked
for it later, under the reply's generation id; its books may lag, so a 404 means "not yet".
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import msgspec

from loopwatch.client.endpoint import Endpoint
from loopwatch.client.transport import Transport, TransportError
from loopwatch.client.watchdog import Expired, Watchdog
from loopwatch.clock import Clock
from loopwatch.wire.decoding import anything
from loopwatch.wire.usage import Usage, of_generation

EVERY = 2
"""Seconds between two look-ups of the same reply; with WITHIN, as the system of the seed has it."""

WITHIN = 30
"""Seconds after which a price that is not there is given up: 16 look-ups."""

AT_ONCE = 8
"""Look-ups that are under way at the same time."""

RECORD = 1_024 * 1_024
"""Bytes of an answer beyond which it is no record of a price."""


@dataclass(frozen=True, slots=True)
class LatePrice:
    """What one reply has cost; ``usage`` None where it could not be learnt, and ``reason`` says why."""

    generation_id: str
    usage: Usage | None = None
    provider: str | None = None
    model: str | None = None
    reason: str = ""

    @property
    def priced(self) -> bool:
        """Whether its cost is known."""
        return self.usage is not None and self.usage.cost is not None


async def look_up(ids: Sequence[str], *, at: Endpoint, transport: Transport, clock: Clock) -> list[LatePrice]:
    """The prices of replies, in the order of their ids. Nothing is raised: what fails is unpriced."""
    gate = asyncio.Semaphore(AT_ONCE)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_look_up(one, gate, at, transport, clock)) for one in ids]
    return [task.result() for task in tasks]


async def _look_up(
    generation_id: str, gate: asyncio.Semaphore, at: Endpoint, transport: Transport, clock: Clock
) -> LatePrice:
    """Ask until there is an answer, or no more time; the time also ends an answer that is under way."""
    began = clock.monotonic()
    watchdog = Watchdog(clock, idle=WITHIN, ceiling=WITHIN)
    try:
        while True:
            await watchdog.wait(gate.acquire())
            try:
                status, body = await _ask(generation_id, at, transport, watchdog)
            finally:
                gate.release()
            if status == HTTPStatus.OK:
                return _read(generation_id, body)
            if status != HTTPStatus.NOT_FOUND:
                return LatePrice(generation_id, reason=f"the look-up was answered with HTTP {status}")
            if clock.monotonic() + EVERY > began + WITHIN:
                return LatePrice(generation_id, reason=f"no price within {WITHIN} s")
            await clock.sleep(EVERY)
    except TransportError as error:
        return LatePrice(generation_id, reason=str(error))
    except Expired:
        return LatePrice(generation_id, reason=f"no price within {WITHIN} s")
    finally:
        watchdog.stop()


async def _ask(
    generation_id: str, at: Endpoint, transport: Transport, watchdog: Watchdog
) -> tuple[int, bytes]:
    response = await watchdog.wait(transport.send(at.generation(generation_id)))
    try:
        body = b""
        while response.status == HTTPStatus.OK and (data := await watchdog.wait(response.read())):
            body += data
            if len(body) > RECORD:
                break
        return response.status, body
    finally:
        response.drop()


def _read(generation_id: str, body: bytes) -> LatePrice:
    try:
        document: Any = anything(body)
    except msgspec.DecodeError:
        return LatePrice(generation_id, reason="the look-up was answered with something else than JSON")
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict):
        return LatePrice(generation_id, reason="the look-up was answered without data")
    usage = of_generation(data)
    if usage.cost is None:
        return LatePrice(generation_id, reason="the record has no total_cost")
    provider, model = data.get("provider_name"), data.get("model")
    return LatePrice(
        generation_id,
        usage,
        provider if isinstance(provider, str) else None,
        model if isinstance(model, str) else None,
    )
