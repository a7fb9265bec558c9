"""The steps of an agent, as far as a tracker can see them: tools that replies call, results that come back.

A step is complete when the next request carries a tool's result. Requests repeat the whole conversation;
a call's result is taken once, by the call's id. A call whose result never came, and which the model makes
again, is a step without a result.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from loopwatch.steps.step import Step
from loopwatch.wire.assembly import Format
from loopwatch.wire.reply import ToolCall

PENDING = 1_024
"""Calls whose results are awaited; beyond it the oldest is forgotten."""
RESULT_CHARS = 100_000
"""Characters of a result that a monitor is shown."""


class Monitor(Protocol):
    """What reads steps: a ``loopwatch.steps`` StepMonitor, or anything that answers alike."""

    def observe(self, step: Step, /) -> object | None:
        """Read the next step; the verdict once the run is a loop, else None."""


class Transcript:
    """The calls of one run whose results have not come yet."""

    def __init__(self, role: str) -> None:
        self._role = role
        self._pending: dict[str, ToolCall] = {}
        self._unanswered: list[ToolCall] = []

    def called(self, calls: tuple[ToolCall, ...], *, in_turn: bool = True) -> None:
        """A reply wants these tools called. ``in_turn``: no other reply of this run is under way.

        Only then is a call that is made again known to have had no answer: side by side two agents may
        make the same one.
        """
        if in_turn:
            self._give_up({(call.name, call.arguments) for call in calls})
        for call in calls:
            self._pending[call.id or call.name] = call
        while len(self._pending) > PENDING:
            del self._pending[next(iter(self._pending))]

    def _give_up(self, again: set[tuple[str, str]]) -> None:
        for key, call in list(self._pending.items()):
            if (call.name, call.arguments) in again:
                self._unanswered.append(self._pending.pop(key))

    def steps(self, spoken: Format, body: Mapping[str, Any], t: float) -> Iterator[Step]:
        """The steps that a request completes."""
        for unanswered in self._unanswered:
            yield self.step(unanswered.name, arguments_of(unanswered.arguments), "", None, t)
        self._unanswered.clear()
        for key, result, is_error in _results(spoken, body):
            call = self._pending.pop(key, None)
            if call is None:
                continue
            yield self.step(call.name, arguments_of(call.arguments), result, result if is_error else None, t)

    def step(self, tool: str, args: Mapping[str, Any], result: str, error: str | None, t: float) -> Step:
        """One use of a tool, as a monitor reads it; ``t`` is in seconds."""
        cut = None if error is None else error[:RESULT_CHARS]
        return Step(role=self._role, tool=tool, args=args, result=result[:RESULT_CHARS], error=cut, t=t)


def arguments_of(text: str) -> Mapping[str, Any]:
    """The arguments that a model wrote; what is no JSON object is one argument."""
    value: Any = text
    with suppress(msgspec.DecodeError, UnicodeEncodeError):
        value = msgspec.json.decode(text or "{}")
    return value if isinstance(value, dict) else {"input": value}


def _results(spoken: Format, body: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Whose results a request carries, what they are, and whether they are errors."""
    if spoken == "gemini":
        yield from _gemini_results(body)
        return
    items = body.get("input") if spoken == "responses" else body.get("messages")
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, Mapping):
            continue
        if spoken == "anthropic":
            content = item.get("content")
            for block in content if isinstance(content, list) else ():
                if isinstance(block, Mapping) and block.get("type") == "tool_result":
                    yield (
                        str(block.get("tool_use_id")),
                        _text(block.get("content")),
                        bool(block.get("is_error")),
                    )
        elif item.get("role") == "tool":
            yield str(item.get("tool_call_id")), _text(item.get("content")), False
        elif str(item.get("type")).endswith("_call_output"):
            yield str(item.get("call_id")), _text(item.get("output")), False


def _gemini_results(body: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    for content in body.get("contents") or ():
        for part in (content.get("parts") if isinstance(content, Mapping) else None) or ():
            answer = part.get("functionResponse") if isinstance(part, Mapping) else None
            if isinstance(answer, Mapping):
                response = answer.get("response")
                is_error = isinstance(response, Mapping) and "error" in response
                yield str(answer.get("id") or answer.get("name")), _text(response), is_error


def _text(value: Any) -> str:
    """A result as text: as it is, the texts of its parts, or as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(str(part.get("text", "")) for part in value if isinstance(part, Mapping))
    return msgspec.json.encode(value, enc_hook=str).decode()
