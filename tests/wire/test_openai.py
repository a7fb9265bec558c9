import json
from typing import Any

import msgspec
import pytest

from loopwatch.wire.openai import Choice, Chunk, Delta, decode_chunk


def chunk(**fields: Any) -> Chunk:
    return decode_chunk(json.dumps(fields).encode())


def choice(**fields: Any) -> Choice:
    """The first choice of a chunk with these fields in it."""
    return chunk(choices=[{"index": 0, **fields}]).choices[0]


def test_a_chunk_says_what_it_adds_and_where_it_comes_from() -> None:
    got = chunk(id="gen-1", model="m", choices=[{"delta": {"content": "Hi"}, "finish_reason": "stop"}])
    assert (got.id, got.model) == ("gen-1", "m")
    assert got.choices == [Choice(Delta(content="Hi"), finish_reason="stop")]


def test_null_content_is_none() -> None:
    assert choice(delta={"role": "assistant", "content": None}).delta.content is None


def test_empty_content_is_not_none() -> None:
    assert choice(delta={"content": ""}).delta.content == ""


def test_both_spellings_of_reasoning_are_read() -> None:
    assert choice(delta={"reasoning": "hm"}).delta == Delta(reasoning="hm")
    assert choice(delta={"reasoning_content": "hm"}).delta == Delta(reasoning_content="hm")


def test_empty_choices_are_none() -> None:
    assert chunk(id="gen-1", choices=[], usage={"total_tokens": 7}).choices == []


def test_a_chunk_without_choices_has_none() -> None:
    assert chunk(error={"message": "overloaded"}) == Chunk()


def test_a_choice_without_delta_adds_nothing() -> None:
    assert choice(finish_reason="length") == Choice(Delta(), finish_reason="length")


def test_choices_side_by_side_are_all_decoded() -> None:
    got = chunk(choices=[{"delta": {"content": "a"}}, {"delta": {"content": "b"}}])
    assert [one.delta.content for one in got.choices] == ["a", "b"]


def test_unknown_fields_are_passed_over_at_every_level() -> None:
    got = chunk(
        x={"y": [1, 2]},
        system_fingerprint=None,
        choices=[{"logprobs": None, "delta": {"content": "a", "tool_calls": [{"index": 0}]}}],
    )
    assert got == Chunk(choices=[Choice(Delta(content="a"))])


def test_escapes_and_characters_outside_the_first_plane_arrive_whole() -> None:
    escaped = rb'{"choices":[{"delta":{"content":"\ud83c\udf00\u2028\n"}}]}'
    assert decode_chunk(escaped).choices[0].delta.content == "🌀\u2028\n"


def test_the_defaults_of_two_chunks_are_not_shared() -> None:
    first, second = chunk(), chunk()
    first.choices.append(Choice())
    assert second.choices == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[DONE]",
        b"upstream connect error",
        b'{"choices":[{"delta":{"content":"cut o',
        b"[]",
        b"7",
        b"null",
        b'{"choices":[{"delta":{"content":7}}]}',
        b'{"choices":[{"delta":{"content":"\xff"}}]}',
        b'{"choices":[{"delta":{"content":"\\ud83c"}}]}',
        b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=[
        "empty",
        "done",
        "text",
        "cut",
        "list",
        "number",
        "null",
        "wrong type",
        "not UTF-8",
        "half a character",
        "nested too deep",
    ],
)
def test_what_is_no_chunk_raises_a_decode_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_chunk(data)
