"""Ollama's own API, ``/api/chat`` and ``/api/generate``: one JSON object a line."""

from typing import Any

import msgspec

from loopwatch.proxy.dialects.dialect import (
    Asked,
    Assembler,
    Dialect,
    Framing,
    Tail,
    merged_into,
)
from loopwatch.wire.usage import Usage

STOP = "stop"
TEXTS = ("message", "response", "thinking")
"""Fields of a line that are pieces of the reply."""


def _usage(usage: Usage) -> dict[str, int]:
    return {"prompt_eval_count": usage.input_tokens or 0, "eval_count": usage.output_tokens or 0}


class LineTail(Tail):
    """A stream of lines, which knows no comments."""

    __slots__ = ()

    def closing(self, usage: Usage, remark: str) -> bytes:
        """The line that says done."""
        del remark
        latest = self.latest
        said = {"message": {"role": "assistant", "content": ""}} if "message" in latest else {"response": ""}
        head = {name: value for name, value in latest.items() if name not in TEXTS}
        return _line({**head, **said, "done": True, "done_reason": STOP, **_usage(usage)})

    def failing(self, message: str) -> bytes:
        """A line with an error."""
        return _line({"error": message})


def _line(document: dict[str, Any]) -> bytes:
    return msgspec.json.encode(document) + b"\n"


class LineAssembler(Assembler):
    """Lines -> the one line that would have come."""

    def __init__(self) -> None:
        """Start before the first line."""
        super().__init__()
        self._whole: dict[str, Any] = {}

    def take(self, event: dict[str, Any]) -> None:
        """Merge a line in: texts are joined, of all else the last word holds."""
        if event.get("error"):
            self.error = event
            return
        said = {name: value for name, value in event.items() if name in TEXTS}
        rest = {name: value for name, value in event.items() if name not in TEXTS}
        merged_into(self._whole, said).update(rest)

    def document(self, cut: Usage | None = None) -> dict[str, Any] | None:
        """The line; None where none said done."""
        if cut is not None:
            return {**self._whole, "done": True, "done_reason": STOP, **_usage(cut)}
        return self._whole if self._whole.get("done") is True else None


class Ollama(Dialect):
    """Ollama's own."""

    vendor = "ollama"
    format = "ollama"

    def streams(self, asked: Asked) -> bool:
        """Unless it says not to."""
        return asked.fields.get("stream") is not False

    def is_single(self, asked: Asked) -> bool:
        """Always; a prompt of no text only loads the model."""
        return bool(asked.fields.get("messages") or asked.fields.get("prompt"))

    def tail(self, asked: Asked, framing: Framing) -> Tail:
        """For either kind of reply."""
        del asked, framing
        return LineTail()

    def assembler(self) -> Assembler:
        """For either kind of reply."""
        return LineAssembler()

    def framing(self, content_type: str) -> Framing | None:
        """Lines, whatever they call themselves."""
        return "lines" if content_type in ("application/x-ndjson", "application/json") else None

    def most_tokens(self, asked: Asked) -> int | None:
        """As the options say."""
        options = asked.fields.get("options")
        most = options.get("num_predict") if isinstance(options, dict) else None
        return most if type(most) is int and most > 0 else None
