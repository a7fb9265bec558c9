import json
from typing import Any

import msgspec
import pytest

from loopwatch.wire.gemini import chunk_pieces
from loopwatch.wire.pieces import Piece


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
