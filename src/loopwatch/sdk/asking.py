"""``tracker.chat(client, …)``: one call, whatever client it goes to, as the second seed has it."""

from collections.abc import Mapping
from typing import Any

from loopwatch.errors import InputError, NotAClient


def ask(client: Any, params: dict[str, Any]) -> Any:
    """Make the call that ``params`` describe; a coroutine where the client is an async one."""
    if hasattr(client, "chat") and hasattr(client.chat, "completions"):
        return _openai(client, params)
    if hasattr(client, "messages"):
        return client.messages.create(**params)
    if hasattr(client, "models"):
        return _gemini(client, params)
    raise NotAClient("chat needs a client that can be asked for messages")


def _openai(client: Any, params: dict[str, Any]) -> Any:
    if "messages" in params:
        return client.chat.completions.create(**params)
    if "input" in params:
        return client.responses.create(**params)
    if "prompt" in params:
        return client.completions.create(**params)
    raise InputError("chat needs messages=[...], or input=... for Responses, or prompt=... for completions")


def _gemini(client: Any, params: dict[str, Any]) -> Any:
    streams = params.pop("stream", False)
    if "contents" not in params:
        messages = params.pop("messages", None)
        if messages is None:
            raise InputError("chat needs messages=[...], or contents=... for Gemini")
        params["contents"], system = _contents(messages)
        if system:
            params["config"] = _with_system(params.get("config"), system)
    models = client.models
    return (models.generate_content_stream if streams else models.generate_content)(**params)


def _contents(messages: Any) -> tuple[list[dict[str, Any]], str]:
    """Messages as Gemini has them, and what the system says, which stands apart."""
    contents: list[dict[str, Any]] = []
    system: list[str] = []
    for message in messages:
        role, text = message.get("role"), _text(message.get("content"))
        if role in {"system", "developer"}:
            system.append(text)
        else:
            speaker = "model" if role in {"assistant", "model"} else "user"
            contents.append({"role": speaker, "parts": [{"text": text}]})
    return contents, "\n\n".join(system)


def _with_system(config: Any, system: str) -> Any:
    if config is None or isinstance(config, Mapping):
        return {"system_instruction": system, **(config or {})}
    return config if config.system_instruction else config.model_copy(update={"system_instruction": system})


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))
