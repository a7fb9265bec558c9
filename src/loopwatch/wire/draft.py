"""A reply while it comes: what the providers' streams have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from loopwatch.errors import UnreadableReply, one_line
from loopwatch.wire.decoding import anything
from loopwatch.wire.faults import fault_of
from loopwatch.wire.pieces import Channel, Piece
from loopwatch.wire.reply import Reply, ToolCall, finish_reason_of
from loopwatch.wire.sse import SENTINEL
from loopwatch.wire.usage import Usage

MANY_CALLS = 1_024
"""Tool calls of one reply; with more, it is no reply."""

NAME = 200
"""Characters of a name, of a model or a reply say, that are read."""

EMPTY = "the reply is empty: no text came, no tool call and no finish reason"
UNKNOWN = "the reply is of an unknown shape: nothing in it is of {}"
CROWDED = f"the reply has more than {MANY_CALLS:,} tool calls"


class CallDraft:
    """A tool call while its fragments come."""

    __slots__ = ("arguments", "free_form", "id", "name")

    def __init__(self) -> None:
        """Start before the first fragment."""
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self.free_form = False

    def finish(self) -> ToolCall:
        """The call, as far as it came."""
        return ToolCall(self.name, "".join(self.arguments), self.id, self.free_form)


class Draft(ABC):
    """What the events of one reply are put together in; a subclass reads a provider's.

    A subclass has the provider's name in ``source`` and the normaliser of its usage in ``count``. In
    ``_read`` it returns an event's pieces and notes what else the event says. What it cannot read is a
    msgspec.DecodeError there, and becomes an UnreadableReply here.
    """

    source: ClassVar[str]
    count: ClassVar[Callable[[dict[str, Any]], Usage]]

    __slots__ = (
        *("_calls", "_content", "_figures", "_finish_reason", "_known", "_number", "_reasoning", "_strange"),
        *("_tools", "done", "generation_id", "model", "progress", "provider"),
    )

    def __init__(self) -> None:
        """Start before the first event."""
        self.progress = 0
        self.done = False
        self.generation_id: str | None = None
        self.provider: str | None = None
        self.model: str | None = None
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._tools: list[str] = []
        self._calls: dict[int, CallDraft] = {}
        self._finish_reason: str | None = None
        self._figures: dict[str, Any] | None = None
        self._number = 0  # of the event
        self._known = False  # whether any event was the provider's
        self._strange = False  # whether any was not

    def push(self, data: bytes) -> list[Piece]:
        """Take one event's data; return the pieces of the reply in it. After ``done``, nothing is read.

        Raises UnreadableReply where it is no event of the provider's, ProviderFault where it is an error.
        """
        if self.done:
            return []
        self._number += 1
        try:
            pieces = self._read(data)
        except msgspec.DecodeError as error:
            if self._is_void(data):
                return []
            raise _refusal(data, f"event {self._number} of the reply cannot be read: {error}") from None
        if pieces:
            self._keep(pieces)
        return pieces

    def whole(self, data: bytes) -> Reply:
        """The reply in a document that was not streamed. Raises as ``push`` and ``finish``."""
        self.push_whole(data)
        return self.finish()

    def push_whole(self, data: bytes) -> None:
        """Take a document that was not streamed, whatever it says. Raises as ``push``."""
        try:
            self._keep(self._read_whole(data))
        except msgspec.DecodeError as error:
            raise _refusal(data, f"the reply cannot be read: {error}") from None
        self.done = True

    def text(self, channel: Channel) -> str:
        """What has come so far on a channel."""
        return "".join(self._channel(channel))

    @property
    def usage(self) -> Usage | None:
        """What has been reported so far."""
        return None if self._figures is None else type(self).count(self._figures)

    @property
    def finish_reason(self) -> str | None:
        """Why the reply ends, in the provider's word, once it has said so."""
        return self._finish_reason

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls as far as they have come."""
        return tuple(self._calls[key].finish() for key in sorted(self._calls))

    def finish(self) -> Reply:
        """The reply, at the end of its stream.

        Raises UnreadableReply where neither an answer, a tool call nor a finish reason came, or where the
        arguments of a tool call are no JSON (but not where the reply was cut for its length).
        """
        calls = self.tool_calls
        if finish_reason_of(self._finish_reason, calls_tools=False) != "length":
            for number, call in enumerate(calls, 1):
                call.parsed(number)
        reply = Reply(
            text=self.text("content"),
            reasoning=self.text("reasoning"),
            tool_calls=calls,
            finish_reason=finish_reason_of(self._finish_reason, calls_tools=bool(calls)),
            usage=self.usage,
            generation_id=self.generation_id,
            model=self.model,
            provider=self.provider,
            terminated=self.done or self._finish_reason is not None,
        )
        if reply.says_nothing and self._finish_reason is None:
            unknown = self._strange and not self._known
            raise UnreadableReply(UNKNOWN.format(self.source) if unknown else EMPTY)
        return reply

    @abstractmethod
    def _read(self, data: bytes) -> list[Piece]:
        """The pieces of one event."""

    @abstractmethod
    def _read_whole(self, data: bytes) -> list[Piece]:
        """The pieces of a document that was not streamed."""

    # What subclasses note.

    def _introduce(self, generation_id: str | None, model: str | None, provider: Any = None) -> None:
        """Who speaks; the first word of each holds."""
        self.generation_id = self.generation_id or _name(generation_id)
        self.model = self.model or _name(model)
        self.provider = self.provider or _name(provider)

    def _end(self, reason: str | None) -> None:
        """Why the reply ends; the first reason holds."""
        self._finish_reason = self._finish_reason or reason or None

    def _bill(self, figures: Any) -> None:
        """What it is billed for; the last word holds."""
        if isinstance(figures, dict):
            self._figures = figures

    def _call(
        self,
        key: int,
        *,
        id: str | None = None,  # noqa: A002  what every provider calls it
        name: str | None = None,
        arguments: str | None = None,
        free_form: bool = False,
    ) -> None:
        """A fragment of the tool call under ``key``; one that carries nothing is no call yet."""
        if not (id or name or arguments):
            return
        call = self._calls.get(key)
        if call is None:
            if len(self._calls) == MANY_CALLS:
                raise UnreadableReply(CROWDED)
            call = self._calls[key] = CallDraft()
        if id or name:
            self.progress += 1
            call.id = id or call.id
            call.name = name or call.name
        call.free_form = call.free_form or free_form
        if arguments:
            call.arguments.append(arguments)

    def _doubt(self, data: bytes, *, known: bool = False) -> None:
        """Look again at an event that says nothing: it may be an error, or somebody else's."""
        fault = fault_of(anything(data))
        if fault is not None:
            raise fault
        self._known = self._known or known
        self._strange = self._strange or not known

    def _keep(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            self._channel(piece.channel).append(piece.text)
        self.progress += bool(pieces)

    def _channel(self, channel: Channel) -> list[str]:
        if channel == "content":
            return self._content
        return self._reasoning if channel == "reasoning" else self._tools

    def _is_void(self, data: bytes) -> bool:
        """Whether it need be no JSON: OpenAI's last event, which gateways send to anybody, or a comment."""
        data = data.strip()
        self.done = data.startswith(SENTINEL)
        return self.done or not data or data.startswith(b":")


def _refusal(data: bytes, reason: str) -> UnreadableReply:
    """What to raise for data that is no event: what the provider says is wrong, or else ``reason``."""
    try:
        fault = fault_of(anything(data))
    except msgspec.DecodeError:
        fault = None
    return fault or UnreadableReply(reason)


def _name(value: Any) -> str | None:
    """A name from outside, which may end up in a message; None where there is none."""
    return (one_line(value[:NAME]) or None) if isinstance(value, str) else None
