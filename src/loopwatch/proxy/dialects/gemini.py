"""Gemini's ``generateContent``: a stream is events with ``alt=sse``, else the elements of one array."""

from http import HTTPStatus
from typing import Any

import msgspec

from loopwatch.proxy.dialects.dialect import (
    Asked,
    Assembler,
    Dialect,
    Framing,
    Onward,
    Tail,
    json_event,
)
from loopwatch.proxy.dialects.errors import error_document
from loopwatch.wire.usage import Usage

STOP = "STOP"
ONCE, STREAM = ":generateContent", ":streamGenerateContent"
SSE = "alt=sse"
PER_CHUNK = ("candidates", "usageMetadata")


def _usage(usage: Usage, known: Any) -> dict[str, Any]:
    asked, answered = usage.input_tokens or 0, usage.output_tokens or 0
    counts = {"promptTokenCount": asked, "candidatesTokenCount": answered}
    return {**(known if isinstance(known, dict) else {}), **counts, "totalTokenCount": asked + answered}


class ContentTail(Tail):
    """A stream of responses. Google's own client knows no comments, so none is sent."""

    __slots__ = ("_framing",)

    def __init__(self, framing: Framing) -> None:
        """Start before the first response."""
        super().__init__()
        self._framing = framing

    def closing(self, usage: Usage, remark: str) -> bytes:
        """A last response, with a finish reason."""
        del remark
        latest = self.latest
        candidate = {
            "content": {"parts": [{"text": ""}], "role": "model"},
            "finishReason": STOP,
            "index": 0,
        }
        head = {name: value for name, value in latest.items() if name not in PER_CHUNK}
        figures = _usage(usage, latest.get("usageMetadata"))
        return self._framed({"candidates": [candidate], "usageMetadata": figures, **head})

    def failing(self, message: str) -> bytes:
        """An error in the place of a response."""
        return self._framed(error_document("gemini", HTTPStatus.BAD_GATEWAY, message))

    def _framed(self, document: dict[str, Any]) -> bytes:
        if self._framing == "array":
            return b",\r\n" + msgspec.json.encode(document) + b"\n]"
        return json_event(document)


class ContentAssembler(Assembler):
    """Responses -> one response."""

    def __init__(self) -> None:
        """Start before the first response."""
        super().__init__()
        self._top: dict[str, Any] = {}
        self._candidate: dict[str, Any] = {}
        self._parts: list[dict[str, Any]] = []
        self._role = "model"

    def take(self, event: dict[str, Any]) -> None:
        """Merge a response in: the last word of each figure holds, texts are joined."""
        if event.get("error"):
            self.error = event
            return
        self._top |= {name: value for name, value in event.items() if name != "candidates"}
        for candidate in event.get("candidates") or ():
            if not candidate.get("index"):
                content = candidate.get("content") or {}
                self._role = content.get("role") or self._role
                for part in content.get("parts") or ():
                    self._add(part)
                self._candidate |= {name: value for name, value in candidate.items() if name != "content"}

    def document(self, cut: Usage | None = None) -> dict[str, Any] | None:
        """The response; None where neither a finish reason came nor why the prompt was refused."""
        candidate, top = self._candidate, self._top
        if cut is not None:
            candidate = {**candidate, "finishReason": STOP}
            top = {**top, "usageMetadata": _usage(cut, top.get("usageMetadata"))}
        if not candidate.get("finishReason"):
            return top if top.get("promptFeedback") else None
        content = {"parts": self._parts, "role": self._role}
        return {"candidates": [{"content": content, **candidate}], **top}

    def _add(self, part: dict[str, Any]) -> None:
        """A part of its own, or more of the text before it."""
        last = self._parts[-1] if self._parts else None
        if last is not None and _is_text(part) and _is_text(last) and _same_kind(part, last):
            self._parts[-1] = {**last, **part, "text": last["text"] + part["text"]}
        elif part != {"text": ""}:
            self._parts.append(part)


def _is_text(part: dict[str, Any]) -> bool:
    return isinstance(part.get("text"), str) and part.keys() <= {"text", "thought", "thoughtSignature"}


def _same_kind(part: dict[str, Any], other: dict[str, Any]) -> bool:
    return part.get("thought") == other.get("thought")


class Gemini(Dialect):
    """``:generateContent`` and ``:streamGenerateContent``."""

    vendor = "gemini"
    format = "gemini"

    def streams(self, asked: Asked) -> bool:
        """By the path."""
        return asked.path.endswith(STREAM)

    def is_single(self, asked: Asked) -> bool:
        """One candidate."""
        config = asked.fields.get("generationConfig") or asked.fields.get("generation_config")
        wanted = config if isinstance(config, dict) else {}
        return all(wanted.get(name) in (None, 1) for name in ("candidateCount", "candidate_count"))

    def streaming(self, asked: Asked) -> Onward:
        """By another path; the body stays."""
        kept = [part for part in asked.query.split("&") if part and not part.startswith("alt=")]
        path = asked.path.removesuffix(ONCE) + STREAM
        return Onward(path, "&".join([*kept, SSE]), asked.with_fields())

    def tail(self, asked: Asked, framing: Framing) -> Tail:
        """In the framing of the stream."""
        del asked
        return ContentTail(framing)

    def assembler(self) -> Assembler:
        """For any response."""
        return ContentAssembler()

    def framing(self, content_type: str) -> Framing | None:
        """Events, or an array: that is JSON."""
        return "array" if content_type == "application/json" else super().framing(content_type)

    def model(self, asked: Asked) -> str:
        """By the path."""
        return asked.path.rpartition("/")[2].partition(":")[0] or "unknown"

    def most_tokens(self, asked: Asked) -> int | None:
        """As the generation's settings say."""
        config = asked.fields.get("generationConfig")
        most = config.get("maxOutputTokens") if isinstance(config, dict) else None
        return most if type(most) is int and most > 0 else None
