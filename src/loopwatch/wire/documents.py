"""Whole documents: the text of replies that were not streamed, or were logged after the fact.

Known are OpenAI's chat and text completions, Responses and batch output, Anthropic's messages and batch
results, Gemini's and Ollama's responses, and any record that holds a conversation (``messages``,
Gemini's ``contents``, or one message of it) or a ``text``.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from loopwatch.wire.pieces import Channel

ASSISTANTS = ("assistant", "model")
TEXT_PARTS = ("text", "output_text", "summary_text", "reasoning_text")
ENVELOPES: tuple[tuple[str, ...], ...] = (
    (),
    ("response", "body"),
    ("response",),
    ("result", "message"),
    ("message",),
    ("body",),
)
"""Where a reply may lie: bare, as in OpenAI's batch output, Gemini's, Anthropic's, an agent's log."""

THOUGHTS = ("reasoning", "reasoning_content", "thinking")
"""What the thinking beside an answer is called; gateways send one, or the same under two names."""

DIGITS = 10
"""Digits of an index that no list reaches."""

Texts = Iterator[tuple[Any, Channel]]
"""What a reply is made of, in its order; what is no string is passed over."""


class Found(NamedTuple):
    """One channel of a reply: its text, and the reply's place where the record holds several."""

    text: str
    channel: Channel = "content"
    place: str = ""


def find(record: Any) -> list[Found] | None:
    """The replies that ``record``, parsed JSON, holds.

    None where it is of no known shape; an empty list where it is, but nothing in it is a reply (what a
    user said, say).
    """
    if isinstance(record, list):
        record = {"messages": record}
    if isinstance(record, dict) and record.get("done") is False and "model" in record:
        return None  # a line of Ollama's stream, not a reply
    known = None
    for path in ENVELOPES:
        inner = record
        for key in path:
            inner = inner.get(key) if isinstance(inner, dict) else None
        found = _found(inner) if isinstance(inner, dict) else None
        if found:
            return found
        known = found if known is None else known
    return known


def at_path(record: Any, path: str) -> list[Found] | None:
    """The text at a dotted path (``a.b``, ``choices.0.text``); None where the path leads to none.

    A list of strings, or of parts with a ``text``, is one text.
    """
    value = record
    for key in path.split("."):
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and len(key) < DIGITS and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    text = _text(value)
    return None if text is None else [Found(text)]


def _found(record: dict[str, Any]) -> list[Found] | None:
    if isinstance(record.get("text"), str):
        return [Found(record["text"])]
    replies = [
        (f"{kind}.{number}", texts)
        for kind, read in _LISTS.items()
        for number, item in enumerate(_list(record.get(kind)))
        if isinstance(item, dict)
        for texts in read(item)
    ]
    replies += [("", texts) for read in _WHOLES for texts in read(record)]
    if not replies:
        return None
    said = [(place, texts) for place, texts in replies if texts is not None]
    return [found for place, texts in said for found in _channels(texts, place if len(said) > 1 else "")]


def _channels(texts: Texts, place: str) -> Iterator[Found]:
    """One text a channel, as one detector would have read them."""
    channels: dict[Channel, list[str]] = {}
    for text, channel in texts:
        if isinstance(text, str):
            channels.setdefault(channel, []).append(text)
    for channel, some in channels.items():
        yield Found("".join(some), channel, place)


# What may stand in a list of replies, or of a conversation. Each yields nothing where it is no such thing,
# and None where it is, but no reply.


def _choice(choice: dict[str, Any]) -> Iterator[Texts | None]:
    if isinstance(choice.get("message"), dict):
        yield _message_texts(choice["message"])
    elif isinstance(choice.get("text"), str):
        yield iter([(choice["text"], "content")])


def _candidate(candidate: dict[str, Any]) -> Iterator[Texts | None]:
    content = candidate.get("content")
    yield _part_texts(content.get("parts")) if isinstance(content, dict) else None


def _message(message: dict[str, Any]) -> Iterator[Texts | None]:
    if isinstance(message.get("role"), str):
        yield _message_texts(message) if message["role"] in ASSISTANTS else None


def _turn(turn: dict[str, Any]) -> Iterator[Texts | None]:
    """A turn of Gemini's; the user's may have no role."""
    if isinstance(turn.get("parts"), list):
        yield _part_texts(turn["parts"]) if turn.get("role") in ASSISTANTS else None


# What may be a reply as a whole.


def _bare(record: dict[str, Any]) -> Iterator[Texts | None]:
    """A message of a conversation, a line each, or Anthropic's answer."""
    if isinstance(record.get("content"), list | str) or ("content" in record and "role" in record):
        yield _message_texts(record) if record.get("role", "assistant") in ASSISTANTS else None


def _response(record: dict[str, Any]) -> Iterator[Texts | None]:
    """OpenAI's Responses: its output items are one reply."""
    items = [item for item in _list(record.get("output")) if isinstance(item, dict) and "type" in item]
    if items:
        yield (text for item in items for text in item_texts(item))


def _completion(record: dict[str, Any]) -> Iterator[Texts | None]:
    """Ollama's answer to a prompt."""
    if record.get("done") is True and isinstance(record.get("response"), str):
        yield iter([(record.get("thinking"), "reasoning"), (record["response"], "content")])


_LISTS = {"choices": _choice, "candidates": _candidate, "messages": _message, "contents": _turn}
_WHOLES = (_bare, _response, _completion)


# The texts of one reply.


def _message_texts(message: dict[str, Any]) -> Texts:
    """A message of OpenAI's, Anthropic's or Ollama's: text or parts, and what stands beside them."""
    yield next((message[key] for key in THOUGHTS if message.get(key)), None), "reasoning"
    content = message.get("content")
    for part in _list(content):
        if isinstance(part, dict):
            yield _text(part.get("thinking")), "reasoning"
    yield _text(content), "content"
    yield message.get("refusal"), "content"
    for part in _list(content):
        if isinstance(part, dict) and str(part.get("type")).endswith("tool_use"):
            yield _arguments(part.get("input")), "tools"
    for call in [*_list(message.get("tool_calls")), {"function": message.get("function_call")}]:
        if isinstance(call, dict):
            yield _arguments(_inside(call, "function", "arguments")), "tools"
            yield _inside(call, "custom", "input"), "tools"


def _part_texts(parts: Any) -> Texts:
    """Gemini's parts."""
    for part in _list(parts):
        if isinstance(part, dict):
            yield part.get("text"), "reasoning" if part.get("thought") else "content"
            yield _arguments(_inside(part, "functionCall", "args")), "tools"


def item_texts(item: dict[str, Any]) -> Texts:
    """An output item of the Responses API."""
    channel: Channel = "reasoning" if item.get("type") == "reasoning" else "content"
    yield _text(item.get("summary")), "reasoning"
    yield _text(item.get("content")), channel
    yield item.get("arguments"), "tools"
    yield item.get("input"), "tools"


def _arguments(value: Any) -> str | None:
    """The arguments of a tool call as the model wrote them, or nearly so where they were parsed."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode() if isinstance(value, dict | list) else None
    except RecursionError:  # it was decoded in a shallower place than this
        return None


def _inside(record: dict[str, Any], key: str, inner: str) -> Any:
    value = record.get(key)
    return value.get(inner) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    """A text, or the text of a list of parts; None where there is none."""
    if isinstance(value, str):
        return value
    texts = [text for text in map(_part_text, _list(value)) if isinstance(text, str)]
    return "".join(texts) if texts else None


def _part_text(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    if part.get("type") == "refusal":
        return part.get("refusal")
    return part.get("text") if part.get("type", "text") in TEXT_PARTS else None
