"""The dialects by name."""

from typing import Literal

from loopwatch.proxy.dialects.anthropic import Anthropic
from loopwatch.proxy.dialects.chat import Chat, Completions
from loopwatch.proxy.dialects.dialect import Dialect
from loopwatch.proxy.dialects.gemini import Gemini
from loopwatch.proxy.dialects.ollama import Ollama
from loopwatch.proxy.dialects.responses import Responses

DialectName = Literal["chat", "completions", "responses", "anthropic", "gemini", "ollama"]

DIALECTS: dict[DialectName, Dialect] = {
    "chat": Chat(),
    "completions": Completions(),
    "responses": Responses(),
    "anthropic": Anthropic(),
    "gemini": Gemini(),
    "ollama": Ollama(),
}
