"""Reading a whole reply, whoever sends it: the formats by name."""

from typing import Literal, Protocol

from loopwatch.wire.anthropic import AnthropicDraft
from loopwatch.wire.draft import Draft
from loopwatch.wire.gemini import GeminiDraft
from loopwatch.wire.ollama import OllamaDraft
from loopwatch.wire.openai import OpenAIDraft
from loopwatch.wire.pieces import Channel, Piece
from loopwatch.wire.reply import Reply
from loopwatch.wire.responses import ResponsesDraft
from loopwatch.wire.usage import Usage

Format = Literal["openai", "responses", "anthropic", "gemini", "ollama"]
"""Who speaks on the wire; ``openai`` are chat completions and the older text completions."""

DRAFTS: dict[Format, type[Draft]] = {
    "openai": OpenAIDraft,
    "responses": ResponsesDraft,
    "anthropic": AnthropicDraft,
    "gemini": GeminiDraft,
    "ollama": OllamaDraft,
}


class Assembly(Protocol):
    """What the events of one reply are put together in, as they come.

    ``progress`` grows with every event that carries something; ``done`` says that the provider has said
    that it is, after which nothing is read; the others are known as soon as the stream says them.
    """

    progress: int
    done: bool
    generation_id: str | None
    provider: str | None
    model: str | None

    @property
    def usage(self) -> Usage | None:
        """What has been reported so far."""

    def push(self, data: bytes) -> list[Piece]:
        """Take one event's data (of Ollama's streams, one line); return the pieces of the reply in it.

        Where replies stream side by side, it is the first. Raises UnreadableReply where it is no event,
        and ProviderFault where the provider reports an error.
        """

    def text(self, channel: Channel) -> str:
        """What has come so far on a channel."""

    def finish(self) -> Reply:
        """The reply, at the end of its stream.

        Raises UnreadableReply where neither an answer, a tool call nor a finish reason came, or where the
        arguments of a tool call are no JSON.
        """


def assembly_for(format: Format) -> Assembly:  # noqa: A002  the word for it
    """An assembly before the first event."""
    return DRAFTS[format]()


def whole_reply(format: Format, data: bytes) -> Reply:  # noqa: A002  as above
    """The reply in a document that was not streamed. Raises as an assembly does."""
    return DRAFTS[format]().whole(data)
