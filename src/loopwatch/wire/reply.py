"""A reply when it is complete, whoever sent it and however it came."""

from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from loopwatch.errors import UnreadableReply
from loopwatch.wire.decoding import anything
from loopwatch.wire.usage import Usage

SHOWN = 80
"""Characters of a tool's name in a message: a model that loops may loop there."""

FinishReason = Literal["stop", "tool_calls", "length", "content_filter"]

FINISH_REASONS: dict[str, FinishReason] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "completed"), "stop"),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use"), "tool_calls"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("content_filter", "refusal", "safety", "image_safety"), "content_filter"),
    **dict.fromkeys(("blocklist", "prohibited_content", "recitation", "spii"), "content_filter"),
}
"""What the providers call the four common ends, in lower case; any other is passed on as it came."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called; ``arguments`` is the JSON text as the model wrote it.

    In a ``free_form`` call, of a tool that takes any text, it is that text.
    """

    name: str
    arguments: str = field(default="", repr=False)
    id: str = ""
    free_form: bool = False

    def parsed(self, number: int) -> Any:
        """The arguments' value; none written is an empty object.

        Raises UnreadableReply, which tells the call's ``number`` and name, where they are no JSON.
        """
        if self.free_form:
            return self.arguments
        if not self.arguments.strip():
            return {}
        try:
            return anything(self.arguments.encode())
        except (msgspec.DecodeError, UnicodeEncodeError):
            said = f"the arguments of tool call {number} ({self.name[:SHOWN]!r}) are no JSON"
            raise UnreadableReply(said) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered. Texts stay out of ``repr``.

    ``finish_reason`` is one of ``stop``, ``tool_calls``, ``length`` and ``content_filter``, or the
    provider's own word where it means none of them; None where none came. ``generation_id`` is what the
    provider calls this reply, ``provider`` who served it where a gateway says so. ``terminated`` says
    whether the provider said that it was done.
    """

    text: str = field(default="", repr=False)
    reasoning: str = field(default="", repr=False)
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    generation_id: str | None = None
    model: str | None = None
    provider: str | None = None
    terminated: bool = True

    @property
    def says_nothing(self) -> bool:
        """Whether there is neither an answer nor a tool call in it."""
        return not self.text and not self.tool_calls


def finish_reason_of(reported: str | None, *, calls_tools: bool) -> str | None:
    """The common word for what a provider reported; tools that were called outweigh a plain stop."""
    common: str | None = FINISH_REASONS.get(reported.lower(), reported) if reported else None
    return "tool_calls" if calls_tools and common in (None, "stop") else common
