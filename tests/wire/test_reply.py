import pytest

from loopwatch.errors import UnreadableReply
from loopwatch.wire.reply import SHOWN, Reply, ToolCall, finish_reason_of


@pytest.mark.parametrize(
    ("arguments", "value"), [("", {}), (" \n", {}), ("{}", {}), ('{"a": [1]}', {"a": [1]}), ("7", 7)]
)
def test_arguments_are_parsed_and_none_are_an_empty_object(arguments: str, value: object) -> None:
    assert ToolCall("f", arguments).parsed(1) == value


@pytest.mark.parametrize("arguments", ['{"a":', "x", "{} {}", '{"a": "\ud800"}', "[" * 100_000])
def test_arguments_that_are_no_json_name_the_call_but_not_what_was_written(arguments: str) -> None:
    with pytest.raises(UnreadableReply) as caught:
        ToolCall("write", arguments).parsed(3)
    assert str(caught.value) == "the arguments of tool call 3 ('write') are no JSON"


def test_a_name_without_end_is_cut() -> None:
    with pytest.raises(UnreadableReply) as caught:
        ToolCall("x\n" * 10_000, "{").parsed(1)
    assert len(str(caught.value)) < 3 * SHOWN
    assert "\n" not in str(caught.value)


def test_a_tool_that_takes_any_text_gets_it() -> None:
    assert ToolCall("patch", "*** Begin", free_form=True).parsed(1) == "*** Begin"


def test_no_text_is_in_a_repr() -> None:
    shown = repr(Reply(text="secret", reasoning="secret", tool_calls=(ToolCall("f", "secret", "c"),)))
    assert "secret" not in shown
    assert "'f'" in shown


def test_thinking_alone_says_nothing() -> None:
    assert Reply(reasoning="hm").says_nothing
    assert not Reply(text="a").says_nothing
    assert not Reply(tool_calls=(ToolCall("f"),)).says_nothing


@pytest.mark.parametrize(
    ("reported", "calls_tools", "reason"),
    [
        (None, False, None),
        ("", False, None),
        (None, True, "tool_calls"),
        ("stop", True, "tool_calls"),
        ("completed", True, "tool_calls"),
        ("length", True, "length"),
        ("STOP", False, "stop"),
        ("MAX_TOKENS", False, "length"),
        ("max_output_tokens", False, "length"),
        ("model_context_window_exceeded", False, "length"),
        ("PROHIBITED_CONTENT", False, "content_filter"),
        ("refusal", False, "content_filter"),
        ("pause_turn", False, "pause_turn"),
        ("MALFORMED_FUNCTION_CALL", False, "MALFORMED_FUNCTION_CALL"),
    ],
)
def test_finish_reasons_have_common_words(
    reported: str | None, *, calls_tools: bool, reason: str | None
) -> None:
    assert finish_reason_of(reported, calls_tools=calls_tools) == reason
