import gzip
import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwatch.errors import UnreadableReply
from loopwatch.wire import anthropic, gemini, ollama, openai, responses
from loopwatch.wire.assembly import DRAFTS, Format, assembly_for, whole_reply
from loopwatch.wire.lines import Lines
from loopwatch.wire.pieces import Channel, Piece
from loopwatch.wire.sse import SSEDecoder
from tests.wire.replies import RENDERINGS, Call, Said, assemble, reply_of, sayings
from tests.wire.streams import STREAMS, Stream

CORPUS = Path(__file__).parents[2] / "corpus"
CAPTURES = sorted((CORPUS / "sse").glob("*.sse.gz"))
CHANNELS: tuple[Channel, ...] = ("content", "reasoning", "tools")
SPOKEN: dict[str, tuple[Format, Callable[[bytes], list[Piece]]]] = {
    "OpenRouter": ("openai", openai.chunk_pieces),
    "side by side": ("openai", openai.chunk_pieces),
    "completion": ("openai", openai.chunk_pieces),
    "Responses": ("responses", responses.event_pieces),
    "Anthropic": ("anthropic", anthropic.event_pieces),
    "Gemini": ("gemini", gemini.chunk_pieces),
    "Ollama's chat": ("ollama", ollama.line_pieces),
    "Ollama's generate": ("ollama", ollama.line_pieces),
}
EXAMPLE = Said(
    content=["One ", "", "🌀 two\u2028"],
    reasoning=["hm", "\x85"],
    calls=[Call("f", {"a": "é🌀"}, "c1"), Call("g", {"b": 1}, "c2")],
    tokens=9,
)


NAMES = [
    *(
        "choices",
        "delta",
        "message",
        "content",
        "text",
        "tool_calls",
        "function",
        "arguments",
        "name",
        "id",
        "index",
    ),
    *(
        "finish_reason",
        "usage",
        "error",
        "type",
        "item",
        "response",
        "output",
        "output_index",
        "content_block",
    ),
    *(
        "input",
        "stop_reason",
        "candidates",
        "parts",
        "functionCall",
        "args",
        "usageMetadata",
        "promptFeedback",
    ),
    *(
        "done",
        "done_reason",
        "model",
        "status",
        "incomplete_details",
        "reason",
        "code",
        "metadata",
        "provider",
    ),
]
WORDS = [
    *("function_call", "message", "tool_use", "text", "error", "response.failed", "response.completed"),
    *("response.output_item.done", "response.output_text.delta", "content_block_start", "message_start"),
    *("message_delta", "content_block_delta", "custom_tool_call", "{}", "stop", ""),
]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)


def joined(pieces: list[Piece], channel: Channel) -> str:
    return "".join(piece.text for piece in pieces if piece.channel == channel)


@pytest.mark.parametrize("name", DRAFTS)
def test_every_format_has_an_assembly_of_its_own(name: Format) -> None:
    assembly = assembly_for(name)
    assert assembly is not assembly_for(name)
    assert (assembly.progress, assembly.done, assembly.usage) == (0, False, None)
    assert (assembly.generation_id, assembly.provider, assembly.model) == (None, None, None)


@pytest.mark.parametrize("name", RENDERINGS)
def test_a_reply_is_the_same_however_its_bytes_were_cut(name: str) -> None:
    style, render = RENDERINGS[name]
    stream = render(EXAMPLE).stream
    whole, said = assemble(style, stream)
    dice = random.Random(7)
    splits = [range(1, len(stream)), *(sorted(dice.sample(range(len(stream)), 20)) for _ in range(20))]
    for cuts in splits:
        assembly, pieces = assemble(style, stream, cuts)
        assert pieces == said
        assert assembly.finish() == whole.finish()
        assert assembly.progress == whole.progress


@pytest.mark.parametrize("name", RENDERINGS)
@settings(max_examples=60, deadline=None)
@given(said=sayings, data=st.data())
def test_a_streamed_reply_equals_the_document_that_was_not(
    name: str, said: Said, data: st.DataObject
) -> None:
    style, render = RENDERINGS[name]
    stream, document = render(said)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=6))
    assembly, pieces = assemble(style, stream, cuts)
    reply = assembly.finish()
    assert reply == whole_reply(style, document)
    assert reply.text == said.text
    assert [joined(pieces, channel) for channel in CHANNELS] == [
        assembly.text(channel) for channel in CHANNELS
    ]
    if name != "text completion":
        assert reply.reasoning == said.thoughts
        assert reply.tool_calls == said.tool_calls
        assert reply.finish_reason == ("tool_calls" if said.calls else "stop")
    assert reply.usage is not None
    assert reply.usage.input_tokens == said.tokens + (2 if name == "Anthropic" else 0)
    assert reply.terminated
    assert reply.model == "m"


@pytest.mark.parametrize("name", SPOKEN)
def test_the_pieces_are_those_of_the_first_reply_in_the_stream(name: str) -> None:
    style, pieces_of = SPOKEN[name]
    stream: Stream = STREAMS[name]
    assembly, pieces = assemble(style, stream.data)
    assert pieces == [piece for piece in stream.pieces if piece.reply == 0]
    reader = SSEDecoder() if style != "ollama" else None
    events = [event.data for event in reader.feed(stream.data)] if reader else Lines().feed(stream.data)
    fresh = assembly_for(style)
    for data in events:
        if data.startswith(b"{"):
            assert fresh.push(data) == [piece for piece in pieces_of(data) if piece.reply == 0]
    assert assembly.finish().text == joined(pieces, "content")


@pytest.mark.parametrize("name", SPOKEN)
def test_only_what_says_something_is_progress(name: str) -> None:
    style, _ = SPOKEN[name]
    assembly = assembly_for(style)
    decoder = SSEDecoder()
    data = STREAMS[name].data
    events = Lines().feed(data) if style == "ollama" else [event.data for event in decoder.feed(data)]
    for event in events:
        before = assembly.progress
        pieces = assembly.push(event)
        named = b'"name"' in event and style != "gemini"
        assert (assembly.progress > before) is bool(pieces or named)


def test_captures_of_a_real_server_come_to_the_texts_that_were_recorded() -> None:
    with gzip.open(CORPUS / "real.jsonl.gz") as records:
        recorded = {record["id"]: record for record in map(json.loads, records)}
    assert len(CAPTURES) > 80
    for path in CAPTURES:
        record = recorded[path.name.removesuffix(".sse.gz")]
        reply = reply_of("openai", gzip.decompress(path.read_bytes()))
        assert reply.text == record["text"]
        assert reply.finish_reason == record["finish_reason"]
        assert reply.terminated
        assert reply.usage is not None
        assert reply.usage.output_tokens == record["tokens"]
        assert reply.generation_id is not None
        assert reply.generation_id.startswith("chatcmpl-")


@pytest.mark.parametrize("name", DRAFTS)
@settings(deadline=None)
@given(events=st.lists(values.map(json.dumps).map(str.encode) | st.binary(max_size=9), max_size=4))
def test_whatever_comes_is_a_reply_or_is_refused(name: Format, events: list[bytes]) -> None:
    assembly = assembly_for(name)
    with suppress(UnreadableReply):
        for event in events:
            assembly.push(event)
        reply = assembly.finish()
        assert reply.finish_reason or not reply.says_nothing
    for event in events:
        with suppress(UnreadableReply):
            assert whole_reply(name, event).terminated
