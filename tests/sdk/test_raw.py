"""Answers read as HTTP are counted and guarded as any other, and reach the caller as they came."""

import asyncio
import gc
from typing import Any

import anthropic
import openai
import pytest

from loopwatch.errors import LoopTripped
from tests.sdk.conftest import Track
from tests.sdk.vendors import TEXT, Collector, Vendors

ASK: Any = [{"role": "user", "content": "Why is the sky blue?"}]
SAID = "".join(TEXT)
CHAT: dict[str, Any] = {"model": "m", "messages": ASK}
CLAUDE: dict[str, Any] = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": ASK}


def asked(client: Any, how: str) -> Any:
    """The method of a client that answers, in one of the two raw ways."""
    resource = client.messages if isinstance(client, anthropic.Anthropic | anthropic.AsyncAnthropic) else None
    return getattr(resource if resource is not None else client.chat.completions, how).create


def clients(vendors: Vendors, kind: str) -> tuple[Any, dict[str, Any]]:
    if kind == "openai":
        return openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1"), CHAT
    return anthropic.Anthropic(api_key="sk", base_url=vendors.url), CLAUDE


def read_all(client: Any, request: dict[str, Any], way: str) -> None:
    if way == "raw parsed":
        list(asked(client, "with_raw_response")(**request, stream=True).parse())
        return
    with asked(client, "with_streaming_response")(**request, stream=True) as raw:
        list(raw.iter_bytes() if way == "bytes" else raw.parse())


async def read_lines(client: Any, request: dict[str, Any]) -> None:
    async with asked(client, "with_streaming_response")(**request, stream=True) as raw:
        async for _ in raw.iter_lines():
            pass


def sources(collector: Collector) -> list[str]:
    return [row.get("usageSource", "provider") for row in collector.rows]


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_stream_read_as_bytes_lines_text_or_parsed_is_counted(
    vendors: Vendors, track: Track, collector: Collector, kind: str
) -> None:
    tracker = track()
    plain, request = clients(vendors, kind)
    with plain:
        wrapped = tracker.wrap(plain)
        for read in ("iter_bytes", "iter_lines", "iter_text"):
            with asked(wrapped, "with_streaming_response")(**request, stream=True) as raw:
                told = list(getattr(raw, read)())
            with asked(plain, "with_streaming_response")(**request, stream=True) as bare:
                expected = list(getattr(bare, read)())
            empty: Any = b"" if read == "iter_bytes" else ""
            kept = empty.join(told)
            if kind == "anthropic":
                assert kept == empty.join(expected)
            else:  # asking for usage puts a null into each chunk; the chunk that comes of it is kept back
                null: Any = b', "usage": null' if read == "iter_bytes" else ', "usage": null'
                assert kept.replace(null, empty) == empty.join(expected)
        with asked(wrapped, "with_streaming_response")(**request, stream=True) as raw:
            assert [*raw.parse()]
        parsed = asked(wrapped, "with_raw_response")(**request, stream=True).parse()
        assert isinstance(parsed, openai.Stream | anthropic.Stream)
        assert len([*parsed]) == len([*asked(plain, "with_raw_response")(**request, stream=True).parse()])
    assert tracker.flush()
    assert sources(collector) == ["provider"] * 5
    assert {row["inputTokens"] for row in collector.rows} == {100}
    assert {row["outputTokens"] for row in collector.rows} == {20}


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_an_answer_read_late_is_counted(
    vendors: Vendors, track: Track, collector: Collector, kind: str
) -> None:
    tracker = track()
    plain, request = clients(vendors, kind)
    with plain:
        wrapped = tracker.wrap(plain)
        with asked(wrapped, "with_streaming_response")(**request) as raw:
            assert SAID in raw.text()
            assert raw.json() == raw.json()
        with asked(wrapped, "with_streaming_response")(**request) as raw:
            assert raw.parse()
        with asked(wrapped, "with_streaming_response")(**request) as raw:
            assert raw.status_code == 200
    assert tracker.flush()
    assert sources(collector) == ["provider", "provider", "unknown"]


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("way", ["bytes", "parsed", "raw parsed"])
def test_a_loop_read_raw_is_cut(
    vendors: Vendors, track: Track, collector: Collector, kind: str, way: str
) -> None:
    vendors.loops = True
    tracker = track(guard="balanced")
    plain, request = clients(vendors, kind)
    with plain:
        wrapped = tracker.wrap(plain)
        with pytest.raises(LoopTripped):
            read_all(wrapped, request, way)
    assert tracker.flush()
    (row,) = collector.rows
    assert (row["loopAborts"], row["usageSource"]) == (1, "estimated")
    assert row["loopAbortChars"] > 100


def test_a_cut_that_is_to_be_quiet_is_an_end(vendors: Vendors, track: Track, collector: Collector) -> None:
    vendors.loops = True
    tracker = track(guard="balanced", on_trip="end")
    plain, request = clients(vendors, "openai")
    with plain, asked(tracker.wrap(plain), "with_streaming_response")(**request, stream=True) as raw:
        assert len(list(raw.iter_lines())) > 10
    assert tracker.flush()
    assert collector.rows[0]["loopAborts"] == 1


def test_what_is_left_is_estimated_and_what_is_forgotten_is_not_lost(
    vendors: Vendors, track: Track, collector: Collector
) -> None:
    vendors.pause = 0.005
    tracker = track()
    plain, request = clients(vendors, "openai")
    with plain:
        wrapped = tracker.wrap(plain)
        with asked(wrapped, "with_streaming_response")(**request, stream=True) as raw:
            next(raw.iter_bytes())
        forgotten = asked(wrapped, "with_raw_response")(**request, stream=True)
        del forgotten
        gc.collect()
    assert tracker.flush()
    assert sources(collector) == ["estimated"] * 2


async def test_the_async_clients_alike(vendors: Vendors, track: Track, collector: Collector) -> None:
    tracker = track(guard="balanced")
    async with (
        openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as one,
        anthropic.AsyncAnthropic(api_key="sk", base_url=vendors.url) as other,
    ):
        for plain, request in ((one, CHAT), (other, CLAUDE)):
            wrapped = tracker.wrap(plain)
            async with asked(wrapped, "with_streaming_response")(**request, stream=True) as raw:
                assert SAID.split()[0] in "".join([text async for text in raw.iter_text()])
            async with asked(wrapped, "with_streaming_response")(**request) as raw:
                assert SAID in await raw.text()
            legacy: Any = await asked(wrapped, "with_raw_response")(**request, stream=True)
            parsed = legacy.parse()
            stream = await parsed if asyncio.iscoroutine(parsed) else parsed
            assert [event async for event in stream]
        vendors.loops = True
        with pytest.raises(LoopTripped):
            await read_lines(tracker.wrap(one), CHAT)
    assert tracker.flush()
    assert sources(collector) == [*["provider"] * 6, "estimated"]
    assert collector.rows[-1]["loopAborts"] == 1
