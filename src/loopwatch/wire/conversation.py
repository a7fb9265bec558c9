"""The conversation that a request repeats: what the user said, which tools were called, what came back.

Every request of an agent carries all of it again, whoever's API it asks.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from loopwatch.wire.assembly import Format
from loopwatch.wire.decoding import anything

OUTPUT = "_call_output"
"""How the types of OpenAI's items end that carry a tool's result."""
CALLS = ("function_call", "custom_tool_call", "local_shell_call")


class Part(NamedTuple):
    """A piece of a conversation. ``key`` tells which call a result answers; texts stay out of ``repr``."""

    kind: Literal["user", "said", "call", "result"]
    text: str = ""
    key: str = ""
    name: str = ""
    args: Mapping[str, Any] = {}
    is_error: bool = False

    def __repr__(self) -> str:
        """What it is."""
        return f"Part({self.kind})"


def conversation(spoken: Format, body: Mapping[str, Any]) -> Iterator[Part]:
    """The parts of a request's conversation in their order; what is of no known shape is passed over."""
    if spoken == "gemini":
        return _gemini(_objects(body.get("contents")))
    if spoken == "anthropic":
        return _anthropic(_objects(body.get("messages")))
    if spoken == "responses":
        return _responses(body.get("input"))
    return _chat(_objects(body.get("messages")))


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def _chat(messages: Iterator[Mapping[str, Any]]) -> Iterator[Part]:
    for message in messages:
        role, text = message.get("role"), _text(message.get("content"))
        if role == "user":
            yield Part("user", text)
        elif role == "assistant":
            yield from [Part("said", text)] if text else []
            for call in _objects(message.get("tool_calls")):
                called = call.get("function") or call.get("custom") or {}
                name, given = str(called.get("name")), called.get("arguments", called.get("input"))
                yield Part("call", key=str(call.get("id") or name), name=name, args=_arguments(given))
        elif role in ("tool", "function"):
            key = message.get("tool_call_id") or message.get("tool_name") or message.get("name")
            yield Part("result", text, key=str(key))


def _responses(given: Any) -> Iterator[Part]:
    if isinstance(given, str):
        yield Part("user", given)
    for item in _objects(given):
        kind = str(item.get("type") or "message")
        key = str(item.get("call_id") or item.get("id"))
        if kind in CALLS:
            given = item.get("arguments", item.get("input", item.get("action")))
            yield Part("call", key=key, name=str(item.get("name") or kind), args=_arguments(given))
        elif kind.endswith(OUTPUT):
            yield Part("result", _text(item.get("output")), key=key)
        elif kind == "message" and item.get("role") == "user":
            yield Part("user", _text(item.get("content")))
        elif kind == "message" and item.get("role") == "assistant":
            yield Part("said", _text(item.get("content")))


def _anthropic(messages: Iterator[Mapping[str, Any]]) -> Iterator[Part]:
    for message in messages:
        is_user, content = message.get("role") == "user", message.get("content")
        blocks = list(_objects(content))
        text = _text(content)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            failed = block.get("is_error") is True
            yield Part(
                "result", _text(block.get("content")), key=str(block.get("tool_use_id")), is_error=failed
            )
        if text and not results:  # what stands beside results is the harness's, not the user's
            yield Part("user" if is_user else "said", text)
        for block in blocks:
            if block.get("type") == "tool_use":
                args = _arguments(block.get("input"))
                yield Part("call", key=str(block.get("id")), name=str(block.get("name")), args=args)


def _gemini(contents: Iterator[Mapping[str, Any]]) -> Iterator[Part]:
    for content in contents:
        parts = list(_objects(content.get("parts")))
        results = [one for part in parts if isinstance(one := part.get("functionResponse"), dict)]
        for result in results:
            answer = result.get("response")
            failed = isinstance(answer, dict) and "error" in answer
            key = str(result.get("id") or result.get("name"))
            yield Part("result", _text(answer), key=key, is_error=failed)
        text = "".join(_text(part.get("text")) for part in parts if not part.get("thought"))
        if text and not results:
            yield Part("said" if content.get("role") == "model" else "user", text)
        for part in parts:
            call = part.get("functionCall")
            if isinstance(call, dict):
                name = str(call.get("name"))
                key = str(call.get("id") or name)
                yield Part("call", key=key, name=name, args=_arguments(call.get("args")))


def _arguments(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = anything(value.encode("utf-8", "surrogatepass")) if value.strip() else {}
        except msgspec.DecodeError:
            return {"input": value}
    return value if isinstance(value, dict) else {"input": value}


def _text(value: Any) -> str:
    """A content as text: as it is, the texts of its parts, or as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in value]
        return "".join(text for text in texts if isinstance(text, str))
    return msgspec.json.encode(value, enc_hook=str).decode()
