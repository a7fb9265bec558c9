from typing import Any

import anthropic
import anyio
import pytest

from loopwatch.errors import LoopTripped
from tests.sdk.conftest import Track
from tests.sdk.vendors import TEXT, Collector, Vendors

ASK: Any = [{"role": "user", "content": "Why is the sky blue?"}]
REQUEST: Any = {"model": "claude-haiku-4-5", "max_tokens": 99, "messages": ASK}
SAID = "".join(TEXT)
FIGURES = {
    "inputTokens": 100,
    "cacheReadInputTokens": 40,
    "cacheCreationInputTokens": 10,
    "outputTokens": 20,
    "provider": "anthropic",
    "requestModel": "claude-haiku-4-5",
}


def test_messages_whole_streamed_and_by_the_helpers(
    vendors: Vendors, track: Track, collector: Collector
) -> None:
    tracker = track()
    with anthropic.Anthropic(api_key="sk-ant", base_url=vendors.url) as client:
        assert isinstance(tracker.wrap(client), anthropic.Anthropic)
        wrapped: Any = tracker.wrap(client)
        answer = wrapped.messages.create(**REQUEST, user_id="u1")
        assert answer == client.messages.create(**REQUEST)
        stream = wrapped.messages.create(**REQUEST, stream=True, user_id="u2")
        assert isinstance(stream, anthropic.Stream)
        assert [event.type for event in stream][-1] == "message_stop"
        with wrapped.messages.stream(**REQUEST, user_id="u3") as helped:
            assert "".join(helped.text_stream) == SAID
        assert wrapped.beta.messages.create(**REQUEST, user_id="u4").content[0].text == SAID
        raw = wrapped.with_options(max_retries=0).messages.with_raw_response.create(**REQUEST, user_id="u5")
        assert raw.parse().content[0].text == SAID
    assert tracker.flush()
    assert [row["userId"] for row in collector.rows] == ["u1", "u2", "u3", "u4", "u5"]
    assert all(row.items() >= FIGURES.items() for row in collector.rows)
    assert not any("user_id" in body for body in vendors.requests)


def test_of_a_stream_that_is_left_the_input_is_known_and_the_output_estimated(
    vendors: Vendors, track: Track, collector: Collector
) -> None:
    vendors.pause = 0.005
    tracker = track()
    with anthropic.Anthropic(api_key="sk-ant", base_url=vendors.url) as client:
        stream = tracker.wrap(client).messages.create(**REQUEST, stream=True)
        for event in stream:
            if event.type == "content_block_delta":
                break
        del stream
    assert tracker.flush()
    (row,) = collector.rows
    assert (row["inputTokens"], row["outputTokens"], row["usageSource"]) == (100, 3, "estimated")
    assert row["estimateMethod"].startswith("chars/3.5 latin anthropic")


async def read(manager: Any) -> None:
    async with manager as stream:
        async for _ in stream:
            pass


async def test_the_async_client(vendors: Vendors, track: Track, collector: Collector) -> None:
    tracker = track(guard="balanced")
    async with anthropic.AsyncAnthropic(api_key="sk-ant", base_url=vendors.url) as client:
        wrapped = tracker.wrap(client)
        with tracker.user("u1"):
            await wrapped.messages.create(**REQUEST)
            async with wrapped.messages.stream(**REQUEST) as helped:
                assert (await helped.get_final_message()).usage.output_tokens == 20
            vendors.loops = True
            vendors.pause = 0.001
            with pytest.raises(LoopTripped):
                async for _ in await wrapped.messages.create(**REQUEST, stream=True):
                    pass
            with pytest.raises(LoopTripped):
                await read(wrapped.messages.stream(**REQUEST))
    assert tracker.flush()
    assert [row.get("loopAborts", 0) for row in collector.rows] == [0, 0, 1, 1]
    assert {row["userId"] for row in collector.rows} == {"u1"}
    for _ in range(100):
        if "open" not in vendors.ended:
            break
        await anyio.sleep(0.01)
    assert vendors.ended == ["finished", "dropped", "dropped"]


def test_an_error_is_the_vendor_s_own(vendors: Vendors, track: Track, collector: Collector) -> None:
    vendors.fail = [(529, "overloaded"), (401, "bad key")]
    tracker = track()
    with (
        anthropic.Anthropic(api_key="sk-ant", base_url=vendors.url) as client,
        pytest.raises(anthropic.AuthenticationError),
    ):
        tracker.wrap(client).messages.create(**REQUEST)
    assert tracker.flush()
    assert [row["usageSource"] for row in collector.rows] == ["unknown"]
