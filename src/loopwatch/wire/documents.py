"""Whole documents: the text of replies that were not streamed, or were logged after the fact.

Known are OpenAI's chat and text completions, Responses and batch output, Anthropic's messages and batch
results, Gemini's responses, and any record that holds a conversation (``messages``) or a ``text``.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from loopwatch.wire.pieces import Channel

ASSISTANTS = ("assistant", "model")
TEXT_PARTS = ("text", "output_text", "refusal")
ENVELOPES = (("response", "body"), ("response",), ("result", "message"), ("body",))
"""Where batch files put a reply: OpenAI's output, Gemini's, Anthropic's, and bare logs."""


class Found(NamedTuple):
    """One reply of a record: its text, its channel, and its place where the record holds several."""

    text: str
    channel: Channel = "content"
    place: str = ""


def find(record: Any) -> list[Found]:
    """The replies that ``record``, parsed JSON, holds; none where it is of no known shape."""
    if not isinstance(record, dict):
        return []
    if isinstance(record.get("text"), str):
        return [Found(record["text"])]
    found = list(_found(record))
    for path in ENVELOPES:
        if found:
            break
        inner: Any = record
        for key in path:
            inner = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(inner, dict):
            found = list(_found(inner))
    return found


def at_path(record: Any, path: str) -> list[Found] | None:
    """The text at a dotted path (``a.b``, ``choices.0.text``); None where the path leads to none.

    A list of strings, or of parts with a ``text``, is one text.
    """
    value = record
    for key in path.split("."):
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    text = _text(value)
    return None if text is None else [Found(text)]


def _found(record: dict[str, Any]) -> Iterator[Found]:
    for kind, read in _SHAPES.items():
        items = record.get(kind)
        if isinstance(items, list):
            several = sum(_is_reply(kind, item) for item in items) > 1
            for number, item in enumerate(items):
                if _is_reply(kind, item):
                    place = f"{kind}.{number}" if several else ""
                    yield from (found._replace(place=place) for found in read(item))
    if isinstance(record.get("content"), list | str) and record.get("role", "assistant") in ASSISTANTS:
        yield from _message(record)


def _is_reply(kind: str, item: Any) -> bool:
    """Whether an entry is a reply: of a conversation only what the assistant said is."""
    return isinstance(item, dict) and (kind != "messages" or item.get("role") in ASSISTANTS)


def _choice(choice: dict[str, Any]) -> Iterator[Found]:
    if isinstance(choice.get("text"), str):
        yield Found(choice["text"])
    if isinstance(choice.get("message"), dict):
        yield from _message(choice["message"])


def _message(message: dict[str, Any]) -> Iterator[Found]:
    """A message of OpenAI or Anthropic: text or parts, reasoning beside it or among them, tool calls."""
    for key in ("reasoning", "reasoning_content"):
        if isinstance(message.get(key), str) and message[key]:
            yield Found(message[key], "reasoning")
    content = message.get("content")
    text = _text(content)
    if text:
        yield Found(text)
    if isinstance(content, list):
        yield from _among(content)
    for call in message.get("tool_calls") or ():
        arguments = call.get("function", {}).get("arguments") if isinstance(call, dict) else None
        if isinstance(arguments, str) and arguments:
            yield Found(arguments, "tools")


def _among(parts: list[Any]) -> Iterator[Found]:
    """Thinking and tool input among the parts of a message."""
    for part in parts:
        if isinstance(part, dict) and isinstance(part.get("thinking"), str):
            yield Found(part["thinking"], "reasoning")


def _candidate(candidate: dict[str, Any]) -> Iterator[Found]:
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    if not isinstance(parts, list):
        return
    channels: tuple[tuple[Channel, bool], ...] = (("reasoning", True), ("content", False))
    for channel, thought in channels:
        texts = [
            part["text"]
            for part in parts
            if isinstance(part, dict)
            and isinstance(part.get("text"), str)
            and bool(part.get("thought")) == thought
        ]
        if texts:
            yield Found("".join(texts), channel)


def _output(item: dict[str, Any]) -> Iterator[Found]:
    """An output item of the Responses API."""
    text = _text(item.get("content"))
    if text:
        yield Found(text, "reasoning" if item.get("type") == "reasoning" else "content")
    if isinstance(item.get("arguments"), str):
        yield Found(item["arguments"], "tools")


def _text(value: Any) -> str | None:
    """A text, or the text of a list of parts; None where there is none."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    texts = [
        part if isinstance(part, str) else part["text"]
        for part in value
        if isinstance(part, str)
        or (
            isinstance(part, dict)
            and isinstance(part.get("text"), str)
            and part.get("type", "text") in TEXT_PARTS
        )
    ]
    return "".join(texts) if texts else None


_SHAPES = {"choices": _choice, "candidates": _candidate, "output": _output, "messages": _message}
