import asyncio
import gc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from loopwatch.errors import LoopTripped
from loopwatch.records.call import Call
from loopwatch.records.row import Arrival, read_row
from loopwatch.sdk.labels import Labels, current
from tests.sdk.conftest import Track
from tests.sdk.vendors import LOOP, TEXT, Collector, Vendors

ASK: Any = [{"role": "user", "content": "Why is the sky blue?"}]
SAID = "".join(TEXT)


@pytest.fixture
def client(vendors: Vendors) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="sk-canary", base_url=f"{vendors.url}/v1", max_retries=2) as made:
        yield made


def test_a_wrapped_client_is_one_of_the_vendor_s(client: openai.OpenAI, track: Track) -> None:
    wrapped = track().wrap(client)
    assert isinstance(wrapped, openai.OpenAI)
    assert wrapped is not client
    assert type(wrapped).__name__ == "OpenAI"
    assert (wrapped.api_key, wrapped.base_url, wrapped.max_retries) == ("sk-canary", client.base_url, 2)


def test_a_completion_is_logged_and_returned_as_it_is(
    client: openai.OpenAI, track: Track, collector: Collector, vendors: Vendors
) -> None:
    tracker = track(plans={"free": 0, "pro": 49})
    bare = client.chat.completions.create(model="gpt-4o-mini", messages=ASK)
    wrapped: Any = tracker.wrap(client)
    answer = wrapped.chat.completions.create(
        model="gpt-4o-mini", messages=ASK, user_id="u1", feature="research", plan="pro"
    )
    assert type(answer) is type(bare)
    assert answer == bare
    assert vendors.requests[0] == vendors.requests[1]
    assert not [header for header in vendors.headers[1] if "loopwatch" in header]
    assert tracker.flush()
    (row,) = collector.rows
    expected = {
        "userId": "u1",
        "feature": "research",
        "plan": "pro",
        "planRevenueUsd": 49.0,
        "provider": "local",
        "requestModel": "gpt-4o-mini",
        "responseModel": "gpt-4o-mini-2026",
        "inputTokens": 100,
        "cacheReadInputTokens": 40,
        "outputTokens": 20,
        "reasoningOutputTokens": 5,
    }
    assert expected.items() <= row.items()
    assert collector.posts[0]["x-api-key"] == "lw_key"
    call = read_row(row, Arrival(datetime.now(UTC), timedelta(minutes=5)))  # as the server reads it
    assert isinstance(call, Call)
    assert (call.user_id, call.input_tokens, call.usage_source) == ("u1", 100, "provider")
    assert SAID not in str(collector.rows)
    assert "Why is the sky" not in str(collector.rows)


def test_a_stream_is_counted_and_its_usage_chunk_hidden(
    client: openai.OpenAI, track: Track, collector: Collector, vendors: Vendors
) -> None:
    tracker = track()
    with tracker.user("u1", feature="chat"):
        stream = tracker.wrap(client).chat.completions.create(model="m", messages=ASK, stream=True)
    assert isinstance(stream, openai.Stream)
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == SAID
    assert vendors.requests[0]["stream_options"] == {"include_usage": True}
    assert tracker.flush()
    (row,) = collector.rows
    assert (row["userId"], row["inputTokens"], row["outputTokens"]) == ("u1", 100, 20)
    assert "usageSource" not in row


@pytest.mark.parametrize("wish", [True, False])
def test_what_the_caller_says_about_usage_holds(
    client: openai.OpenAI,
    track: Track,
    collector: Collector,
    vendors: Vendors,
    wish: bool,  # noqa: FBT001
) -> None:
    tracker = track()
    stream = tracker.wrap(client).chat.completions.create(
        model="m", messages=ASK, stream=True, stream_options={"include_usage": wish}
    )
    assert [bool(chunk.choices) for chunk in stream].count(False) == int(wish)
    assert vendors.requests[0]["stream_options"] == {"include_usage": wish}
    assert tracker.flush()
    assert collector.rows[0].get("usageSource", "provider") == ("provider" if wish else "estimated")


def test_a_gateway_that_refuses_to_be_asked_for_usage_is_asked_no_more(
    client: openai.OpenAI, track: Track, collector: Collector, vendors: Vendors
) -> None:
    vendors.refuses_stream_options = True
    tracker = track()
    wrapped = tracker.wrap(client)
    for _ in range(2):
        assert len(list(wrapped.chat.completions.create(model="m", messages=ASK, stream=True))) == 5
    assert ["stream_options" in body for body in vendors.requests] == [True, False, False]
    assert tracker.flush()
    assert [row["usageSource"] for row in collector.rows] == ["estimated"] * 2
    assert collector.rows[0]["outputTokens"] > 3


def failing(stream: openai.Stream[Any]) -> None:
    for _ in stream:
        _ = 1 / 0


def test_every_exit_of_a_stream_makes_one_row(
    client: openai.OpenAI, track: Track, collector: Collector, vendors: Vendors
) -> None:
    vendors.pause = 0.002
    tracker = track()
    wrapped = tracker.wrap(client)

    def stream() -> openai.Stream[Any]:
        return wrapped.chat.completions.create(model="m", messages=ASK, stream=True)

    list(stream())  # read to the end
    for _ in stream():  # left, and dropped
        break
    closed = stream()
    next(closed)
    closed.close()
    with stream() as block:
        next(block)
    never = stream()
    del never
    with pytest.raises(ZeroDivisionError):
        failing(stream())
    gc.collect()
    assert tracker.flush()
    sources = [row.get("usageSource", "provider") for row in collector.rows]
    assert sorted(sources) == ["estimated"] * 5 + ["provider"]
    assert len({row["eventId"] for row in collector.rows}) == 6


def test_a_loop_is_cut(client: openai.OpenAI, track: Track, collector: Collector, vendors: Vendors) -> None:
    vendors.loops = True
    tracker = track(guard="balanced")
    stream = tracker.wrap(client).chat.completions.create(model="m", messages=ASK, stream=True)
    with pytest.raises(LoopTripped) as caught:
        list(stream)
    assert caught.value.text.startswith(LOOP)
    assert LOOP not in str(caught.value)
    assert tracker.flush()
    (row,) = collector.rows
    assert (row["loopAborts"], row["loopRule"], row["generationIds"]) == (1, "cycle", ["gen-1"])
    assert row["loopAbortChars"] == caught.value.trip.chars > 500
    assert row["loopAbortWords"] > 100
    assert row["usageSource"] == "estimated"
    assert row["outputTokens"] > 100
    assert "tokens" not in row


def test_a_loop_may_end_quietly(
    client: openai.OpenAI, track: Track, collector: Collector, vendors: Vendors
) -> None:
    vendors.loops = True
    tracker = track(guard="balanced", on_trip="end")
    assert len(list(tracker.wrap(client).chat.completions.create(model="m", messages=ASK, stream=True))) > 10
    assert tracker.flush()
    assert collector.rows[0]["loopAborts"] == 1


def test_the_vendor_s_retries_are_one_call(
    client: openai.OpenAI, track: Track, collector: Collector, vendors: Vendors
) -> None:
    vendors.fail = [(500, "x"), (500, "y")]
    tracker = track()
    with tracker.agent("a", max_iterations=1) as run:
        tracker.wrap(client).chat.completions.create(model="m", messages=ASK)
    assert len(vendors.requests) == 3
    assert run.iterations == 1
    assert tracker.flush()
    assert [row["inputTokens"] for row in collector.rows] == [100]


def test_a_call_that_fails_is_logged_without_tokens(
    client: openai.OpenAI, track: Track, collector: Collector, vendors: Vendors
) -> None:
    vendors.fail = [(400, "no such thing")]
    tracker = track()
    with pytest.raises(openai.BadRequestError, match="no such thing"):
        tracker.wrap(client).chat.completions.create(model="m", messages=ASK)
    assert tracker.flush()
    assert collector.rows[0]["usageSource"] == "unknown"
    assert "inputTokens" not in collector.rows[0]


def test_responses_and_completions(
    client: openai.OpenAI, track: Track, collector: Collector, vendors: Vendors
) -> None:
    tracker = track()
    wrapped = tracker.wrap(client)
    with tracker.user("u1"):
        assert wrapped.responses.create(model="m", input="Why?").output_text == SAID
        events = list(wrapped.responses.create(model="m", input="Why?", stream=True))
        assert events[-1].type == "response.completed"
        assert wrapped.completions.create(model="m", prompt="Why?").choices[0].text == SAID
        texts = [
            chunk.choices[0].text for chunk in wrapped.completions.create(model="m", prompt="x", stream=True)
        ]
        assert "".join(texts) == SAID
    assert tracker.flush()
    assert [(row["inputTokens"], row["outputTokens"]) for row in collector.rows] == [(100, 20)] * 4
    assert vendors.requests[1].get("stream_options") is None


class Colour(BaseModel):
    name: str


def test_helpers_of_the_vendor_s_work_and_are_tracked(
    client: openai.OpenAI, track: Track, collector: Collector
) -> None:
    tracker = track()
    wrapped: Any = tracker.wrap(client)
    with wrapped.chat.completions.stream(model="m", messages=ASK, user_id="u1") as stream:
        assert stream.get_final_completion().choices[0].message.content == SAID
    with wrapped.responses.stream(model="m", input="Why?", user_id="u2") as stream:
        assert stream.get_final_response().output_text == SAID
    raw = wrapped.chat.completions.with_raw_response.create(model="m", messages=ASK, user_id="u3")
    assert raw.headers["content-type"].startswith("application/json")
    assert raw.parse().choices[0].message.content == SAID
    optioned = wrapped.with_options(timeout=9)
    assert optioned.timeout == 9
    optioned.chat.completions.create(model="m", messages=ASK, user_id="u4")
    optioned.chat.completions.create(model="m", messages=ASK, extra_headers={"x-loopwatch-user": "u5"})
    assert tracker.flush()
    assert [row["userId"] for row in collector.rows] == ["u1", "u2", "u3", "u4", "u5"]
    assert {row["inputTokens"] for row in collector.rows} == {100}


def test_what_asks_no_model_is_passed_through(
    client: openai.OpenAI, track: Track, collector: Collector
) -> None:
    tracker = track()
    assert tracker.wrap(client).embeddings.create(model="e", input="x").data[0].embedding == [0.5]
    assert tracker.flush()
    assert not collector.rows


def test_wrapping_twice_logs_once(client: openai.OpenAI, track: Track, collector: Collector) -> None:
    first, second = track(), track()
    twice = first.wrap(first.wrap(client))
    twice.chat.completions.create(model="m", messages=ASK)
    second.wrap(twice).chat.completions.create(model="m", messages=ASK)
    assert first.flush()
    assert second.flush()
    assert len(collector.rows) == 2


async def test_the_async_client(vendors: Vendors, track: Track, collector: Collector) -> None:
    tracker = track(guard="balanced")
    async with openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        assert isinstance(tracker.wrap(client), openai.AsyncOpenAI)
        wrapped: Any = tracker.wrap(client)
        await wrapped.chat.completions.create(model="m", messages=ASK, user_id="u1")
        stream = await wrapped.chat.completions.create(model="m", messages=ASK, stream=True, user_id="u2")
        assert isinstance(stream, openai.AsyncStream)
        assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == SAID
        async with wrapped.responses.stream(model="m", input="x", user_id="u3") as events:
            assert (await events.get_final_response()).output_text == SAID
        vendors.pause = 0.002
        left = await wrapped.chat.completions.create(model="m", messages=ASK, stream=True, user_id="u4")
        await anext(left)
        await left.close()
        vendors.loops = True
        looping = await wrapped.chat.completions.create(model="m", messages=ASK, stream=True, user_id="u5")
        with pytest.raises(LoopTripped):
            _ = [chunk async for chunk in looping]
    assert tracker.flush()
    assert [row["userId"] for row in collector.rows] == ["u1", "u2", "u3", "u4", "u5"]
    sources = [row.get("usageSource", "provider") for row in collector.rows]
    assert sources == ["provider"] * 3 + ["estimated"] * 2
    assert collector.rows[4]["loopAborts"] == 1


async def test_every_exit_of_an_async_stream_makes_one_row(
    vendors: Vendors, track: Track, collector: Collector
) -> None:
    vendors.pause = 0.01
    tracker = track()
    async with openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        wrapped = tracker.wrap(client)

        async def stream() -> openai.AsyncStream[Any]:
            return await wrapped.chat.completions.create(model="m", messages=ASK, stream=True)

        async def read() -> None:
            async for _ in await stream():
                pass

        await read()
        reading = asyncio.ensure_future(read())
        await asyncio.sleep(0.05)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        async with await stream() as block:
            await anext(block)
        never = await stream()
        await never.close()
    assert tracker.flush()
    sources = [row.get("usageSource", "provider") for row in collector.rows]
    assert sources == ["provider", "estimated", "estimated", "estimated"]


def test_two_users_side_by_side_are_told_apart(
    client: openai.OpenAI, track: Track, collector: Collector
) -> None:
    tracker = track()
    wrapped = tracker.wrap(client)

    def answers(user: str) -> Iterator[Any]:
        with tracker.user(user):
            yield from wrapped.chat.completions.create(model="m", messages=ASK, stream=True)

    for _ in zip(answers("u1"), answers("u2"), strict=True):  # side by side
        pass
    assert current() == Labels()
    assert tracker.flush()
    assert sorted(row["userId"] for row in collector.rows) == ["u1", "u2"]
