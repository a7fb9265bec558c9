import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from loopwatch.clock import ManualClock
from loopwatch.errors import CapReached, LoopwatchError, ProjectKeyRefused
from loopwatch.sdk import in_context
from tests.sdk.conftest import Track
from tests.sdk.vendors import Collector, Vendors

ASK: Any = [{"role": "user", "content": "Go on."}]


@pytest.fixture
def client(vendors: Vendors) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1", max_retries=0) as made:
        yield made


def call(client: Any, **labels: Any) -> Any:
    return client.chat.completions.create(model="gpt-4o", messages=ASK, **labels)


def test_a_cap_is_raised_before_the_vendor_is_asked(
    client: openai.OpenAI, vendors: Vendors, track: Track, collector: Collector
) -> None:
    collector.verdict = {"allowed": False, "action": "block", "currentSpend": 12.5, "cap": 10}
    wrapped = track().wrap(client)
    with pytest.raises(
        CapReached, match=r"user 'u1' on plan 'pro' .* \(12.50 of 10.00 USD spent\)"
    ) as caught:
        call(wrapped, user_id="u1", plan="pro")
    assert (caught.value.user, caught.value.plan, caught.value.spend, caught.value.cap) == (
        "u1",
        "pro",
        12.5,
        10,
    )
    assert not vendors.requests
    assert collector.checks == [{"userId": "u1", "planName": "pro", "model": "gpt-4o", "key": "lw_key"}]
    call(wrapped, user_id="u1")  # without a plan there is no cap
    assert len(collector.checks) == 1


def test_an_answer_is_remembered_for_a_minute_and_asked_for_once_at_a_time(
    client: openai.OpenAI, track: Track, collector: Collector
) -> None:
    collector.check_pause = 0.1
    clock = ManualClock()
    tracker = track(clock=clock)
    wrapped = tracker.wrap(client)
    with tracker.user("u1", plan="pro"):
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(in_context(call), [wrapped] * 6))
        assert len(collector.checks) == 1
        clock.advance(59)
        call(wrapped)
        assert len(collector.checks) == 1
        clock.advance(2)
        call(wrapped)
        assert len(collector.checks) == 2


def test_a_downgrade_swaps_the_model_and_is_told_once(
    client: openai.OpenAI, vendors: Vendors, track: Track, collector: Collector
) -> None:
    collector.verdict = {"allowed": False, "action": "downgrade", "alternativeModel": "gpt-4o-mini"}
    told: list[Any] = []
    tracker = track(on_downgrade=told.append)
    for _ in range(2):
        call(tracker.wrap(client), user_id="u1", plan="pro")
    assert [body["model"] for body in vendors.requests] == ["gpt-4o-mini"] * 2
    assert told == [("u1", "gpt-4o", "gpt-4o-mini")]
    assert tracker.flush()
    assert {row["requestModel"] for row in collector.rows} == {"gpt-4o-mini"}


@pytest.mark.parametrize("verdict", [500, 429, 404])
def test_an_outage_lets_calls_through_and_is_remembered(
    client: openai.OpenAI, track: Track, collector: Collector, verdict: int
) -> None:
    collector.verdict = verdict
    clock = ManualClock()
    tracker = track(clock=clock)
    for user in ("u1", "u2"):
        call(tracker.wrap(client), user_id=user, plan="pro")
    assert len(collector.checks) == 1
    clock.advance(11)
    call(tracker.wrap(client), user_id="u1", plan="pro")
    assert len(collector.checks) == 2


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_lets_none_through_and_is_loud_once(  # noqa: PLR0917  fixtures
    client: openai.OpenAI,
    vendors: Vendors,
    track: Track,
    collector: Collector,
    caplog: pytest.LogCaptureFixture,
    status: int,
) -> None:
    collector.verdict = status
    errors: list[LoopwatchError] = []
    wrapped = track(on_error=errors.append).wrap(client)
    for user in ("u1", "u2"):
        with pytest.raises(ProjectKeyRefused, match=f"HTTP {status}"):
            call(wrapped, user_id=user, plan="pro")
    assert not vendors.requests
    assert [type(error) for error in errors] == [ProjectKeyRefused]
    assert [record.levelno for record in caplog.records if "refuses the key" in record.message] == [
        logging.ERROR
    ]
    assert "lw_key" not in caplog.text


async def test_an_async_call_does_not_hold_up_the_loop(
    vendors: Vendors, track: Track, collector: Collector
) -> None:
    collector.check_pause = 0.2
    tracker = track()
    async with openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        wrapped: Any = tracker.wrap(client)
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.01)
                turns += 1

        turning = asyncio.ensure_future(turn())
        await call(wrapped, user_id="u1", plan="pro")
        turning.cancel()
        assert turns > 5
        collector.verdict = {"allowed": False}
        with pytest.raises(CapReached):
            await call(wrapped, user_id="u2", plan="pro")
