"""Deliveries over time: attempts, waits, pace, crashes. The clock is a manual one; the sinks are real."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from loopwatch.alerts.channels.channel import Channel
from loopwatch.alerts.channels.slack import Slack
from loopwatch.alerts.courier import GONE, LEASE, Courier
from loopwatch.alerts.memory import MemoryOutbox
from loopwatch.alerts.message import Message
from loopwatch.alerts.outbox import drafts
from loopwatch.alerts.posting import Poster
from loopwatch.alerts.schedule import DELAYS, LIFE, MOST_ATTEMPTS
from loopwatch.clock import ManualClock
from loopwatch.config.destinations import SlackSettings
from loopwatch.errors import ChannelError
from loopwatch.records.delivery import Delivery, Draft, Place
from tests.alerts.samples import AT, message
from tests.alerts.sinks import HttpSink, Reply, http_sink


class Recorder:
    """A channel that keeps what it gets, and fails as it is told."""

    def __init__(self, clock: ManualClock, *failures: Exception, pace: float = 0) -> None:
        self.pace = pace
        self.sent: list[tuple[float, Delivery]] = []
        self._clock = clock
        self._failures = list(failures)

    def body(self, message: Message) -> str | None:
        return message.heading

    async def send(self, delivery: Delivery) -> None:
        self.sent.append((self._clock.monotonic(), delivery))
        if self._failures:
            raise self._failures.pop(0)

    @property
    def times(self) -> list[float]:
        return [at for at, _ in self.sent]


def finder(channels: dict[str, Channel]) -> Callable[[Place], Awaitable[Channel | None]]:
    async def find(place: Place) -> Channel | None:
        return channels.get(place.channel)

    return find


def filled(channels: dict[str, Channel], *ids: str) -> MemoryOutbox:
    outbox = MemoryOutbox()
    for one in ids or ("al_1",):
        outbox.write(drafts(message(id=one), channels), AT)
    return outbox


def slack(sink: HttpSink, poster: Poster) -> Slack:
    return Slack(SlackSettings.model_construct(type="slack", url=sink.url), poster)


async def states(outbox: MemoryOutbox) -> dict[str, tuple[str, int, str | None]]:
    return {key: (one.state, one.attempts, one.last_error) for key, one in outbox.entries.items()}


async def test_500_and_then_200(clock: ManualClock, poster: Poster) -> None:
    async with http_sink(Reply(500, "rollup_error")) as sink:
        channels: dict[str, Channel] = {"slack": slack(sink, poster)}
        outbox = filled(channels)
        courier = Courier(outbox, finder(channels), clock)
        await at_once(courier, clock)
        assert await states(outbox) == {
            "al_1.slack": ("pending", 1, "127.0.0.1 answered HTTP 500 rollup_error")
        }
        clock.advance(DELAYS[0])
        await at_once(courier, clock)
    assert await states(outbox) == {"al_1.slack": ("delivered", 2, None)}
    first, second = sink.received
    assert first.body == second.body


async def at_once(courier: Courier, clock: ManualClock) -> int:
    """``deliver_due``, the channels' rests skipped."""
    task = asyncio.ensure_future(courier.deliver_due())
    while not task.done():
        await asyncio.sleep(0.002)
        clock.advance(0.25)
    return task.result()


async def test_429_is_asked_again_when_it_says(clock: ManualClock, poster: Poster) -> None:
    async with http_sink(Reply(429, "", {"Retry-After": "90"})) as sink:
        channels: dict[str, Channel] = {"slack": slack(sink, poster)}
        outbox = filled(channels, "al_1", "al_2")
        courier = Courier(outbox, finder(channels), clock)
        assert await courier.deliver_due() == 1  # the second is left for later too: the channel asked for it
        assert outbox.entries["al_1.slack"].due == AT + timedelta(seconds=90)
        clock.advance(80)
        assert await courier.deliver_due() == 0
        clock.advance(10)
        assert await at_once(courier, clock) == 2
    assert len(sink.received) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_what_is_permanent_is_dead_at_once(clock: ManualClock, poster: Poster, status: int) -> None:
    async with http_sink(Reply(status, "channel_is_archived")) as sink:
        channels: dict[str, Channel] = {"slack": slack(sink, poster)}
        outbox = filled(channels)
        await at_once(Courier(outbox, finder(channels), clock), clock)
        clock.advance(LIFE.total_seconds())
        await at_once(Courier(outbox, finder(channels), clock), clock)
    reason = f"127.0.0.1 answered HTTP {status} channel_is_archived"
    assert await states(outbox) == {"al_1.slack": ("dead", 1, reason)}
    assert len(sink.received) == 1


async def test_attempts_follow_the_schedule_and_end(clock: ManualClock) -> None:
    channel = Recorder(clock, *[ChannelError("not now")] * 20)
    outbox = filled({"a": channel})
    courier = Courier(outbox, finder({"a": channel}), clock)
    work = asyncio.ensure_future(courier.deliver_forever())

    async def day() -> None:
        await clock.sleep(sum(DELAYS) + 100)
        courier.stop()

    await clock.run(day())
    await work
    waits = [round(later - earlier) for earlier, later in pairwise(channel.times)]
    assert waits == list(DELAYS)
    error = "not now; given up after 11 attempts"
    assert await states(outbox) == {"al_1.a": ("dead", 11, error)}
    assert len({(one.id, one.body) for _, one in channel.sent}) == 1


async def test_one_channel_that_fails_has_no_effect_on_the_others(clock: ManualClock) -> None:
    channels: dict[str, Channel] = {"bad": Recorder(clock, ChannelError("no")), "good": Recorder(clock)}
    outbox = filled(channels)
    await Courier(outbox, finder(channels), clock).deliver_due()
    clock.advance(10)
    await Courier(outbox, finder(channels), clock).deliver_due()
    assert await states(outbox) == {"al_1.bad": ("delivered", 2, None), "al_1.good": ("delivered", 1, None)}


async def test_a_storm_keeps_each_channels_pace_and_loses_none(clock: ManualClock) -> None:
    slow, fast = Recorder(clock, pace=1), Recorder(clock)
    channels: dict[str, Channel] = {"slow": slow, "fast": fast}
    outbox = filled(channels, *(f"al_{n}" for n in range(50)))
    courier = Courier(outbox, finder(channels), clock)
    assert await clock.run(courier.deliver_due()) == 100
    assert slow.times == pytest.approx([float(n) for n in range(50)])
    assert fast.times == [0] * 50
    assert [one.id for _, one in slow.sent] == [f"al_{n}.slow" for n in range(50)]


async def test_a_channel_that_hangs_holds_up_no_other(clock: ManualClock) -> None:
    class Hanging(Recorder):
        async def send(self, delivery: Delivery) -> None:
            await clock.sleep(60)
            await super().send(delivery)

    hanging, other = Hanging(clock), Recorder(clock)
    channels: dict[str, Channel] = {"hanging": hanging, "other": other}
    outbox = filled(channels, "al_1", "al_2", "al_3")
    await clock.run(Courier(outbox, finder(channels), clock).deliver_due())
    assert other.times == [0, 0, 0]
    assert hanging.times == [60, 120, 180]


async def test_a_crash_between_sending_and_noting_sends_again_with_the_same_id(clock: ManualClock) -> None:
    class Crashing(MemoryOutbox):
        crashes = 1

        async def delivered(self, delivery: Delivery, now: datetime) -> None:
            if self.crashes:
                self.crashes -= 1
                raise ConnectionError("the database is away")
            await super().delivered(delivery, now)

    channel = Recorder(clock)
    outbox = Crashing()
    outbox.write(drafts(message(), {"a": channel}), AT)
    await Courier(outbox, finder({"a": channel}), clock).deliver_due()
    assert await Courier(outbox, finder({"a": channel}), clock).deliver_due() == 0  # somebody else's, still
    clock.advance(LEASE.total_seconds())
    await Courier(outbox, finder({"a": channel}), clock).deliver_due()
    (_, first), (_, second) = channel.sent
    assert (first.id, first.body) == (second.id, second.body)
    assert await states(outbox) == {"al_1.a": ("delivered", 2, None)}


async def test_a_delivery_that_kills_its_courier_each_time_is_not_tried_for_ever(clock: ManualClock) -> None:
    channel = Recorder(clock)
    outbox = filled({"a": channel})
    for attempt in range(MOST_ATTEMPTS):
        await outbox.claim(AT + attempt * LEASE, LEASE, limit=1, busy=())
    clock.advance(MOST_ATTEMPTS * LEASE.total_seconds())
    await Courier(outbox, finder({"a": channel}), clock).deliver_due()
    reason = "given up: 11 attempts began and none was noted"
    assert await states(outbox) == {"al_1.a": ("dead", 12, reason)}
    assert channel.sent == []


async def test_a_mark_that_comes_too_late_changes_nothing(clock: ManualClock) -> None:
    outbox = filled({"a": Recorder(clock)})
    (late,) = await outbox.claim(AT, LEASE, limit=1, busy=())
    (ours,) = await outbox.claim(AT + LEASE, LEASE, limit=1, busy=())
    await outbox.dead(late, AT, "late")
    await outbox.retry(late, AT, "late")
    await outbox.delivered(late, AT)
    assert await states(outbox) == {"al_1.a": ("leased", 2, None)}
    await outbox.delivered(ours, AT)
    await outbox.dead(ours, AT, "late")
    assert await states(outbox) == {"al_1.a": ("delivered", 2, None)}


async def test_a_channel_that_is_gone(clock: ManualClock) -> None:
    outbox = filled({"a": Recorder(clock)})
    await Courier(outbox, finder({}), clock).deliver_due()
    assert await states(outbox) == {"al_1.a": ("dead", 1, GONE)}


async def test_a_defect_of_a_channel_is_tried_again_and_its_words_are_kept_back(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    channel = Recorder(clock, ValueError("https://hooks.example/secret"))
    outbox = filled({"a": channel})
    await Courier(outbox, finder({"a": channel}), clock).deliver_due()
    assert await states(outbox) == {"al_1.a": ("pending", 1, "a defect of the channel: ValueError")}
    assert "secret" not in caplog.text


async def test_an_outbox_that_is_away_is_asked_again(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    class Away(MemoryOutbox):
        away = 3

        async def claim(
            self, now: datetime, lease: timedelta, *, limit: int, busy: Collection[Place]
        ) -> Sequence[Delivery]:
            if self.away:
                self.away -= 1
                raise ConnectionError("the database is away")
            return await super().claim(now, lease, limit=limit, busy=busy)

    channel = Recorder(clock)
    outbox = Away()
    outbox.write(drafts(message(), {"a": channel}), AT)
    courier = Courier(outbox, finder({"a": channel}), clock)
    work = asyncio.ensure_future(courier.deliver_forever())
    await clock.run(clock.sleep(60))
    courier.stop()
    await work
    assert channel.times == [15]
    assert caplog.text.count("cannot be read") == 3


async def test_a_courier_that_is_woken_does_not_wait_and_one_that_is_stopped_finishes(
    clock: ManualClock,
) -> None:
    class Slow(Recorder):
        async def send(self, delivery: Delivery) -> None:
            await super().send(delivery)
            await clock.sleep(3)

    channel = Slow(clock)
    outbox = MemoryOutbox()
    courier = Courier(outbox, finder({"a": channel}), clock)
    work = asyncio.ensure_future(courier.deliver_forever())
    await clock.run(clock.sleep(1))
    outbox.write([Draft("al_1.a", Place("acme", "a"), "{}")], clock.now())
    courier.wake()
    await clock.run(clock.sleep(1))
    assert channel.times == [1]
    courier.stop()
    outbox.write([Draft("al_2.a", Place("acme", "a"), "{}")], clock.now())
    await clock.run(clock.sleep(10))
    await work
    assert await states(outbox) == {"al_1.a": ("delivered", 1, None), "al_2.a": ("pending", 0, None)}


async def test_no_more_are_under_way_than_there_is_room_for(clock: ManualClock) -> None:
    under_way: list[int] = [0, 0]

    class Counting(Recorder):
        async def send(self, delivery: Delivery) -> None:  # noqa: ARG002  the protocol's
            under_way[0] += 1
            under_way[1] = max(under_way)
            await clock.sleep(1)
            under_way[0] -= 1

    channels: dict[str, Channel] = {f"c{n}": Counting(clock) for n in range(100)}
    outbox = filled(channels)
    assert await clock.run(Courier(outbox, finder(channels), clock).deliver_due()) == 100
    assert under_way == [0, 32]
