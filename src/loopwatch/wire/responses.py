"""OpenAI's Responses: typed events, of which only the deltas carry new text."""

from typing import Any

import msgspec

from loopwatch.wire.decoding import decoded
from loopwatch.wire.documents import item_texts
from loopwatch.wire.draft import Draft
from loopwatch.wire.faults import fault
from loopwatch.wire.pieces import Channel, Piece, pieces_of
from loopwatch.wire.usage import of_responses

DELTAS: dict[str, Channel] = {
    "response.output_text.delta": "content",
    "response.refusal.delta": "content",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.function_call_arguments.delta": "tools",
    "response.custom_tool_call_input.delta": "tools",
    "response.mcp_call_arguments.delta": "tools",
    "response.code_interpreter_call_code.delta": "tools",
}
FREE_FORM = "custom_tool_call"
CALLS = ("function_call", FREE_FORM)
"""Items that want a tool called; the provider calls the others itself."""

ARGUMENTS = {
    "response.function_call_arguments.delta": "function_call",
    "response.custom_tool_call_input.delta": FREE_FORM,
}
LAST = ("response.completed", "response.incomplete")


class Event(msgspec.Struct):
    """One event; ``response`` and ``item`` are decoded where they are read."""

    type: str = ""
    delta: Any = None
    output_index: int | None = None
    item: msgspec.Raw = msgspec.Raw()
    response: msgspec.Raw = msgspec.Raw()
    error: Any = None

    @property
    def pieces(self) -> list[Piece]:
        """The pieces that it adds."""
        channel = DELTAS.get(self.type)
        if channel is None:
            return []
        if not isinstance(self.delta, str):
            raise msgspec.ValidationError("Expected `str` - at `$.delta`")
        return pieces_of([(self.delta, channel)])


class Call(msgspec.Struct):
    """An item of an output that is a tool call; ``input`` where the tool takes any text."""

    type: str = ""
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None


class Details(msgspec.Struct):
    """Why a response is incomplete."""

    reason: str | None = None


class Response(msgspec.Struct):
    """A response as far as it has come: whole in the last event, and where nothing was streamed."""

    id: str | None = None
    object: Any = None
    model: str | None = None
    status: str | None = None
    incomplete_details: Details | None = None
    output: list[dict[str, Any]] | None = None
    usage: Any = None
    error: Any = None


_events = msgspec.json.Decoder(Event)
_items = msgspec.json.Decoder(dict[str, Any] | None)
_responses = msgspec.json.Decoder(Response)


def event_pieces(data: bytes) -> list[Piece]:
    """The pieces of an event. Raises msgspec.DecodeError where it is none."""
    return decoded(_events, data).pieces


class ResponsesDraft(Draft):
    """A response."""

    __slots__ = ("_heard",)
    source = "OpenAI's Responses"
    count = of_responses

    def __init__(self) -> None:
        """Start before the first event."""
        super().__init__()
        self._heard: set[int] = set()  # output items of which anything has come

    def _read(self, data: bytes) -> list[Piece]:
        event = decoded(_events, data)
        pieces = event.pieces
        index = event.output_index or 0
        if pieces:
            self._known = True
            self._heard.add(index)
            kind = ARGUMENTS.get(event.type)
            if kind is not None:
                self._call(index, arguments=event.delta, free_form=kind == FREE_FORM)
            return pieces
        if event.error or not event.type.startswith("response.") or event.type == "response.failed":
            self._doubt(data)
            return []
        self._known = True
        if event.item:
            is_last = event.type == "response.output_item.done"
            return self._add(index, decoded(_items, bytes(event.item)) or {}, is_last=is_last)
        return self._hear(decoded(_responses, bytes(event.response)), event.type) if event.response else []

    def _read_whole(self, data: bytes) -> list[Piece]:
        response = decoded(_responses, data)
        if response.error or response.status == "failed":
            raise fault(response.error or "the response failed")
        if response.output is None:
            self._doubt(data, known=response.object == "response")
        return self._hear(response, LAST[0])

    def _hear(self, response: Response, kind: str) -> list[Piece]:
        """What a response says; the last one, all of it, where nothing of it was streamed."""
        self._introduce(response.id, response.model)
        self._bill(response.usage)
        if kind not in LAST:
            return []
        self.done = True
        reason = response.incomplete_details.reason if response.incomplete_details else None
        self._end(reason or response.status)
        items = () if self._heard else response.output or ()
        return [piece for index, item in enumerate(items) for piece in self._add(index, item, is_last=True)]

    def _add(self, index: int, item: dict[str, Any], *, is_last: bool) -> list[Piece]:
        """What an item says of which only the beginning has come, or all: what was not streamed."""
        is_news = is_last and index not in self._heard
        if is_last:
            self._heard.add(index)
        if item.get("type") in CALLS:
            call = msgspec.convert(item, Call)
            arguments = (call.arguments or call.input) if is_news else None
            is_free = call.type == FREE_FORM
            self._call(
                index, id=call.call_id or call.id, name=call.name, arguments=arguments, free_form=is_free
            )
        texts = [(text, channel) for text, channel in item_texts(item) if isinstance(text, str)]
        return pieces_of(texts) if is_news else []
