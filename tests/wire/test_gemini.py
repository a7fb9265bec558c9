import json
from typing import Any

import msgspec
import pytest

from loopwatch.errors import ProviderFault, UnreadableReply
from loopwatch.wire.assembly import assembly_for, whole_reply
from loopwatch.wire.draft import EMPTY, UNKNOWN
from loopwatch.wire.gemini import chunk_pieces
from loopwatch.wire.pieces import Piece
from loopwatch.wire.reply import Reply, ToolCall
from tests.wire import streams
from tests.wire.replies import assemble, reply_of


def chunk(*candidates: dict[str, Any], **fields: Any) -> list[Piece]:
    return chunk_pieces(json.dumps({"candidates": candidates, **fields}).encode())


def parts(*some: dict[str, Any]) -> list[Piece]:
    return chunk({"content": {"role": "model", "parts": some}, "index": 0})


def test_text_is_content() -> None:
    got = chunk(
        {"content": {"parts": [{"text": "Hello"}], "role": "model"}, "finishReason": "STOP", "index": 0},
        usageMetadata={"promptTokenCount": 4, "totalTokenCount": 9},
        modelVersion="gemini-2.5-flash",
        responseId="abc",
    )
    assert got == [Piece("Hello")]


def test_a_thought_is_reasoning() -> None:
    assert parts({"text": "hm", "thought": True}, {"text": "so", "thoughtSignature": "CiQ"}) == [
        Piece("hm", "reasoning"),
        Piece("so"),
    ]


def test_thought_may_be_said_to_be_none() -> None:
    assert parts({"text": "a", "thought": False}, {"text": "b", "thought": None}) == [Piece("a"), Piece("b")]


def test_a_function_call_comes_whole_and_its_arguments_are_its_text() -> None:
    got = parts(
        {"functionCall": {"name": "f", "args": {"city": "Köln", "days": [1, 2]}}, "thoughtSignature": "x"}
    )
    (piece,) = got
    assert piece.channel == "tools"
    assert json.loads(piece.text) == {"city": "Köln", "days": [1, 2]}


@pytest.mark.parametrize("call", [{"name": "f"}, {"name": "f", "args": None}])
def test_a_function_call_without_arguments_has_no_text(call: dict[str, Any]) -> None:
    assert parts({"functionCall": call}) == []


def test_candidates_side_by_side_are_replies_of_their_own() -> None:
    got = chunk(
        {"content": {"parts": [{"text": "a"}]}},
        {"content": {"parts": [{"text": "b"}, {"functionCall": {"name": "f", "args": {}}}]}, "index": 1},
        {"content": {"parts": [{"text": "c"}]}, "index": None},
    )
    assert got == [Piece("a"), Piece("b", reply=1), Piece("{}", "tools", 1), Piece("c")]


@pytest.mark.parametrize(
    "candidate",
    [
        {"finishReason": "SAFETY", "index": 0, "safetyRatings": []},
        {"content": {"role": "model"}, "finishReason": "STOP"},
        {"content": {"parts": []}},
        {"content": {"parts": None}},
        {"content": None},
        {"content": {"parts": [{"text": ""}, {"inlineData": {"mimeType": "image/png", "data": "iVBO"}}]}},
        {"content": {"parts": [{"executableCode": {"language": "PYTHON", "code": "1"}}, {"text": None}]}},
    ],
)
def test_a_candidate_may_bring_no_text(candidate: dict[str, Any]) -> None:
    assert chunk(candidate) == []


@pytest.mark.parametrize("data", [b'{"usageMetadata":{}}', b'{"promptFeedback":{}}', b'{"candidates":null}'])
def test_a_chunk_without_candidates_brings_no_text(data: bytes) -> None:
    assert chunk_pieces(data) == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[{}]",
        b'{"candidates":{}}',
        b'{"candidates":[{"content":{"parts":[{"text":7}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"text":"\xff"}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"functionCall":{"args":{"a":"\xff"}}}]}}]}',
        b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=["empty", "list", "no list", "wrong type", "not UTF-8", "arguments not UTF-8", "nested too deep"],
)
def test_what_is_no_chunk_is_a_decode_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        chunk_pieces(data)


# Whole replies.


def test_the_first_candidate_is_read_to_its_end() -> None:
    data = (
        streams.event({"candidates": [{"index": 1, "content": {"parts": [{"text": "b"}]}}]})
        + streams.event({"candidates": [{"index": 1}, {"index": 0, "content": {"parts": [{"text": "a"}]}}]})
        + streams.event(
            {"candidates": [{"finishReason": "MAX_TOKENS"}], "responseId": "r", "modelVersion": "m"}
        )
    )
    assembly, pieces = assemble("gemini", data)
    assert pieces == [Piece("a")]
    assert not assembly.done
    assert assembly.finish() == Reply(text="a", finish_reason="length", generation_id="r", model="m")


def test_a_stream_that_just_ends_was_cut_where_no_reason_came() -> None:
    assert not reply_of("gemini", streams.event(streams.gemini({"text": "a"}))).terminated


def test_the_last_usage_holds() -> None:
    data = (
        streams.event({**streams.gemini({"text": "a"}), "usageMetadata": {"promptTokenCount": 4}})
        + streams.event({"usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2}})
        + streams.event({**streams.gemini({"text": "b"}), "usageMetadata": None})
    )
    usage = reply_of("gemini", data).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (4, 2)


def test_every_call_is_one_of_its_own() -> None:
    calls = [{"functionCall": {"name": "f", "args": {"a": number}}} for number in range(2)]
    reply = reply_of("gemini", streams.event(streams.gemini(*calls, finishReason="STOP")))
    assert reply.tool_calls == (ToolCall("f", '{"a": 0}'), ToolCall("f", '{"a": 1}'))
    assert reply.finish_reason == "tool_calls"


def test_a_prompt_that_is_not_let_through_has_an_empty_reply() -> None:
    reply = reply_of("gemini", streams.event({"promptFeedback": {"blockReason": "OTHER"}, "responseId": "r"}))
    assert reply == Reply(finish_reason="content_filter", generation_id="r")


@pytest.mark.parametrize("feedback", [{"safetyRatings": []}, 7])
def test_other_feedback_is_no_reply(feedback: Any) -> None:
    with pytest.raises(UnreadableReply, match=EMPTY):
        reply_of("gemini", streams.event({"promptFeedback": feedback}))


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_error_is_the_providers_fault(*, wrapped: bool) -> None:
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    data = json.dumps([error] if wrapped else error).encode()
    for read in (assembly_for("gemini").push, lambda data: whole_reply("gemini", data)):
        with pytest.raises(ProviderFault, match="overloaded") as caught:
            read(data)
        assert caught.value.code == 503


def test_what_is_no_response_is_of_an_unknown_shape() -> None:
    with pytest.raises(UnreadableReply) as caught:
        whole_reply("gemini", b'{"foo":1}')
    assert str(caught.value) == UNKNOWN.format("Gemini's responses")
