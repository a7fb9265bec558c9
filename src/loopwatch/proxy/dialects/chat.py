"""OpenAI's chat completions and the older text completions."""

from http import HTTPStatus
from typing import Any

from loopwatch.proxy.dialects.dialect import (
    Asked,
    Assembler,
    Dialect,
    Framing,
    Onward,
    Tail,
    comment,
    json_event,
    merged_into,
)
from loopwatch.proxy.dialects.errors import LOOP, error_document
from loopwatch.wire.openai import DONE
from loopwatch.wire.usage import Usage

NOT_REPEATED = ("choices", "usage", "obfuscation", "timings")
"""What stands in a chunk and is that chunk's alone."""


def _usage(usage: Usage) -> dict[str, int]:
    asked, answered = usage.input_tokens or 0, usage.output_tokens or 0
    return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}


class ChunkTail(Tail):
    """A stream of chunks. ``tells_usage`` says that the client asked for the usage."""

    __slots__ = ("_is_text", "_tells_usage")

    def __init__(self, *, tells_usage: bool, is_text: bool) -> None:
        """Start before the first chunk."""
        super().__init__()
        self._tells_usage = tells_usage
        self._is_text = is_text

    def closing(self, usage: Usage, remark: str) -> bytes:
        """A last chunk with a finish reason, the usage where it was asked for, ``[DONE]``."""
        head = {name: value for name, value in self.latest.items() if name not in NOT_REPEATED}
        latest = (self.latest.get("choices") or [{}])[0]
        said: dict[str, Any] = {"text": ""} if self._is_text else {"delta": {}}
        silent = {"logprobs": None} if "logprobs" in latest else {}
        choice = {"index": 0, **said, **silent, "finish_reason": "stop"}
        asked = {"usage": None} if self._tells_usage else {}
        closing = comment(remark) + json_event({**head, "choices": [choice], **asked})
        if self._tells_usage:
            closing += json_event({**head, "choices": [], "usage": _usage(usage)})
        return closing + b"data: " + DONE + b"\n\n"

    def failing(self, message: str) -> bytes:
        """An event with an error, and nothing after it."""
        return json_event(error_document("openai", HTTPStatus.BAD_GATEWAY, message, LOOP))


class ChunkAssembler(Assembler):
    """Chunks -> a ``chat.completion`` or ``text_completion``."""

    def __init__(self, *, is_text: bool) -> None:
        """Start before the first chunk."""
        super().__init__()
        self._is_text = is_text
        self._top: dict[str, Any] = {}
        self._message: dict[str, Any] = {}
        self._choice: dict[str, Any] = {}

    def take(self, event: dict[str, Any]) -> None:
        """Merge a chunk in."""
        if event.get("error"):
            self.error = event
            return
        for name, value in event.items():
            if name not in ("choices", "object", "obfuscation") and (
                value is not None or name not in self._top
            ):
                self._top[name] = value
        for choice in event.get("choices") or ():
            if not choice.get("index"):
                merged_into(self._message, choice.get("delta") or {})
                rest = {name: value for name, value in choice.items() if name not in ("index", "delta")}
                finish = rest.pop("finish_reason", None) or self._choice.get("finish_reason")
                merged_into(self._choice, rest)["finish_reason"] = finish

    def document(self, cut: Usage | None = None) -> dict[str, Any] | None:
        """The document; None where no finish reason came."""
        finish = self._choice.get("finish_reason") or ("stop" if cut is not None else None)
        if finish is None:
            return None
        choice: dict[str, Any] = {"index": 0}
        if not self._is_text:
            message = {"role": "assistant", "content": None, **self._message}
            if "tool_calls" in message:
                calls = message["tool_calls"] or []
                message["tool_calls"] = [
                    {name: value for name, value in call.items() if name != "index"} for call in calls
                ]
            choice["message"] = message
        choice |= {**self._choice, "finish_reason": finish}
        top = {**self._top}
        if cut is not None:
            top["usage"] = _usage(cut)
        if top.get("usage") is None:
            top.pop("usage", None)
        usage = {"usage": top.pop("usage")} if "usage" in top else {}
        kind = "text_completion" if self._is_text else "chat.completion"
        identity = {"id": top.pop("id")} if "id" in top else {}
        return {**identity, "object": kind, **top, "choices": [choice], **usage}


class Chat(Dialect):
    """``/chat/completions``."""

    vendor = "openai"
    format = "openai"
    is_text = False

    def is_single(self, asked: Asked) -> bool:
        """One choice, and of text: sound streams in another encoding than it comes in a document."""
        fields = asked.fields
        modalities = fields.get("modalities")
        has_sound = isinstance(modalities, list) and "audio" in modalities
        return all(fields.get(name) in (None, 1) for name in ("n", "best_of")) and not has_sound

    def streaming(self, asked: Asked) -> Onward:
        """With the usage, which the document has too."""
        options = asked.fields.get("stream_options")
        wanted = {**(options if isinstance(options, dict) else {}), "include_usage": True}
        return Onward(asked.path, asked.query, asked.with_fields(stream=True, stream_options=wanted))

    def tail(self, asked: Asked, framing: Framing) -> Tail:
        """It tells the usage where the client asked for it."""
        del framing
        options = asked.fields.get("stream_options")
        tells = isinstance(options, dict) and options.get("include_usage") is True
        return ChunkTail(tells_usage=tells, is_text=self.is_text)

    def assembler(self) -> Assembler:
        """Of its kind."""
        return ChunkAssembler(is_text=self.is_text)


class Completions(Chat):
    """``/completions``, the older one."""

    is_text = True

    def is_single(self, asked: Asked) -> bool:
        """One prompt and one choice."""
        prompt = asked.fields.get("prompt")
        return super().is_single(asked) and not (isinstance(prompt, list) and len(prompt) > 1)
