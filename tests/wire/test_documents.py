import json
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwatch.wire.documents import ENVELOPES, Found, at_path, find


def message(content: Any = "a", **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **fields}


def completion(*messages: dict[str, Any]) -> dict[str, Any]:
    choices = [
        {"index": number, "message": one, "finish_reason": "stop"} for number, one in enumerate(messages)
    ]
    return {"id": "chatcmpl-1", "object": "chat.completion", "choices": choices, "usage": {"total_tokens": 9}}


def response(*items: dict[str, Any]) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "status": "completed", "error": None, "output": [*items]}


def gemini(*parts: dict[str, Any]) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": [*parts]}, "finishReason": "STOP", "index": 0}]
    }


def said(record: Any) -> list[tuple[str, str]]:
    """The channels of a record that is one reply, with their texts."""
    found = find(record)
    assert found is not None
    assert {one.place for one in found} <= {""}
    return [(one.channel, one.text) for one in found]


# A text.


def test_a_text_is_the_reply_whatever_else_there_is() -> None:
    assert find({"id": 1, "text": "a", "content": "b", "messages": [message("c")]}) == [Found("a")]
    assert find({"text": ""}) == [Found("")]


# OpenAI's chat and text completions.


def test_a_chat_completion_is_its_message() -> None:
    assert find(completion(message("a", refusal=None, annotations=[]))) == [Found("a")]


def test_an_empty_answer_is_a_reply_and_none_is_not() -> None:
    assert find(completion(message(""))) == [Found("")]
    assert find(completion(message(None))) == []


def test_reasoning_comes_first_under_any_name_and_once_under_two() -> None:
    for beside in (
        {"reasoning": "hm"},
        {"reasoning_content": "hm"},
        {"reasoning": "hm", "reasoning_content": "hm"},
        {"reasoning": None, "reasoning_content": "", "thinking": "hm"},
    ):
        assert said(completion(message("a", **beside))) == [("reasoning", "hm"), ("content", "a")]


def test_tool_calls_are_one_text_as_one_detector_would_read_them() -> None:
    calls = [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
        {"id": "call_2", "type": "function", "function": {"name": "f", "arguments": '{"a": 2}'}},
        {"id": "call_3", "type": "custom", "custom": {"name": "code", "input": "print()"}},
    ]
    assert said(completion(message(None, tool_calls=calls))) == [("tools", '{"a": 1}{"a": 2}print()')]


def test_a_function_call_of_old_is_a_tool_call() -> None:
    call = {"name": "f", "arguments": "{}"}
    assert said(completion(message(None, function_call=call))) == [("tools", "{}")]


def test_a_refusal_is_content() -> None:
    assert said(completion(message(None, refusal="I cannot"))) == [("content", "I cannot")]
    assert said(message([{"type": "refusal", "refusal": "I cannot"}])) == [("content", "I cannot")]


def test_content_may_be_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},  # Mistral's
        {"type": "text", "text": "a"},
        "b",
        {"text": "c"},
        {"type": "image_url", "image_url": {"url": "data:"}},
    ]
    assert said(completion(message(parts))) == [("reasoning", "hm"), ("content", "abc")]


def test_several_choices_are_replies_with_a_place() -> None:
    assert find(completion(message("a", reasoning="hm"), message("b"))) == [
        Found("hm", "reasoning", "choices.0"),
        Found("a", "content", "choices.0"),
        Found("b", "content", "choices.1"),
    ]


def test_a_text_completion_is_its_text() -> None:
    assert find({"object": "text_completion", "choices": [{"text": "a", "index": 0}]}) == [Found("a")]


def test_the_chunks_of_a_stream_are_no_replies() -> None:
    assert find({"choices": [{"index": 0, "delta": {"content": "a"}}]}) is None
    assert find({"model": "m", "message": message(), "done": False}) is None
    assert find({"model": "m", "response": "a", "done": False}) is None


# Responses.


def test_the_items_of_a_response_are_one_reply() -> None:
    items = (
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "h"}],
            "content": [{"type": "reasoning_text", "text": "m"}],
        },
        {"type": "message", **message([{"type": "output_text", "text": "a", "annotations": []}])},
        {"type": "function_call", "name": "f", "arguments": '{"a": 1}', "call_id": "call_1"},
        {"type": "custom_tool_call", "name": "g", "input": "print()"},
        {"type": "message", **message([{"type": "refusal", "refusal": "b"}])},
    )
    assert said(response(*items)) == [("reasoning", "hm"), ("content", "ab"), ("tools", '{"a": 1}print()')]


def test_a_response_without_text_is_known_all_the_same() -> None:
    assert find(response({"type": "web_search_call", "status": "completed"})) == []
    assert find(response({"type": "reasoning", "summary": [], "encrypted_content": "gAAAA"})) == []


# Anthropic's.


def test_a_message_of_anthropic_has_thinking_text_and_tool_input() -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "EqQB"},
        {"type": "redacted_thinking", "data": "EmwK"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"city": "Köln", "days": [1]}},
        {"type": "server_tool_use", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "content": [{"type": "web_search_result", "title": "no"}]},
        {"type": "mcp_tool_use", "input": {}},
    ]
    assert said({"type": "message", "stop_reason": "tool_use", **message(content)}) == [
        ("reasoning", "hm"),
        ("content", "a"),
        ("tools", '{"city":"Köln","days":[1]}{"query":"x"}{}'),
    ]


# Gemini's.


def test_a_response_of_gemini_has_thoughts_text_and_calls() -> None:
    parts = (
        {"text": "hm", "thought": True},
        {"text": "a"},
        {"functionCall": {"name": "f", "args": {"b": 1}}},
        {"text": "c", "thoughtSignature": "CiQ"},
        {"inlineData": {"data": "iVBO"}},
        {"functionCall": {"name": "g"}},
    )
    assert said(gemini(*parts)) == [("reasoning", "hm"), ("content", "ac"), ("tools", '{"b":1}')]


@pytest.mark.parametrize(
    "candidate",
    [
        {"finishReason": "SAFETY"},
        {"content": None},
        {"content": {"role": "model"}},
        {"content": {"parts": [7]}},
    ],
)
def test_a_candidate_without_parts_is_no_reply(candidate: dict[str, Any]) -> None:
    assert find({"candidates": [candidate]}) == []


def test_several_candidates_are_replies_with_a_place() -> None:
    two = {"candidates": [*gemini({"text": "a"})["candidates"], *gemini({"text": "b"})["candidates"]]}
    assert find(two) == [Found("a", "content", "candidates.0"), Found("b", "content", "candidates.1")]


# Ollama's.


def test_answers_of_ollama_are_read() -> None:
    calls = [{"function": {"name": "f", "arguments": {"a": 1}}}]
    chat = {"model": "m", "message": message("a", thinking="hm", tool_calls=calls), "done": True}
    assert said(chat) == [("reasoning", "hm"), ("content", "a"), ("tools", '{"a":1}')]
    generated = {"model": "m", "response": "a", "thinking": "hm", "done": True, "context": [1]}
    assert said(generated) == [("reasoning", "hm"), ("content", "a")]
    assert find({"model": "m", "response": "", "done": True}) == [Found("")]


# Batch files and logs: a reply in an envelope.


@pytest.mark.parametrize("path", ENVELOPES, ids="-".join)
@pytest.mark.parametrize(
    "reply",
    [completion(message()), response({"type": "message", **message()}), message(), gemini({"text": "a"})],
    ids=["chat", "Responses", "message", "Gemini"],
)
def test_a_reply_is_found_in_each_envelope(path: tuple[str, ...], reply: dict[str, Any]) -> None:
    record: Any = reply
    for key in reversed(path):
        record = {key: record}
    wrapped = record if record is reply else {"custom_id": "r1", "error": None, **record}
    assert find(wrapped) == [Found("a")]


def test_batch_results_without_a_reply_are_of_no_known_shape() -> None:
    for failed in (
        {
            "custom_id": "r1",
            "response": {"status_code": 400, "body": {"error": {"message": "no"}}},
            "error": None,
        },
        {"custom_id": "r1", "response": None, "error": {"code": "batch_expired"}},
        {"custom_id": "r1", "result": {"type": "errored", "error": {"type": "error"}}},
        {"key": "r1", "status": {"code": 3}},
    ):
        assert find(failed) is None


def test_the_reply_of_a_call_is_found_beside_its_request() -> None:
    asked = [{"role": "user", "content": "q"}]
    assert find({"messages": asked, "response": completion(message())}) == [Found("a")]
    assert find({"request": {"messages": asked}, "response": gemini({"text": "a"})}) == [Found("a")]


# Conversations.


def conversation() -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "q"}]},
        message("a", tool_calls=[{"function": {"name": "f", "arguments": "{}"}}]),
        {"role": "tool", "content": "r"},
        message("b"),
    ]


def test_of_a_conversation_only_what_the_assistant_said_is_a_reply() -> None:
    assert find({"messages": conversation()}) == [
        Found("a", "content", "messages.2"),
        Found("{}", "tools", "messages.2"),
        Found("b", "content", "messages.4"),
    ]
    assert find(conversation()) == find({"messages": conversation()})


def test_the_only_reply_of_a_conversation_has_no_place() -> None:
    assert find({"messages": conversation()[:4]}) == [Found("a"), Found("{}", "tools")]


def test_turns_of_gemini_are_a_conversation() -> None:
    turns = [
        {"parts": [{"text": "q"}]},
        {"role": "user", "parts": []},
        {"role": "model", "parts": [{"text": "a"}]},
    ]
    assert find({"contents": turns}) == [Found("a")]


def test_one_message_a_record_is_a_conversation_too() -> None:
    found = [find(one) for one in conversation()]
    assert found == [[], [], [Found("a"), Found("{}", "tools")], [], [Found("b")]]
    assert find({"type": "user", "message": {"role": "user", "content": "q"}, "uuid": "1"}) == []
    assert find({"role": "assistant", "content": None, "tool_calls": []}) == []
    assert find({"content": "a"}) == [Found("a")]


# What is of no known shape, and what is broken.


@pytest.mark.parametrize(
    "record",
    [
        None,
        7,
        "text",
        [],
        [7, "text"],
        {},
        {"a": 1},
        {"role": "admin", "name": "x"},
        {"output": "text"},
        {"output": [7, {"a": 1}]},
        {"choices": []},
        {"choices": [7, {"index": 0}]},
        {"messages": "text"},
        {"messages": [{"from": "gpt", "value": "a"}]},
        {"contents": [{"role": "model"}]},
        {"response": "text"},
        {"done": True, "response": 7},
    ],
)
def test_other_records_are_of_no_known_shape(record: Any) -> None:
    assert find(record) is None


@pytest.mark.parametrize(
    "calls",
    [
        5,
        [5],
        [{}],
        [{"function": None}],
        [{"function": "f"}],
        [{"function": {"arguments": 5}}],
        [{"custom": 5}],
    ],
)
def test_tool_calls_that_are_none_are_passed_over(calls: Any) -> None:
    assert find(completion(message("a", tool_calls=calls, function_call=7))) == [Found("a")]


KEYS = [
    *(
        "text",
        "content",
        "role",
        "choices",
        "candidates",
        "messages",
        "contents",
        "output",
        "response",
        "body",
    ),
    *("message", "result", "parts", "type", "thinking", "reasoning", "refusal", "tool_calls", "function"),
    *("function_call", "functionCall", "arguments", "args", "input", "custom", "summary", "thought", "done"),
]
VALUES = st.sampled_from(
    [None, True, False, 0, 1.5, "", "a", "assistant", "model", "user", "tool_use", "refusal"]
)
RECORDS = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=25,
)


@settings(deadline=None, max_examples=500)
@given(record=RECORDS)
def test_no_record_makes_it_stumble(record: Any) -> None:
    found = find(record)
    assert found is None or all(type(one.text) is str for one in found)
    for path in ("content", "choices.0.message.content", "messages.1", "output.9999"):
        at_path(record, path)


def test_arguments_that_are_nested_too_deep_are_passed_over() -> None:
    outcomes = set()
    for depth in range(sys.getrecursionlimit() - 300, sys.getrecursionlimit()):
        arguments = b'{"a":' * depth + b"1" + b"}" * depth
        try:
            call = msgspec.json.decode(b'{"type": "tool_use", "input": ' + arguments + b"}")
        except RecursionError:
            break
        outcomes.add(len(find(message([call])) or []))
    assert outcomes == {0, 1}


# The text at a path.


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.b", "deep"),
        ("list.0", "first"),
        ("list.1.text", "second"),
        ("list", "firstsecond"),
        ("parts", "yes"),
        ("empty", ""),
    ],
)
def test_a_path_leads_to_a_text(path: str, text: str) -> None:
    record = {
        "a": {"b": "deep"},
        "list": ["first", {"text": "second"}],
        "parts": [{"type": "image"}, {"type": "text", "text": "yes"}],
        "empty": "",
    }
    assert at_path(record, path) == [Found(text)]


@pytest.mark.parametrize(
    "path",
    [
        "",
        "b",
        "a.c",
        "a.b.c",
        "list.2",
        "list.-1",
        "list.x",
        "list." + "9" * 5_000,
        "number",
        "null",
        "a",
        "none",
    ],
)
def test_a_path_may_lead_nowhere(path: str) -> None:
    record = {"a": {"b": "deep"}, "list": [1, 2], "number": 7, "null": None, "none": [{"type": "image"}]}
    assert at_path(record, path) is None


def test_a_path_may_begin_in_a_list() -> None:
    assert at_path(["a", {"b": "c"}], "1.b") == [Found("c")]
    assert at_path("text", "a") is None


def test_what_is_found_is_what_json_says() -> None:
    text = '\u2028\x85 é 🌀 \\ "'
    assert find(json.loads(json.dumps(completion(message(text))))) == [Found(text)]
