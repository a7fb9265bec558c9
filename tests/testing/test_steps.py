import json
from typing import Any

import aiohttp
import pytest

from loopwatch.testing.answers import Answer
from loopwatch.testing.exchange import Step, Stream
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import (
    CallTool,
    Chunk,
    Close,
    Cut,
    Done,
    Event,
    Finish,
    KeepAlive,
    Raw,
    Reset,
    Role,
    Say,
    Think,
    Together,
    Usage,
)
from tests.testing.asking import Answered, ask, raw


async def played(*steps: Step, **fields: Any) -> Answered:
    async with scripted_provider(Answer(steps, **fields)) as provider:
        return await ask(provider, model="some/model")


async def test_a_text_is_cut_into_tokens_and_a_sequence_is_sent_as_it_is() -> None:
    reply = await played(Say("Two words, 1.5 €"), Done())
    assert [delta["content"] for delta in reply.deltas] == ["Two", " words", ",", " 1", ".", "5", " ", "€"]
    reply = await played(Say(["Two words", "", "!"]), Done())
    assert [delta["content"] for delta in reply.deltas] == ["Two words", "", "!"]


async def test_the_chunks_are_those_of_a_provider() -> None:
    reply = await played(
        Role(), Think(["Hm"]), Think(["so"], name="reasoning_content"), Finish("length"), Done()
    )
    assert {(chunk["id"], chunk["object"], chunk["model"]) for chunk in reply.chunks} == {
        ("gen-1", "chat.completion.chunk", "some/model")
    }
    assert reply.deltas == [
        {"role": "assistant", "content": None},
        {"reasoning": "Hm"},
        {"reasoning_content": "so"},
        {},
    ]
    assert [chunk["choices"][0]["finish_reason"] for chunk in reply.chunks] == [None, None, None, "length"]


async def test_tool_calls_may_arrive_interleaved() -> None:
    reply = await played(
        CallTool(0, "call-a", "read", ['{"path":']),
        CallTool(1, "call-b", "stop"),
        CallTool(0, arguments=['"x"}']),
        CallTool(2, id="call-c"),
        CallTool(2, name="late"),
        Done(),
    )
    assert [delta["tool_calls"][0] for delta in reply.deltas] == [
        {"index": 0, "id": "call-a", "type": "function", "function": {"name": "read", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"path":'}},
        {"index": 1, "id": "call-b", "type": "function", "function": {"name": "stop", "arguments": ""}},
        {"index": 0, "function": {"arguments": '"x"}'}},
        {"index": 2, "id": "call-c", "type": "function", "function": {"arguments": ""}},
        {"index": 2, "function": {"name": "late", "arguments": ""}},
    ]


async def test_usage_counts_as_openai_does() -> None:
    reply = await played(
        Usage(1_000, 300, cached_tokens=400, reasoning_tokens=120, cost=0.0123, more={"is_byok": False}),
        Usage(1, 2),
        Done(),
    )
    assert [chunk["choices"] for chunk in reply.chunks] == [[], []]
    assert [chunk["usage"] for chunk in reply.chunks] == [
        {
            "prompt_tokens": 1_000,
            "completion_tokens": 300,
            "total_tokens": 1_300,
            "prompt_tokens_details": {"cached_tokens": 400},
            "completion_tokens_details": {"reasoning_tokens": 120},
            "cost": 0.0123,
            "is_byok": False,
        },
        {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    ]


async def test_any_chunk_can_be_sent() -> None:
    reply = await played(
        Chunk({"content": "a"}, more={"id": None}),
        Chunk({"tool_calls": [{"index": 0}]}, "stop", {"id": "gen-8"}),
        Chunk(more={"choices": None}),
        Done(),
    )
    first, second, third = reply.chunks
    assert "id" not in first
    assert second["id"] == "gen-8"
    assert second["choices"] == [
        {"index": 0, "delta": {"tool_calls": [{"index": 0}]}, "finish_reason": "stop"}
    ]
    assert "choices" not in third


async def test_any_event_and_any_bytes_can_be_sent() -> None:
    reply = await played(
        Event({"error": {"message": "rate limited"}}), Event("{bad"), Event(b"\xff"), Raw(b"\x00\r")
    )
    assert reply.body == b'data: {"error":{"message":"rate limited"}}\n\ndata: {bad\n\ndata: \xff\n\n\x00\r'


async def test_keep_alives_are_comments() -> None:
    reply = await played(KeepAlive(2, delay=0.001), KeepAlive(comment="ping"))
    assert reply.body == b": OPENROUTER PROCESSING\n\n" * 2 + b": ping\n\n"


@pytest.mark.parametrize("split", [None, 1, 7])
async def test_the_bytes_are_the_same_however_they_are_split(split: int | None) -> None:
    async with scripted_provider(Answer([Say(["€uro", "😀"]), Done()], split=split)) as provider:
        reply = await ask(provider)
        (request,) = provider.requests
    assert reply.text == "€uro😀"
    assert request.bytes_sent == len(reply.body)
    assert request.events_sent == 3


async def http_chunks(answer: Answer) -> list[bytes]:
    """The body, a piece for each HTTP chunk: each is a write of its own."""
    async with scripted_provider(answer) as provider, raw(provider) as (reader, _):
        await reader.readuntil(b"\r\n\r\n")
        pieces = []
        while size := int(await reader.readline(), 16):
            pieces.append((await reader.readexactly(size + 2))[:-2])
    return pieces


async def test_every_piece_is_a_write_of_its_own() -> None:
    assert await http_chunks(Answer([Raw("😀!".encode())], split=1)) == [
        b"\xf0",
        b"\x9f",
        b"\x98",
        b"\x80",
        b"!",
    ]
    assert await http_chunks(Answer([Raw(b"abcde")], split=2)) == [b"ab", b"cd", b"e"]
    assert await http_chunks(Answer([Raw(b"abcde"), Raw(b""), Raw(b"f")])) == [b"abcde", b"f"]


async def test_steps_can_be_sent_together() -> None:
    together = Together([Raw(b"a"), Together([Raw(b"b"), Raw(b"c")]), Done(), Close(), Raw(b"never")])
    assert await http_chunks(Answer([together, Raw(b"nor this")])) == [b"abcdata: [DONE]\n\n"]
    assert await http_chunks(Answer([Together([Raw(b"abc"), Raw(b"d")])], split=3)) == [b"abc", b"d"]


async def test_a_reply_may_end_without_done() -> None:
    for steps in ([Say(["a"])], [Say(["a"]), Close(), Say(["b"])]):
        assert (await played(*steps)).body.count(b"data:") == 1


async def test_a_connection_may_be_cut_in_the_middle() -> None:
    async with scripted_provider(Answer([Raw(b"abc"), Cut(), Raw(b"d")])) as provider:
        async with raw(provider) as (reader, _):
            assert (await reader.read()).endswith(b"\r\n3\r\nabc\r\n"), "no chunk that ends the body"
        with pytest.raises(aiohttp.ClientPayloadError):
            await ask(provider)
        await provider.disconnected()
    assert [request.ended for request in provider.requests] == ["finished", "finished"]


async def test_a_connection_may_be_reset() -> None:
    async with scripted_provider(Answer([Raw(b"abc"), Reset()])) as provider:
        async with raw(provider) as (reader, _):
            with pytest.raises(ConnectionResetError):
                await reader.read()
        await provider.disconnected()
    assert provider.requests[0].ended == "finished"


@pytest.mark.parametrize("step", [Cut(), Reset()])
async def test_a_connection_may_end_before_the_head(step: Step) -> None:
    async with scripted_provider(Answer(before=[step])) as provider:
        with pytest.raises((aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)):
            await ask(provider)
        await provider.disconnected()
    assert {request.ended for request in provider.requests} == {"finished"}


class Count:
    """A step of somebody else's."""

    async def play(self, stream: Stream) -> None:
        await stream.event(json.dumps(stream.request.body["numbers"]).encode())


async def test_a_step_may_be_anybodys() -> None:
    async with scripted_provider(Answer([Count(), Done()])) as provider:
        assert (await ask(provider, numbers=[1, 2])).body == b"data: [1, 2]\n\ndata: [DONE]\n\n"
