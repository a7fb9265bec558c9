"""Streams: handed on byte for byte, and ended where they loop, in a way that every vendor's client accepts."""

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import aiohttp
import anthropic
import brotli  # type: ignore[import-untyped]
import openai
import pytest
import zstandard
from google import genai

from loopwatch.testing.answers import Answer, answer, hanging, looping, status
from loopwatch.testing.exchange import Request, Step
from loopwatch.testing.provider import ScriptedProvider, scripted_provider
from loopwatch.testing.steps import CallTool, Cut, Finish, Loop, Pause, Raw, Reset, Role, Say, Usage
from tests.proxy.house import GUARD, LOOP, Hasty, Proxy, events, lines_of, proxied
from tests.proxy.replies import (
    EVERY,
    JSON,
    NDJSON,
    SSE,
    Spoken,
    content_event,
    cut,
    message_events,
    ollama_event,
    response_events,
    sse,
)

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hello?"}], "stream": True}
SOUND = "One thing after another, all of them new. "


async def read(proxy: Proxy, body: dict[str, Any] = ASK, path: str = "/v1/chat/completions") -> bytes:
    async with proxy.session.post(proxy.url + path, json=body) as answered:
        assert answered.status == 200
        return await answered.read()


@pytest.mark.parametrize("spoken", EVERY, ids=lambda spoken: spoken.name)
async def test_a_stream_arrives_byte_for_byte_and_its_usage_is_logged(spoken: Spoken) -> None:
    async with scripted_provider(spoken.answers) as provider, proxied(provider.base_url) as proxy:
        path = spoken.path.replace(":generate", ":streamGenerate")
        query = "?alt=sse" if "gemini" in path else ""
        body = json.dumps(spoken.ask | {"stream": True}).encode()
        headers = {"authorization": "Bearer sk-secret", "x-odd": "kept"}
        async with proxy.session.post(proxy.url + path + query, data=body, headers=headers) as answered:
            assert await answered.read() == spoken.stream()
        (request,) = provider.requests
        assert request.raw == body
        assert (request.headers["authorization"], request.headers["x-odd"]) == ("Bearer sk-secret", "kept")
        assert dict(request.query) == ({"alt": "sse"} if query else {})
        await proxy.settled()
        (row,) = proxy.rows
        assert (row.output_tokens, row.usage_source, row.loop_rule) == (4, "provider", None)


async def test_gemini_streams_one_array_where_no_events_are_asked_for() -> None:
    chunks = [content_event("It "), content_event("scatters.", "STOP", 4)]
    array = b"[" + b",\r\n".join(json.dumps(chunk).encode() for chunk in chunks) + b"\n]"
    sent = Answer([Raw(part) for part in cut(array, 17)], headers=JSON)
    async with scripted_provider(sent) as provider, proxied(provider.base_url) as proxy:
        ask = {"contents": [{"role": "user", "parts": [{"text": "Hello?"}]}]}
        assert await read(proxy, ask, "/v1beta/models/gemini-x:streamGenerateContent") == array
        await proxy.settled()
        assert [row.output_tokens for row in proxy.rows] == [4]


def _array_loop() -> Answer:
    chunk = json.dumps(content_event(LOOP)).encode()
    return Answer([Raw(b"["), Raw(chunk), *[Raw(b",\r\n" + chunk)] * 400], headers=JSON)


async def test_an_array_that_loops_is_closed_as_one() -> None:
    async with scripted_provider(_array_loop()) as provider, proxied(provider.base_url) as proxy:
        ask = {"contents": [{"role": "user", "parts": [{"text": "Hello?"}]}]}
        said = json.loads(await read(proxy, ask, "/v1beta/models/gemini-x:streamGenerateContent"))
        assert said[-1]["candidates"][0]["finishReason"] == "STOP"
        assert 10 < len(said) < 40


async def test_ollamas_lines_end_with_done() -> None:
    line = json.dumps(ollama_event(LOOP)).encode() + b"\n"
    sent = Answer([Raw(line)] * 400, headers=NDJSON)
    async with scripted_provider(sent) as provider, proxied(f"ollama={provider.base_url}") as proxy:
        ask = {"model": "llama", "messages": [{"role": "user", "content": "Hello?"}]}
        lines = [json.loads(one) for one in (await read(proxy, ask, "/api/chat")).splitlines()]
        assert [one["done"] for one in lines] == [False] * (len(lines) - 1) + [True]
        assert lines[-1]["done_reason"] == "stop"
        assert provider.requests[0].path == "/v1/chat"


# What the vendors' own clients make of a stream that was cut.


def _sse_loop(before: list[dict[str, Any]], event: dict[str, Any], *, named: bool) -> Answer:
    beginning = [Raw(sse(one, named=named)) for one in before]
    return Answer([*beginning, *[Raw(sse(event, named=named))] * 400], headers=SSE)


async def test_openais_client_sees_a_reply_that_stopped() -> None:
    async with scripted_provider(looping(LOOP)) as provider, proxied(provider.base_url) as proxy:
        async with openai.AsyncOpenAI(base_url=proxy.v1, api_key="sk-x", max_retries=0) as client:
            stream = await client.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": "Hello?"}],
                stream=True,
                stream_options={"include_usage": True},
                user="u1",
            )
            chunks = [chunk async for chunk in stream]
        assert chunks[-2].choices[0].finish_reason == "stop"
        assert chunks[-1].usage is not None
        assert chunks[-1].usage.completion_tokens > 200
        await provider.requests[0].over()
        assert provider.requests[0].ended == "dropped"
        (row,) = proxy.rows
        assert (row.user_id, row.loop_aborts, row.usage_source) == ("u1", 1, "estimated")
        assert row.output_tokens == chunks[-1].usage.completion_tokens
        (told,) = proxy.told
        assert (told["event"], told["rule"], told["action"], told["user"]) == ("trip", "cycle", "stop", "u1")


async def test_openais_client_streams_and_ends_a_response() -> None:
    before = response_events([SOUND], ends=False)
    loop = {**before[-1], "delta": LOOP, "sequence_number": 5}
    async with (
        scripted_provider(_sse_loop(before, loop, named=True)) as provider,
        proxied(provider.base_url) as proxy,
        openai.AsyncOpenAI(base_url=proxy.v1, api_key="sk-x", max_retries=0) as client,
    ):
        async with client.responses.stream(model="m", input="Hello?") as stream:
            kinds = [event.type async for event in stream]
            final = await stream.get_final_response()
        assert kinds[-4:] == [
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
        assert final.status == "completed"
        assert final.output_text.startswith(SOUND + LOOP)
        assert final.usage is not None


async def test_anthropics_client_streams_and_ends_a_message() -> None:
    deltas = [{"type": "text_delta", "text": SOUND}]
    before = message_events([({"type": "text", "text": ""}, deltas)], "", ends=False)
    loop = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": LOOP}}
    async with (
        scripted_provider(_sse_loop(before, loop, named=True)) as provider,
        proxied(provider.base_url) as proxy,
        anthropic.AsyncAnthropic(base_url=proxy.url, api_key="sk-ant", max_retries=0) as client,
    ):
        async with client.messages.stream(
            model="claude-x", max_tokens=9_000, messages=[{"role": "user", "content": "Hello?"}]
        ) as stream:
            message = await stream.get_final_message()
        assert message.stop_reason == "end_turn"
        assert message.content[0].type == "text"
        assert message.content[0].text.startswith(SOUND + LOOP)
        assert message.usage.output_tokens > 100
        assert provider.requests[0].headers["authorization"] == "Bearer sk-ant"
        assert provider.requests[0].path == "/v1/messages"


@pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")  # how it uses aiohttp
async def test_googles_client_streams_and_ends_a_response() -> None:
    loop = _sse_loop([content_event(SOUND)], content_event(LOOP), named=False)
    async with scripted_provider(loop) as provider, proxied(provider.base_url) as proxy:
        client = genai.Client(api_key="g", http_options={"base_url": proxy.url})
        try:
            stream = await client.aio.models.generate_content_stream(model="gemini-x", contents="Hello?")
            chunks = [chunk async for chunk in stream]
            await client.aio.aclose()
        finally:
            client.close()
        assert chunks[-1].candidates is not None
        assert chunks[-1].candidates[0].finish_reason == "STOP"
        assert (chunks[0].text or "").startswith(SOUND)
        assert provider.requests[0].path == "/v1/models/gemini-x:streamGenerateContent"
        assert provider.requests[0].headers["x-goog-api-key"] == "g"


async def test_curl_sees_a_whole_answer() -> None:
    async with scripted_provider(looping(LOOP)) as provider, proxied(provider.base_url) as proxy:
        running = await asyncio.create_subprocess_exec(
            *("curl", "-sSN", "-w", "%{http_code} %{exitcode}", f"{proxy.v1}/chat/completions"),
            *("-H", "content-type: application/json", "-d", json.dumps(ASK)),
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await running.communicate()
        assert running.returncode == 0
        assert out.endswith(b"data: [DONE]\n\n200 0")
        assert b": loopwatch cut this reply: cycle; onset=0; chars=896" in out


# The other things that may become of a loop.


async def test_openais_client_raises_where_a_loop_is_an_error() -> None:
    async with (
        scripted_provider(looping(LOOP)) as provider,
        proxied(provider.base_url, on_trip="error") as proxy,
        openai.AsyncOpenAI(base_url=proxy.v1, api_key="sk-x", max_retries=0) as client,
    ):
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Hello?"}], stream=True
        )
        with pytest.raises(openai.APIError, match="became a loop"):
            _ = [chunk async for chunk in stream]


@pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")  # as above
async def test_anthropics_and_googles_clients_raise_where_a_loop_is_an_error() -> None:
    before = message_events([({"type": "text", "text": ""}, [])], "", ends=False)
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": LOOP}}
    async with (
        scripted_provider(
            _sse_loop(before, delta, named=True), _sse_loop([], content_event(LOOP), named=False)
        ) as provider,
        proxied(provider.base_url, on_trip="error") as proxy,
    ):
        async with anthropic.AsyncAnthropic(base_url=proxy.url, api_key="a", max_retries=0) as client:
            stream = await client.messages.create(
                model="c", max_tokens=9, messages=[{"role": "user", "content": "Hello?"}], stream=True
            )
            with pytest.raises(anthropic.APIError, match="became a loop"):
                _ = [event async for event in stream]
        google = genai.Client(api_key="g", http_options={"base_url": proxy.url})
        try:
            chunks = await google.aio.models.generate_content_stream(model="gemini-x", contents="Hello?")
            with pytest.raises(genai.errors.APIError, match="became a loop"):
                _ = [chunk async for chunk in chunks]
            await google.aio.aclose()
        finally:
            google.close()


async def test_half_a_tool_call_ends_in_an_error_so_that_nobody_runs_it() -> None:
    half = Answer([Role(), CallTool(id="c1", name="write", arguments=[LOOP] * 300), Finish("tool_calls")])
    guard = replace(GUARD, channels=("content", "tools"))
    async with scripted_provider(half) as provider, proxied(provider.base_url, detection=guard) as proxy:
        body = await read(proxy)
        assert events(body)[-1]["error"]["code"] == "model_response_loop"
        assert b"[DONE]" not in body
        assert b'"finish_reason":"' not in body


async def test_a_held_reply_that_loops_is_asked_for_again_and_never_seen() -> None:
    async with (
        scripted_provider(looping(LOOP), answer(SOUND, usage=Usage(9, 8))) as provider,
        proxied(provider.base_url, on_trip="retry", hold=2_000, clock=Hasty()) as proxy,
    ):
        async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
            body = await answered.read()
            assert answered.headers["x-loopwatch-discarded"] == "1"
        assert LOOP.encode() not in body
        assert "".join(one["choices"][0]["delta"].get("content") or "" for one in events(body)[:-1]) == SOUND
        assert provider.requests[0].ended == "dropped"
        assert [row.loop_aborts for row in proxy.rows] == [1, 0]
        assert [told["action"] for told in proxy.told] == ["retry"]


async def test_the_same_loop_again_ends_the_retries() -> None:
    async with (
        scripted_provider(looping(LOOP)) as provider,
        proxied(provider.base_url, on_trip="retry", retries=5, clock=Hasty()) as proxy,
        proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered,
    ):
        assert answered.status == 502
        assert answered.headers["x-should-retry"] == "false"
        assert "looped at the same place again" in json.loads(await answered.read())["error"]["message"]
        assert len(provider.requests) == 2


async def test_retries_are_spent_at_last() -> None:
    loops = [looping(f"Number {number} says the same thing again. ") for number in range(9)]
    async with (
        scripted_provider(*loops) as provider,
        proxied(provider.base_url, on_trip="retry", retries=2, clock=Hasty()) as proxy,
        proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered,
    ):
        assert answered.status == 502
        assert "looped in each of 3 attempts" in json.loads(await answered.read())["error"]["message"]
        assert len(provider.requests) == 3


async def test_a_loop_after_what_was_held_is_stopped() -> None:
    sound = " ".join(f"Word{number} of many." for number in range(60)) + " "
    async with (
        scripted_provider(looping(LOOP, beginning=sound)) as provider,
        proxied(provider.base_url, on_trip="retry", hold=300) as proxy,
    ):
        assert (await read(proxy)).endswith(b"data: [DONE]\n\n")
        assert len(provider.requests) == 1


async def test_the_shadow_cuts_nothing_and_says_what_it_would_have() -> None:
    steps: list[Step] = [Role(), Say([LOOP] * 60), Finish("length"), Usage(9, 700)]
    async with (
        scripted_provider(Answer(steps)) as provider,
        proxied(provider.base_url, detection=replace(GUARD, shadow=True)) as proxy,
    ):
        body = await read(proxy)
        await proxy.settled()
        assert body.count(LOOP.encode()) == 60
        (told,) = proxy.told
        assert (told["event"], told["chars"], told["saved_chars"]) == ("shadow", 896, 60 * len(LOOP) - 896)
        (row,) = proxy.rows
        assert (row.loop_rule, row.loop_aborts, row.output_tokens) == ("cycle", 0, 700)


async def test_several_replies_side_by_side_are_not_guarded() -> None:
    async with (
        scripted_provider(Answer([Role(), Say([LOOP] * 60), Finish()])) as provider,
        proxied(provider.base_url) as proxy,
    ):
        assert (await read(proxy, ASK | {"n": 2})).count(LOOP.encode()) == 60
        assert proxy.told == []


# Whatever way the bytes come.


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [1, 7, 1_000, 10**6])
async def test_a_cut_is_at_the_end_of_an_event_however_they_are_cut(end: str, size: int) -> None:
    chunk = json.dumps({"id": "c", "choices": [{"index": 0, "delta": {"content": LOOP}}]})
    stream = f": hello{end}{end}".encode() + f"data: {chunk}{end}{end}".encode() * 60
    parts = [Raw(part) for part in cut(stream, size)]
    async with (
        scripted_provider(Answer(parts, headers=SSE)) as provider,
        proxied(provider.base_url) as proxy,
    ):
        body = await read(proxy)
        head, _, tail = body.partition(b": loopwatch cut this reply")
        assert stream.startswith(head)
        assert head.endswith((f"{end}{end}".encode(), b"\r\n\r"))  # a line may end with CR alone
        assert tail.endswith(b"data: [DONE]\n\n")
        assert b'"finish_reason":"stop"' in tail


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("packing", PACKERS)
async def test_a_packed_stream_is_unpacked_read_and_cut(packing: str) -> None:
    chunk = json.dumps({"id": "c", "choices": [{"index": 0, "delta": {"content": LOOP}}]}).encode()
    packed = PACKERS[packing](b"data: " + chunk + b"\n\n" + (b"data: " + chunk + b"\n\n") * 60)
    sent = Answer([Raw(part) for part in cut(packed, 11)], headers=SSE | {"Content-Encoding": packing})
    async with scripted_provider(sent) as provider, proxied(provider.base_url) as proxy:
        headers = {"accept-encoding": "gzip, br"}
        async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK, headers=headers) as answered:
            body = await answered.read()
            assert "content-encoding" not in answered.headers
        assert body.endswith(b"data: [DONE]\n\n")
        assert 10 < body.count(LOOP.encode()) < 30
        assert provider.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("packing", ["gzip", "br", "zstd"])
async def test_a_body_that_is_not_packed_as_it_says_breaks_and_the_next_is_served(
    packing: str, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = Answer([Raw(b"nothing of the kind " * 9)], headers=SSE | {"Content-Encoding": packing})
    async with scripted_provider(wrong, answer("Hi.")) as provider, proxied(provider.base_url) as proxy:
        with pytest.raises(aiohttp.ClientError):
            await read(proxy)
        assert b"Hi" in await read(proxy)
        assert len(lines_of(caplog.records)) == 1


async def test_a_stream_of_another_packing_is_handed_on_as_it_is() -> None:
    sent = Answer([Raw(b"\x01\x02\x03")], headers=SSE | {"Content-Encoding": "snappy"})
    async with (
        scripted_provider(sent) as provider,
        proxied(provider.base_url) as proxy,
        proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered,
    ):
        assert answered.headers["content-encoding"] == "snappy"
        assert await answered.read() == b"\x01\x02\x03"


@pytest.mark.parametrize("body", [b"data: {nonsense\n\n" * 3, b"\xff\xfe\x00", b"", b"event: x\n\n", b"[1,2"])
async def test_what_is_no_stream_of_anybodys_arrives_as_it_is(body: bytes) -> None:
    sent = Answer([Raw(body)], headers=SSE)
    async with scripted_provider(sent) as provider, proxied(provider.base_url) as proxy:
        assert await read(proxy) == body


async def test_an_endless_event_is_relayed_unread(caplog: pytest.LogCaptureFixture) -> None:
    endless = b"data: " + b"x" * 65_536
    sent = Answer([Raw(endless)] * 140, headers=SSE)
    async with scripted_provider(sent) as provider, proxied(provider.base_url) as proxy:
        assert len(await read(proxy)) == 140 * len(endless)
        await proxy.settled()
        (line,) = lines_of(caplog.records)
        assert "could not be read for loops" in line


# Who goes first.


async def test_the_client_going_away_drops_the_upstream() -> None:
    slow = Answer([Role(), Loop("word by word ", 0.01)])
    async with scripted_provider(slow) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
            await answered.content.readany()
        await provider.requests[0].over()
        assert provider.requests[0].ended == "dropped"
        await proxy.settled()
        assert proxy.house.tallies.gone == 1
        (row,) = proxy.rows
        assert row.usage_source == "estimated"


@pytest.mark.parametrize("streams", [True, False])
async def test_the_client_going_away_before_the_first_byte_drops_the_upstream(*, streams: bool) -> None:
    silent = Answer(before=[Pause(60)])
    async with scripted_provider(silent) as provider, proxied(provider.base_url) as proxy:
        with pytest.raises(TimeoutError):
            await proxy.session.post(
                f"{proxy.v1}/chat/completions",
                json=ASK | {"stream": streams},
                timeout=aiohttp.ClientTimeout(total=0.2),
            )
        await provider.requests[0].over()
        assert provider.requests[0].ended == "dropped"
        await proxy.settled()


@pytest.mark.parametrize("ending", [Cut(), Reset()])
async def test_the_upstream_going_away_breaks_the_stream(
    ending: Cut | Reset, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Answer([Role(), Say("It scatters"), ending])
    async with scripted_provider(broken, answer("Hi.")) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
            assert answered.status == 200
            with pytest.raises(aiohttp.ClientError):
                await answered.read()
        (line,) = lines_of(caplog.records)
        assert "closed the connection before the answer was complete" in line
        assert b"Hi" in await read(proxy)


async def test_a_reset_after_the_end_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    done = answer("Hi.")
    ended = Answer([*done.steps, Pause(0.05), Reset()])
    async with scripted_provider(ended) as provider, proxied(provider.base_url) as proxy:
        assert (await read(proxy)).endswith(b"data: [DONE]\n\n")
        assert lines_of(caplog.records) == []


async def test_a_silent_upstream_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    async with (
        scripted_provider(Answer(before=[Pause(60)]), hanging("It "), answer("Hi.")) as provider,
        proxied(provider.base_url, idle_secs=0.2) as proxy,
    ):
        async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
            assert answered.status == 504
            assert "nothing came from upstream" in json.loads(await answered.read())["error"]["message"]
        with pytest.raises(aiohttp.ClientError):
            await read(proxy)
        assert b"Hi" in await read(proxy)
        assert len(lines_of(caplog.records)) == 2


async def test_nothing_is_read_ahead_of_a_slow_client() -> None:
    """What the buffers of four sockets hold, and no more, however much there is to come."""
    big = "x" * 60_000

    def varied(_: Request) -> Answer:
        return Answer([Say([f"{number} {big}" for number in range(1_500)])])

    async with (
        scripted_provider(varied) as provider,
        proxied(provider.base_url, detection=replace(GUARD, enabled=False)) as proxy,
        proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered,
    ):
        await _stands_still(provider)
        assert provider.requests[0].bytes_sent < 40_000_000
        assert len(await answered.read()) > 89_000_000


async def _stands_still(provider: ScriptedProvider) -> None:
    before = -1
    while before != provider.requests[0].bytes_sent:
        before = provider.requests[0].bytes_sent
        await asyncio.sleep(0.3)


async def test_a_client_that_takes_nothing_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    big = "x" * 60_000
    much = Answer([Say([f"{number} {big}" for number in range(1_500)])])
    async with (
        scripted_provider(much) as provider,
        proxied(provider.base_url, client_idle_secs=0.3, detection=replace(GUARD, enabled=False)) as proxy,
        proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK),
    ):
        await provider.requests[0].over()
        assert provider.requests[0].ended == "dropped"
        assert "the client took nothing for 0.3 s" in lines_of(caplog.records)[0]


async def test_events_come_as_they_are_sent() -> None:
    """Each is there before the next one is sent: nothing is gathered on the way."""
    come = asyncio.Event()

    class Waiting:
        async def play(self, stream: Any) -> None:
            del stream
            async with asyncio.timeout(5):
                await come.wait()
            come.clear()

    steps = [step for number in range(5) for step in (Say([f"piece {number}"]), Waiting())]
    async with scripted_provider(Answer(steps)) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
            pieces = [piece async for piece in _each(answered.content.iter_any(), come)]
        assert [f"piece {number}".encode() in piece for number, piece in enumerate(pieces)] == [True] * 5


async def _each(pieces: AsyncIterator[bytes], come: asyncio.Event) -> AsyncIterator[bytes]:
    async for piece in pieces:
        yield piece
        come.set()


async def test_errors_of_the_provider_are_its_own() -> None:
    limited = status(429, {"error": {"message": "slow down"}}, retry_after=7)
    async with scripted_provider(limited) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
            assert (answered.status, answered.headers["retry-after"]) == (429, "7")
            assert json.loads(await answered.read()) == {"error": {"message": "slow down"}}
        (row,) = proxy.rows
        assert row.usage_source == "unknown"
