"""Anthropic's Messages."""

from http import HTTPStatus
from typing import Any

import msgspec

from loopwatch.proxy.dialects.dialect import (
    Asked,
    Assembler,
    Dialect,
    Framing,
    Tail,
    comment,
    json_event,
)
from loopwatch.proxy.dialects.errors import LOOP, error_document
from loopwatch.wire.decoding import anything
from loopwatch.wire.usage import Usage

STOP = "end_turn"
OPENING = ("content_block_start", "content_block_delta")
"""Events after which a content block is open."""
JOINED = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""Deltas that are more of a block's text, and under which name the block has it."""


class MessageTail(Tail):
    """A message's events; a ping among them says nothing."""

    __slots__ = ()

    def hear(self, data: bytes) -> None:
        """Take note of all but pings."""
        if b'"ping"' not in data:
            self.last = data

    def closing(self, usage: Usage, remark: str) -> bytes:
        """The open block closed, then the message's last two events."""
        latest = self.latest
        closing = comment(remark)
        if latest.get("type") in OPENING:
            stop = {"type": "content_block_stop", "index": latest.get("index", 0)}
            closing += json_event(stop, "content_block_stop")
        end = {"stop_reason": STOP, "stop_sequence": None}
        figures = {"output_tokens": usage.output_tokens or 0}
        closing += json_event({"type": "message_delta", "delta": end, "usage": figures}, "message_delta")
        return closing + json_event({"type": "message_stop"}, "message_stop")

    def failing(self, message: str) -> bytes:
        """An error event, and nothing after it."""
        return json_event(error_document("anthropic", HTTPStatus.BAD_GATEWAY, message, LOOP), "error")


class MessageAssembler(Assembler):
    """A message's events -> the message."""

    def __init__(self) -> None:
        """Start before the first event."""
        super().__init__()
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, str] = {}
        self._stopped = False

    def take(self, event: dict[str, Any]) -> None:
        """Merge an event in; those of unknown types say nothing that a document has."""
        kind, index = event.get("type"), event.get("index", 0)
        if kind == "error":
            self.error = event
        elif kind == "message_start":
            self._message = dict(event.get("message") or {})
        elif kind == "content_block_start":
            self._blocks[index] = dict(event.get("content_block") or {})
        elif kind == "content_block_delta" and index in self._blocks:
            self._extend(index, event.get("delta") or {})
        elif kind == "message_delta":
            rest = {name: value for name, value in event.items() if name not in ("type", "delta", "usage")}
            self._message |= {**(event.get("delta") or {}), **rest}
            said = {key: value for key, value in (event.get("usage") or {}).items() if value is not None}
            self._message["usage"] = {**(self._message.get("usage") or {}), **said}
        elif kind == "message_stop":
            self._stopped = True

    def document(self, cut: Usage | None = None) -> dict[str, Any] | None:
        """The message; None where its end did not come."""
        if cut is None and not (self._stopped or self._message.get("stop_reason")):
            return None
        blocks = [self._whole(index) for index in sorted(self._blocks)]
        message = {**self._message, "content": blocks}
        if cut is not None:
            figures = {**(message.get("usage") or {}), "output_tokens": cut.output_tokens or 0}
            message |= {"stop_reason": STOP, "stop_sequence": None, "usage": figures}
        return message

    def _extend(self, index: int, delta: dict[str, Any]) -> None:
        block, kind = self._blocks[index], str(delta.get("type"))
        name = JOINED.get(kind)
        if name is not None:
            block[name] = (block.get(name) or "") + (delta.get(name) or "")
        elif kind == "input_json_delta":
            self._inputs[index] = self._inputs.get(index, "") + (delta.get("partial_json") or "")
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta.get("citation")]

    def _whole(self, index: int) -> dict[str, Any]:
        written = self._inputs.get(index, "")
        if not written.strip():
            return self._blocks[index]
        try:
            value = anything(written.encode("utf-8", "surrogatepass"))
        except msgspec.DecodeError:
            value = {}
        return {**self._blocks[index], "input": value}


class Anthropic(Dialect):
    """``/messages``."""

    vendor = "anthropic"
    format = "anthropic"

    def is_single(self, asked: Asked) -> bool:
        """Always."""
        del asked
        return True

    def tail(self, asked: Asked, framing: Framing) -> Tail:
        """For any message."""
        del asked, framing
        return MessageTail()

    def assembler(self) -> Assembler:
        """For any message."""
        return MessageAssembler()
