"""The rules that hold for every provider's stream, shown with OpenAI's chunks."""

import json
from typing import Any

import pytest

from loopwatch.detect.detector import LoopDetector
from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import ProviderFault, UnreadableReply
from loopwatch.wire.assembly import assembly_for, whole_reply
from loopwatch.wire.draft import CROWDED, EMPTY, MANY_CALLS
from loopwatch.wire.openai import OpenAIDraft
from loopwatch.wire.pieces import Piece
from loopwatch.wire.reply import Reply, ToolCall
from tests.wire.replies import assemble, reply_of
from tests.wire.streams import chunk, event

DONE = b"data: [DONE]\n\n"
USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 300,
    "cost": 0.0123,
    "prompt_tokens_details": {"cached_tokens": 400},
    "completion_tokens_details": {"reasoning_tokens": 120},
}


def tool(number: int | None = None, **function: Any) -> bytes:
    """A chunk with a fragment of a tool call."""
    index = {} if number is None else {"index": number}
    call_id = {"id": function.pop("id")} if "id" in function else {}
    return chunk({"tool_calls": [{**index, **call_id, **({"function": function} if function else {})}]})


def ended(reason: str | None) -> bytes:
    return event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})


def progress(*deltas: dict[str, Any]) -> int:
    assembly, _ = assemble("openai", b"".join(chunk(delta) for delta in deltas))
    return assembly.progress


def refused(data: bytes) -> str:
    """Why a stream is no reply."""
    with pytest.raises(UnreadableReply) as caught:
        reply_of("openai", data)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_comments_and_other_fields_are_nothing() -> None:  # S2
    data = b": OPENROUTER PROCESSING\n\nevent: ping\nid: 7\nretry: 100\n\ndata: : ping\n\ndata:\n\n"
    assembly, pieces = assemble("openai", data)
    assert (assembly.progress, pieces, assembly.done) == (0, [], False)
    assert refused(data) == EMPTY


@pytest.mark.parametrize("data", [b"{bad", b"error: upstream went away", b"\xff", b'{"a":' * 100_000])
def test_data_that_is_no_json_is_a_parse_failure(data: bytes) -> None:  # S4
    assembly = assembly_for("openai")
    assembly.push(b'{"choices":[]}')
    with pytest.raises(UnreadableReply, match=r"^event 2 of the reply cannot be read: ") as caught:
        assembly.push(data)
    assert not isinstance(caught.value, ProviderFault)


@pytest.mark.parametrize(
    ("data", "came"),
    [
        (b"null", "Expected `object`, got `null`"),
        (b"7", "Expected `object`, got `int`"),
        (b"[]", "Expected `object`, got `array`"),
        (b'"a"', "Expected `object`, got `str`"),
        (b'{"choices":7}', r"Expected `array \| null`, got `int` - at `\$.choices`"),
        (b'{"choices":[{"delta":{"content":["a"]}}]}', r"got `array` - at `\$.choices\[.*\].delta.content`"),
    ],
)
def test_another_value_than_a_chunk_is_named(data: bytes, came: str) -> None:
    with pytest.raises(UnreadableReply, match=came):
        assembly_for("openai").push(data)
    with pytest.raises(UnreadableReply, match=r"the reply cannot be read: .*got `"):
        whole_reply("openai", data.replace(b"delta", b"message"))


def test_an_error_in_the_middle_is_the_providers_fault() -> None:  # S5
    with pytest.raises(ProviderFault, match="rate limited") as caught:
        reply_of("openai", chunk({"content": "a"}) + event({"error": {"message": "rate\n limited"}}))
    assert caught.value.code is None
    assert str(caught.value) == "the provider reports an error: rate limited"


def test_an_error_counts_even_where_the_chunk_around_it_cannot_be_read() -> None:
    for data in (b'{"error":{"code":502},"choices":7}', b'[{"error":{"code":502}}]'):
        with pytest.raises(ProviderFault) as caught:
            assembly_for("openai").push(data)
        assert caught.value.code == 502


def test_the_last_usage_on_any_chunk_holds() -> None:  # S7
    data = (
        chunk({"content": "done"}, usage={"prompt_tokens": 1})
        + chunk({}, usage=None)
        + event({"choices": [], "usage": USAGE})
        + event({"choices": None, "usage": None})
        + DONE
    )
    assembly, _ = assemble("openai", data)
    usage = assembly.finish().usage
    assert usage is not None
    assert (usage.uncached_input_tokens, usage.cache_read_input_tokens) == (600, 400)
    assert (usage.answer_tokens, usage.reasoning_output_tokens, usage.cost) == (180, 120, 0.0123)
    assert usage.wire == USAGE
    assert assembly.usage == usage


def test_usage_is_known_before_the_end() -> None:
    assembly, _ = assemble("openai", chunk({"content": "a"}, usage={"prompt_tokens": 5}))
    assert assembly.usage is not None
    assert assembly.usage.input_tokens == 5


def test_usage_that_is_none_is_not_reported() -> None:
    assert reply_of("openai", chunk({"content": "a"}, usage="n/a")).usage is None


def test_tool_calls_come_in_turns_and_go_in_the_order_of_their_indices() -> None:  # S8
    data = (
        tool(1, id="b", name="g", arguments="")
        + tool(0, id="a", name="f", arguments='{"x"')
        + tool(1, arguments='{"y":')
        + tool(0, arguments=":1}")
        + tool(1, arguments="2}")
        + ended("tool_calls")
    )
    assembly, pieces = assemble("openai", data)
    reply = assembly.finish()
    assert reply.tool_calls == (ToolCall("f", '{"x":1}', "a"), ToolCall("g", '{"y":2}', "b"))
    assert [call.parsed(1) for call in reply.tool_calls] == [{"x": 1}, {"y": 2}]
    assert reply.finish_reason == "tool_calls"
    assert {piece.channel for piece in pieces} == {"tools"}


def test_the_index_of_a_tool_call_is_zero_where_it_is_missing_and_later_names_hold() -> None:
    data = tool(id="a", name="f") + tool(id="b", name="g", arguments="{}") + tool(0, arguments=" ")
    assert reply_of("openai", data).tool_calls == (ToolCall("g", "{} ", "b"),)


def test_a_tool_call_without_arguments_is_one_though_no_finish_reason_came() -> None:  # S10
    reply = reply_of("openai", tool(0, name="f", arguments=""))
    assert reply.finish_reason == "tool_calls"
    assert reply.tool_calls[0].parsed(1) == {}
    assert not reply.terminated


def test_arguments_that_were_cut_off_name_the_call_and_the_tool() -> None:  # S11
    data = tool(0, name="f", arguments="{}") + tool(1, name="write", arguments='{"path":') + DONE
    assert refused(data) == "the arguments of tool call 2 ('write') are no JSON"


def test_the_first_id_provider_and_model_hold() -> None:  # S13
    begun = event({"choices": [], "provider": ""}) + event({"choices": [{"delta": {"content": "a"}}]})
    said = chunk({"content": "a"}, id="gen-7", provider="Groq", model="m")
    assembly, _ = assemble("openai", begun)
    assert (assembly.generation_id, assembly.provider) == (None, None)
    assembly, _ = assemble("openai", begun + said + chunk({}, id="gen-8", provider="Azure", model="n") + DONE)
    assert (assembly.generation_id, assembly.provider, assembly.model) == ("gen-7", "Groq", "m")
    reply = assembly.finish()
    assert (reply.generation_id, reply.provider, reply.model) == ("gen-7", "Groq", "m")


def test_a_provider_that_is_no_name_is_none() -> None:
    assert reply_of("openai", chunk({"content": "a"}, provider={"name": "x"})).provider is None


def test_thinking_is_progress_and_no_answer() -> None:  # S14
    assert progress({"reasoning": "x"}, {"reasoning_content": "y"}) == 2
    assembly, pieces = assemble("openai", chunk({"reasoning": "x"}) + chunk({"reasoning_content": "y"}))
    assert (assembly.text("content"), assembly.text("reasoning")) == ("", "xy")
    assert pieces == [Piece("x", "reasoning"), Piece("y", "reasoning")]


@pytest.mark.parametrize(
    "delta",
    [
        {},
        {"role": "assistant", "content": ""},
        {"content": None, "reasoning": "", "reasoning_content": ""},
        {"tool_calls": [{"index": 0}]},
        {"tool_calls": [{"index": 0, "id": "", "function": {"name": "", "arguments": ""}}]},
        {"tool_calls": []},
    ],
)
def test_what_says_nothing_is_no_progress(delta: dict[str, Any]) -> None:  # S14
    assert progress(delta) == 0
    assert refused(chunk(delta)) == EMPTY


@pytest.mark.parametrize(
    "fragment", [{"id": "a"}, {"function": {"name": "f"}}, {"function": {"arguments": " "}}]
)
def test_any_part_of_a_tool_call_is_progress(fragment: dict[str, Any]) -> None:
    assert progress({"tool_calls": [fragment]}) == 1


def test_the_usage_and_the_end_are_no_progress() -> None:
    assembly, _ = assemble("openai", chunk({"refusal": "no"}) + event({"choices": [], "usage": USAGE}) + DONE)
    assert assembly.progress == 1
    assert assembly.text("content") == "no"


def test_a_character_may_be_split_between_two_reads() -> None:  # S16
    data = chunk({"content": "a🌀b"})
    middle = data.index("🌀".encode()) + 2
    assembly, pieces = assemble("openai", data, [middle])
    assert (assembly.text("content"), pieces) == ("a🌀b", [Piece("a🌀b")])


def test_arguments_that_loop_are_not_read_as_an_answer() -> None:  # S19
    data = b"".join(tool(0, name="f", arguments="void 0; " * 50) for _ in range(100))
    _, pieces = assemble("openai", data)
    detector = LoopDetector(LoopDetection.preset("seed"))
    assert [detector.push(piece.text) for piece in pieces if piece.channel == "content"] == []
    assert sum(len(piece.text) for piece in pieces if piece.channel == "tools") == 40_000


@pytest.mark.parametrize(
    ("reported", "common"),
    [
        ("stop", "stop"),
        ("end_turn", "stop"),
        ("function_call", "tool_calls"),
        ("max_tokens", "length"),
        ("content_filter", "content_filter"),
        ("error", "error"),
    ],
)
def test_finish_reasons_have_common_words(reported: str, common: str) -> None:
    assert reply_of("openai", chunk({"content": "a"}) + ended(reported)).finish_reason == common


def test_the_first_finish_reason_holds() -> None:
    data = chunk({"content": "a"}) + ended("") + ended(None) + ended("length") + ended("stop")
    assert reply_of("openai", data).finish_reason == "length"


def test_a_finish_reason_makes_an_empty_reply_one() -> None:
    reply = reply_of("openai", ended("stop"))
    assert reply == Reply(finish_reason="stop")
    assert reply.says_nothing


@pytest.mark.parametrize("data", [b"", DONE, event({"choices": []}), chunk({"reasoning": "hm"})])
def test_a_reply_without_answer_call_and_reason_is_none(data: bytes) -> None:
    assert refused(data) == EMPTY


def test_the_end_is_said_or_not() -> None:
    said = chunk({"content": "a"})
    assert not reply_of("openai", said).terminated
    assert reply_of("openai", said + ended("stop")).terminated
    assert reply_of("openai", said + DONE).terminated


def test_after_the_end_nothing_is_read() -> None:
    assembly, pieces = assemble(
        "openai", chunk({"content": "a"}) + DONE + b"data: {bad\n\n" + chunk({"content": "b"})
    )
    assert (assembly.done, pieces, assembly.finish().text) == (True, [Piece("a")], "a")


@pytest.mark.parametrize("data", [b"[DONE]", b" [DONE] ", b"[DONE]\xff"])
def test_the_sentinel_ends_it_whatever_stands_around_it(data: bytes) -> None:
    assembly = assembly_for("openai")
    assert assembly.push(data) == []
    assert assembly.done


def test_a_crowd_of_tool_calls_is_refused() -> None:
    assembly = assembly_for("openai")
    for number in range(MANY_CALLS):
        assembly.push(b'{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"a"}]}}]}' % number)
    assembly.push(b'{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b"}]}}]}')
    with pytest.raises(UnreadableReply, match=CROWDED):
        assembly.push(b'{"choices":[{"delta":{"tool_calls":[{"index":-1,"id":"a"}]}}]}')


def test_a_reply_is_finished_as_often_as_one_likes() -> None:
    assembly, _ = assemble("openai", tool(0, name="f", arguments="{}"))
    assert assembly.finish() == assembly.finish()


def test_s13_an_id_that_comes_late_still_counts_and_the_first_one_holds() -> None:
    draft = OpenAIDraft()
    for name in (None, "gen-7", "gen-8"):
        draft.push(json.dumps({"id": name, "choices": [{"index": 0, "delta": {"content": "a"}}]}).encode())
    draft.push(b'{"id": "gen-9", "model": "late", "choices": [{"index": 0, "delta": {"content": "a"}}]}')
    assert (draft.generation_id, draft.model, draft.text("content")) == ("gen-7", "late", "aaaa")


def test_a_second_answer_beside_the_first_is_not_read() -> None:
    draft = OpenAIDraft()
    for index in (0, 1, 0, 1):
        draft.push(
            json.dumps(
                {"id": "g", "model": "m", "choices": [{"index": index, "delta": {"content": str(index)}}]}
            ).encode()
        )
    assert draft.text("content") == "00"
