"""OpenAI's Responses: to end a stream, every part of it that is open must be closed, innermost first."""

from http import HTTPStatus
from typing import Any

import msgspec

from loopwatch.proxy.dialects.dialect import (
    SHAPELESS,
    Asked,
    Assembler,
    Dialect,
    Framing,
    Tail,
    comment,
    json_event,
)
from loopwatch.proxy.dialects.errors import LOOP, error_document
from loopwatch.wire.usage import Usage

LAST = ("response.completed", "response.incomplete")
FAILED = "response.failed"
PLACE = ("item_id", "output_index", "content_index", "summary_index")


class _Delta(msgspec.Struct):
    """What is read of every event."""

    type: str = ""
    delta: Any = None
    sequence_number: int = 0


_deltas = msgspec.json.Decoder(_Delta)


class Course:
    """Where a stream stands: the response as it began, items that are done, the one that is open."""

    def __init__(self) -> None:
        """Start before the first event."""
        self.response: dict[str, Any] = {}
        self.done: list[dict[str, Any]] = []
        self.item: dict[str, Any] | None = None
        self.parts: list[dict[str, Any]] = []
        self.part: dict[str, Any] | None = None  # the event that opened it
        self.texts: list[str] = []
        self.number = 0

    def hear(self, data: bytes) -> None:
        """Take note of an event's data."""
        try:
            event = _deltas.decode(data)
            self.number = max(self.number, event.sequence_number)
            if not event.type.endswith(".delta"):
                self._turn(event.type, msgspec.json.decode(data))
            elif isinstance(event.delta, str):
                self.texts.append(event.delta)
        except SHAPELESS:
            return  # the client gets it all the same; whoever ends the stream knows less

    def _turn(self, kind: str, event: dict[str, Any]) -> None:
        if isinstance(event.get("response"), dict):
            self.response = event["response"]
        if kind == "response.output_item.added":
            self.item, self.parts, self.texts = event.get("item") or {}, [], []
        elif kind == "response.output_item.done":
            self.done.append(event.get("item") or {})
            self.item = None
        elif kind.endswith("_part.added"):
            self.part, self.texts = event, []
        elif kind.endswith("_part.done"):
            self.parts.append(event.get("part") or {})
            self.part = None

    @property
    def item_done(self) -> dict[str, Any] | None:
        """The open item, closed as it stands; None where none is open."""
        if self.item is None:
            return None
        parts = [*self.parts, *([self.part_done] if self.part_done else [])]
        name = "summary" if self.item.get("type") == "reasoning" else "content"
        finished = {"status": "completed"} if "status" in self.item else {}
        return {**self.item, name: parts, **finished}

    @property
    def part_done(self) -> dict[str, Any] | None:
        """The open part with the text that has come; None where none is open."""
        if self.part is None:
            return None
        part = dict(self.part.get("part") or {})
        part["refusal" if part.get("type") == "refusal" else "text"] = "".join(self.texts)
        return part

    def completed(self, usage: Usage) -> dict[str, Any]:
        """The response, ended as it stands."""
        item = self.item_done
        return {
            **self.response,
            "status": "completed",
            "output": [*self.done, *([item] if item else [])],
            "usage": _usage(usage),
        }


def _usage(usage: Usage) -> dict[str, Any]:
    asked, answered = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "input_tokens": asked,
        "input_tokens_details": {"cached_tokens": usage.cache_read_input_tokens or 0},
        "output_tokens": answered,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_output_tokens or 0},
        "total_tokens": asked + answered,
    }


class EventTail(Tail):
    """A response's events, counted."""

    __slots__ = ("_course",)

    def __init__(self) -> None:
        """Start before the first event."""
        super().__init__()
        self._course = Course()

    def hear(self, data: bytes) -> None:
        """Take note of an event."""
        self.last = data
        self._course.hear(data)

    def closing(self, usage: Usage, remark: str) -> bytes:
        """The text, its part, its item and the response are done."""
        course, latest = self._course, self.latest
        closing = comment(remark)
        place = {name: latest[name] for name in PLACE if name in latest}
        kind = str(latest.get("type"))
        part = course.part_done
        if kind.endswith(".delta") and part is not None:
            name = "refusal" if part.get("type") == "refusal" else "text"
            logprobs: dict[str, Any] = {"logprobs": []} if kind == "response.output_text.delta" else {}
            closing += self._event(
                kind.removesuffix("delta") + "done", {**place, name: part[name], **logprobs}
            )
        if course.part is not None and part is not None:
            done = str(course.part.get("type")).removesuffix("added") + "done"
            closing += self._event(done, {**place, "part": part})
        if course.item is not None:
            index = {"output_index": latest.get("output_index", 0)}
            closing += self._event("response.output_item.done", {**index, "item": course.item_done})
        return closing + self._event(LAST[0], {"response": course.completed(usage)})

    def failing(self, message: str) -> bytes:
        """The response has failed."""
        error = {"code": "server_error", "message": message}
        response = {**self._course.response, "status": "failed", "error": error}
        return self._event(FAILED, {"response": response})

    def _event(self, kind: str, fields: dict[str, Any]) -> bytes:
        self._course.number += 1
        return json_event({"type": kind, **fields, "sequence_number": self._course.number}, kind)


class EventAssembler(Assembler):
    """A response's events -> the response, which the last one has whole."""

    def __init__(self) -> None:
        """Start before the first event."""
        super().__init__()
        self._course = Course()
        self._response: dict[str, Any] | None = None

    def hear(self, data: bytes) -> None:
        """Take note of an event."""
        self._course.hear(data)
        super().hear(data)

    def take(self, event: dict[str, Any]) -> None:
        """The last event decides."""
        kind = event.get("type")
        if kind in (*LAST, FAILED):
            self._response = event.get("response")
        elif kind == "error" or (event.get("error") and kind is None):
            error = event.get("error")
            said = str((error if isinstance(error, dict) else event).get("message"))
            self.error = error_document("openai", HTTPStatus.BAD_GATEWAY, said, LOOP)

    def document(self, cut: Usage | None = None) -> dict[str, Any] | None:
        """The response; None where its last event did not come."""
        return self._response if cut is None else self._course.completed(cut)


class Responses(Dialect):
    """``/responses``."""

    vendor = "openai"
    format = "responses"

    def is_single(self, asked: Asked) -> bool:
        """Unless it is answered in the background, and fetched later."""
        return asked.fields.get("background") is not True

    def tail(self, asked: Asked, framing: Framing) -> Tail:
        """For any response."""
        del asked, framing
        return EventTail()

    def assembler(self) -> Assembler:
        """For any response."""
        return EventAssembler()
