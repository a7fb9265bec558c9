"""The courier: claims what is due, hands it to its channel, and notes what became of it.

At least once: a courier that dies between sending and noting leaves a lease that runs out, and the delivery
is made again, with the same body and the same id. Deliveries to one channel follow one another at the
channel's pace; a channel that is slow, or that asked to be left alone, holds up no other.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeAlias

from loopwatch.alerts.channels.channel import Channel
from loopwatch.alerts.outbox import Outbox
from loopwatch.alerts.schedule import MOST_ATTEMPTS, next_attempt
from loopwatch.clock import Clock
from loopwatch.errors import ChannelError
from loopwatch.records.delivery import Delivery, Place

LEASE = timedelta(minutes=2)
"""How long a claimed delivery is ours: longer than any attempt may take."""
POLL = 5.0
"""Seconds after which the outbox is asked again, for what others wrote and what has become due."""
MOST_REST = 3_600.0
"""Seconds that a channel is left alone at most, whatever it asks for."""
AT_ONCE = 32
"""Deliveries under way at the same time, each to another channel."""
GONE = "the channel is no longer among the project's, or is switched off"

Channels: TypeAlias = Callable[[Place], Awaitable[Channel | None]]
"""The channel at a place as it is set now; None where there is none any more."""

log = logging.getLogger(__name__)


class Courier:
    """Delivers what is in an outbox. ``channels`` finds the channel of a delivery when it is made."""

    def __init__(self, outbox: Outbox, channels: Channels, clock: Clock) -> None:
        self._outbox = outbox
        self._channels = channels
        self._clock = clock
        self._under_way: set[Place] = set()
        self._resting: dict[Place, float] = {}  # until when, on the monotonic clock
        self._stir = asyncio.Event()
        self._stopping = False

    def wake(self) -> None:
        """There is something new in the outbox: do not wait for the next look."""
        self._stir.set()

    def stop(self) -> None:
        """Claim nothing more; ``deliver_forever`` returns once what is under way has been noted."""
        self._stopping = True
        self._stir.set()

    async def deliver_forever(self) -> None:
        """Deliver whatever becomes due, until ``stop``. An outbox that fails is asked again."""
        async with asyncio.TaskGroup() as group:
            while not self._stopping:
                self._stir.clear()
                try:
                    await self._take(group)
                except Exception:  # the loop must outlive a database that is away
                    log.warning("the outbox cannot be read: trying again", exc_info=True)
                await self._pause()

    async def deliver_due(self) -> int:
        """Deliver what is due now, and return how many attempts that took.

        What is due to a channel that asked to be left alone is left for later. Raises what the outbox
        raises.
        """
        count = 0
        async with asyncio.TaskGroup() as group:
            while True:
                self._stir.clear()
                count += (taken := await self._take(group))
                if not taken and not self._under_way and not any(rest <= POLL for rest in self._rests()):
                    return count
                await self._pause()

    async def _take(self, group: asyncio.TaskGroup) -> int:
        """Begin what can be begun; how many deliveries that were."""
        now = self._clock.monotonic()
        self._resting = {place: until for place, until in self._resting.items() if until > now}
        room = AT_ONCE - len(self._under_way)
        if room <= 0:
            return 0
        busy = self._under_way | self._resting.keys()
        claimed = await self._outbox.claim(self._clock.now(), LEASE, limit=room, busy=busy)
        for delivery in claimed:
            self._under_way.add(delivery.place)
            group.create_task(self._attempt(delivery))
        return len(claimed)

    async def _pause(self) -> None:
        """Wait until something was finished or written, a channel has rested, or it is time to look."""
        timer = self._clock.call_later(min([POLL, *self._rests()]), self._stir.set)
        try:
            await self._stir.wait()
        finally:
            timer.cancel()

    def _rests(self) -> list[float]:
        return [until - self._clock.monotonic() for until in self._resting.values()]

    async def _attempt(self, delivery: Delivery) -> None:
        try:
            rest = await self._made(delivery)
            if rest > 0:
                self._resting[delivery.place] = self._clock.monotonic() + rest
        except Exception:  # not noted: the lease will run out, and the delivery be made again
            log.warning("what became of delivery %s could not be noted", delivery.id, exc_info=True)
        finally:
            self._under_way.discard(delivery.place)
            self._stir.set()

    async def _made(self, delivery: Delivery) -> float:
        """Make one attempt and note it; seconds that the channel is to be left alone."""
        if delivery.attempt > MOST_ATTEMPTS:
            reason = f"given up: {MOST_ATTEMPTS} attempts began and none was noted"
            await self._outbox.dead(delivery, self._clock.now(), reason)
            return 0
        channel = await self._channels(delivery.place)
        if channel is None:
            await self._outbox.dead(delivery, self._clock.now(), GONE)
            return 0
        try:
            await channel.send(delivery)
        except ChannelError as error:
            await self._failed(delivery, error)
            return max(channel.pace, min(MOST_REST, error.retry_after or 0))
        except Exception as error:  # noqa: BLE001  a defect of ours, and its words may hold anything
            kind = type(error).__name__
            log.warning("delivery %s ran into a defect of the channel: %s", delivery.id, kind)
            await self._failed(delivery, ChannelError(f"a defect of the channel: {kind}"))
            return channel.pace
        await self._outbox.delivered(delivery, self._clock.now())
        return channel.pace

    async def _failed(self, delivery: Delivery, error: ChannelError) -> None:
        now = self._clock.now()
        at = next_attempt(delivery.attempt, delivery.written, now, error.retry_after)
        log.info("delivery %s, attempt %d: %s", delivery.id, delivery.attempt, error)
        if error.permanent:
            await self._outbox.dead(delivery, now, str(error))
        elif at is None:
            await self._outbox.dead(delivery, now, f"{error}; given up after {delivery.attempt} attempts")
        else:
            await self._outbox.retry(delivery, at, str(error))
