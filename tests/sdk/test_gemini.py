from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import types

from loopwatch.errors import LoopTripped
from tests.sdk.conftest import Track
from tests.sdk.vendors import TEXT, Collector, Vendors

SAID = "".join(TEXT)
MODEL = "gemini-2.5-flash"
FIGURES = {
    "inputTokens": 100,
    "cacheReadInputTokens": 40,
    "outputTokens": 20,
    "reasoningOutputTokens": 5,
    "provider": "google",
    "requestModel": MODEL,
}


@pytest.fixture
def client(vendors: Vendors) -> Iterator[genai.Client]:
    made = genai.Client(api_key="AIza", http_options=types.HttpOptions(base_url=vendors.url))
    yield made
    made.close()


def test_content_whole_streamed_and_in_a_chat(
    client: genai.Client, vendors: Vendors, track: Track, collector: Collector
) -> None:
    tracker = track()
    assert isinstance(tracker.wrap(client), genai.Client)
    wrapped: Any = tracker.wrap(client)
    assert wrapped.models.generate_content(model=MODEL, contents="Why?", user_id="u1").text == SAID
    config = types.GenerateContentConfig(temperature=0.5)
    chunks = wrapped.models.generate_content_stream(model=MODEL, contents="?", config=config, user_id="u2")
    assert "".join(chunk.text or "" for chunk in chunks) == SAID
    with tracker.user("u3"):
        assert wrapped.chats.create(model=MODEL).send_message("Why?").text == SAID
    assert tracker.flush()
    assert [row["userId"] for row in collector.rows] == ["u1", "u2", "u3"]
    assert all(row.items() >= FIGURES.items() for row in collector.rows)
    assert config.http_options is None
    assert not [name for headers in vendors.headers for name in headers if "loopwatch" in name]
    assert "user_id" not in str(vendors.requests)


def test_each_call_of_automatic_function_calling_counts(
    client: genai.Client, vendors: Vendors, track: Track, collector: Collector
) -> None:
    vendors.tools = [{"name": "weather", "args": {"city": city}} for city in ("Bonn", "Kiel")]
    asked: list[str] = []

    def weather(city: str) -> str:
        """Tell the weather in a city."""
        asked.append(city)
        return "rain"

    tracker = track()
    with tracker.agent("a") as run:
        tracker.wrap(client).models.generate_content(
            model=MODEL, contents="?", config=types.GenerateContentConfig(tools=[weather])
        )
    assert asked == ["Bonn", "Kiel"]
    assert run.iterations == 3
    assert tracker.flush()
    assert len(collector.rows) == 3


def test_a_loop_is_cut_and_a_stream_that_is_left_estimated(
    client: genai.Client, vendors: Vendors, track: Track, collector: Collector
) -> None:
    tracker = track(guard="balanced")
    vendors.loops = True
    vendors.pause = 0.001
    models = tracker.wrap(client).models
    with pytest.raises(LoopTripped):
        list(models.generate_content_stream(model=MODEL, contents="?"))
    left = models.generate_content_stream(model=MODEL, contents="?")
    next(left)
    del left
    assert tracker.flush()
    assert [row.get("loopAborts", 0) for row in collector.rows] == [1, 0]
    assert {row["usageSource"] for row in collector.rows} == {"estimated"}
    assert {row["inputTokens"] for row in collector.rows} == {100}


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")  # theirs
async def test_the_async_client(
    client: genai.Client, vendors: Vendors, track: Track, collector: Collector
) -> None:
    tracker = track(guard="balanced")
    wrapped: Any = tracker.wrap(client)
    models = wrapped.aio.models
    assert (await models.generate_content(model=MODEL, contents="?", user_id="u1")).text == SAID
    stream = await models.generate_content_stream(model=MODEL, contents="?", user_id="u2")
    assert "".join([chunk.text or "" async for chunk in stream]) == SAID
    vendors.loops = True
    with pytest.raises(LoopTripped):
        async for _ in await models.generate_content_stream(model=MODEL, contents="?", user_id="u3"):
            pass
    assert tracker.flush()
    assert [row["userId"] for row in collector.rows] == ["u1", "u2", "u3"]
    assert collector.rows[1].items() >= FIGURES.items()
    await client.aio.aclose()


def test_the_wrapped_client_outlives_the_name_of_the_other(vendors: Vendors, track: Track) -> None:
    options = types.HttpOptions(base_url=vendors.url)
    wrapped = track().wrap(genai.Client(api_key="AIza", http_options=options))
    assert wrapped.models.generate_content(model=MODEL, contents="?").text == SAID
    wrapped.close()


def test_what_a_broken_stream_had_said_is_estimated(
    client: genai.Client, vendors: Vendors, track: Track, collector: Collector
) -> None:
    tracker = track()
    models = tracker.wrap(client).models
    vendors.breaks_after = 3
    with pytest.raises(httpx2.RemoteProtocolError):
        list(models.generate_content_stream(model=MODEL, contents="?"))
    vendors.fail = [(400, "no")]
    with pytest.raises(genai.errors.ClientError):
        list(models.generate_content_stream(model=MODEL, contents="?"))
    assert tracker.flush()
    assert [row["usageSource"] for row in collector.rows] == ["estimated", "unknown"]
    assert collector.rows[0]["outputTokens"] > 0


def test_a_failure_is_logged(
    client: genai.Client, vendors: Vendors, track: Track, collector: Collector
) -> None:
    vendors.fail = [(400, "no")]
    tracker = track()
    with pytest.raises(genai.errors.ClientError):
        tracker.wrap(client).models.generate_content(model=MODEL, contents="?")
    assert tracker.flush()
    assert collector.rows[0]["usageSource"] == "unknown"
