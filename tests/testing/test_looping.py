import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import anyio
import pytest

from loopwatch.detect.detector import LoopDetector
from loopwatch.testing.looping import MAX_TOKENS, LoopingServer, looping_server
from loopwatch.wire.sse import SSEDecoder


@pytest.fixture
async def server() -> AsyncIterator[LoopingServer]:
    async with looping_server(delay=0) as running:
        yield running


def request(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Two words"}], "stream": True} | fields


async def post(server: LoopingServer, body: bytes) -> tuple[int, str, bytes]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.base_url}/chat/completions", data=body) as response,
    ):
        return response.status, response.content_type, await response.read()


async def chunks(server: LoopingServer, **fields: Any) -> list[dict[str, Any]]:
    """The chunks of a whole reply, which must end with [DONE]."""
    status, content_type, body = await post(server, json.dumps(request(**fields)).encode())
    assert (status, content_type) == (200, "text/event-stream")
    *events, done = [event.data for event in SSEDecoder().feed(body)]
    assert done == b"[DONE]"
    return [json.loads(event) for event in events]


def pieces(reply: list[dict[str, Any]]) -> list[str]:
    return [
        choice["delta"]["content"]
        for chunk in reply
        for choice in chunk["choices"]
        if choice["delta"].get("content")
    ]


async def test_at_temperature_0_it_loops_until_max_tokens(server: LoopingServer) -> None:
    reply = await chunks(server, temperature=0, max_tokens=500)
    assert len(pieces(reply)) == 500
    assert reply[-1]["choices"][0]["finish_reason"] == "length"
    trip = LoopDetector().push("".join(pieces(reply)))
    assert trip is not None
    assert trip.rule == "cycle"
    assert trip.onset is not None
    assert 0 < trip.onset < 200, "it begins soundly"


async def test_at_any_other_temperature_it_answers(server: LoopingServer) -> None:
    for fields in ({"temperature": 0.8}, {}):
        reply = await chunks(server, **fields)
        assert reply[-1]["choices"][0]["finish_reason"] == "stop"
        assert LoopDetector().push("".join(pieces(reply))) is None
    assert [generated.ended for generated in server.replies] == ["stop", "stop"]


async def test_the_answer_too_ends_at_max_tokens(server: LoopingServer) -> None:
    reply = await chunks(server, max_tokens=3)
    assert len(pieces(reply)) == 3
    assert reply[-1]["choices"][0]["finish_reason"] == "length"


async def test_without_max_tokens_a_loop_still_ends(server: LoopingServer) -> None:
    assert len(pieces(await chunks(server, temperature=0))) == MAX_TOKENS


async def test_the_chunks_are_those_of_a_provider(server: LoopingServer) -> None:
    first, *middle, last, usage = await chunks(server, max_tokens=5, stream_options={"include_usage": True})
    assert {chunk["object"] for chunk in (first, *middle, last, usage)} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in (first, *middle, last, usage)}) == 1
    assert first["choices"] == [
        {"index": 0, "delta": {"role": "assistant", "content": None}, "finish_reason": None}
    ]
    assert {choice["finish_reason"] for chunk in middle for choice in chunk["choices"]} == {None}
    assert last["choices"] == [{"index": 0, "delta": {}, "finish_reason": "length"}]
    assert usage["choices"] == []
    assert usage["usage"] == {"prompt_tokens": 2, "completion_tokens": 5, "total_tokens": 7}


async def test_it_stops_when_nobody_reads_any_more() -> None:
    async with looping_server(delay=0.01) as server, aiohttp.ClientSession() as session:
        async with session.post(
            f"{server.base_url}/chat/completions", json=request(temperature=0)
        ) as response:
            await response.content.readany()
        with anyio.fail_after(10):
            while server.replies[0].ended is None:  # noqa: ASYNC110  it tells nobody
                await anyio.sleep(0.01)
    (reply,) = server.replies
    assert reply.ended == "dropped"
    assert reply.tokens < 100


async def test_it_stops_with_the_block() -> None:
    async with aiohttp.ClientSession() as session:
        async with looping_server(delay=0.001) as server:
            response = await session.post(f"{server.base_url}/chat/completions", json=request(temperature=0))
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()
    assert server.replies[0].tokens < 1_000


@pytest.mark.parametrize("body", ["", "{", '{"stream": true}', '{"messages": [], "stream": false}'])
async def test_a_request_it_cannot_answer(server: LoopingServer, body: str) -> None:
    status, content_type, answer = await post(server, body.encode())
    assert (status, content_type) == (400, "application/json")
    assert json.loads(answer)["error"]["code"] == 400
    assert server.replies == []
