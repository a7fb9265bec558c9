"""What an answer of the scriptable provider is made of, step by step.

A text that is one string is cut into deltas of about a token; a sequence of strings is sent as it is,
one delta each. ``delay`` is the seconds before each delta.
"""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from loopwatch.testing.chunks import choice, present, tokens, usage
from loopwatch.testing.exchange import Step, Stream


def _deltas(text: str | Sequence[str]) -> Sequence[str]:
    return list(tokens(text)) if isinstance(text, str) else text


@dataclass(frozen=True, slots=True)
class Role:
    """The first chunk of most providers: it names the role and says nothing."""

    role: str = "assistant"

    async def play(self, stream: Stream) -> None:
        """Send it."""
        await stream.delta({"role": self.role, "content": None})


@dataclass(frozen=True, slots=True)
class Say:
    """Text of the reply."""

    text: str | Sequence[str]
    delay: float = 0

    async def play(self, stream: Stream) -> None:
        """Send it, delta by delta."""
        for delta in _deltas(self.text):
            await stream.sleep(self.delay)
            await stream.delta({"content": delta})


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning, under the name that OpenRouter gives it or that DeepSeek and vLLM do."""

    text: str | Sequence[str]
    delay: float = 0
    name: Literal["reasoning", "reasoning_content"] = "reasoning"

    async def play(self, stream: Stream) -> None:
        """Send it, delta by delta."""
        for delta in _deltas(self.text):
            await stream.sleep(self.delay)
            await stream.delta({self.name: delta})


@dataclass(frozen=True, slots=True)
class CallTool:
    """A tool call, or more of it: where ``id`` or ``name`` is given, a first fragment carries them.

    Calls that arrive interleaved are several steps: the later ones have an ``index`` and arguments.
    """

    index: int = 0
    id: str | None = None
    name: str | None = None
    arguments: str | Sequence[str] = ""
    delay: float = 0

    async def play(self, stream: Stream) -> None:
        """Send it, fragment by fragment."""
        if self.id is not None or self.name is not None:
            await stream.sleep(self.delay)
            named = {} if self.name is None else {"name": self.name}
            identified = {} if self.id is None else {"id": self.id, "type": "function"}
            await self._send(stream, {**identified, "function": {**named, "arguments": ""}})
        for delta in _deltas(self.arguments):
            await stream.sleep(self.delay)
            await self._send(stream, {"function": {"arguments": delta}})

    async def _send(self, stream: Stream, fragment: Mapping[str, Any]) -> None:
        await stream.delta({"tool_calls": [{"index": self.index, **fragment}]})


@dataclass(frozen=True, slots=True)
class Loop:
    """The same text for ever, as fast as it is read, until the client drops the connection.

    One string is one delta here: a loop is about many chunks, not about small ones.
    """

    text: str | Sequence[str] = "void 0; "
    delay: float = 0

    async def play(self, stream: Stream) -> None:
        """Send it, and again."""
        deltas = [self.text] if isinstance(self.text, str) else self.text
        for delta in itertools.cycle(deltas):
            await stream.sleep(self.delay)
            await stream.delta({"content": delta})


@dataclass(frozen=True, slots=True)
class Chunk:
    """Any chunk. ``more`` has further fields of its top level; None leaves one out: ``{"id": None}``."""

    delta: Mapping[str, Any] = field(default_factory=dict)
    finish_reason: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    async def play(self, stream: Stream) -> None:
        """Send it."""
        await stream.chunk({"choices": [choice(self.delta, self.finish_reason)], **self.more})


@dataclass(frozen=True, slots=True)
class Event:
    """Any one event: a document, which is sent as JSON, or data as it is, JSON or not."""

    data: Mapping[str, Any] | str | bytes

    async def play(self, stream: Stream) -> None:
        """Send it."""
        data = self.data
        if isinstance(data, Mapping):
            data = msgspec.json.encode(data)
        await stream.event(data.encode() if isinstance(data, str) else data)


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they are."""

    data: bytes

    async def play(self, stream: Stream) -> None:
        """Send them."""
        await stream.write(self.data)


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """Comments that keep the connection open and say nothing; ``times`` None: for ever."""

    times: int | None = 1
    delay: float = 0
    comment: str = "OPENROUTER PROCESSING"

    async def play(self, stream: Stream) -> None:
        """Send them."""
        comments = itertools.repeat(f": {self.comment}\n\n".encode())
        for comment in itertools.islice(comments, self.times):
            await stream.sleep(self.delay)
            await stream.write(comment)


@dataclass(frozen=True, slots=True)
class Together:
    """Steps whose bytes are sent in one write, so that the client may well read them at once."""

    steps: Sequence[Step]

    async def play(self, stream: Stream) -> None:
        """Play them, then send."""
        async with stream.together():
            await stream.play(self.steps)


@dataclass(frozen=True, slots=True)
class Usage:
    """The trailer with the token counts: a chunk without choices. Sent whether or not it was asked for.

    As OpenAI and OpenRouter count, the cached tokens are among the input, the reasoning among the
    output. ``more`` has further fields of the usage object.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        """The usage object, with what is known."""
        known = usage(self.input_tokens, self.output_tokens)
        if self.cached_tokens is not None:
            known["prompt_tokens_details"] = {"cached_tokens": self.cached_tokens}
        if self.reasoning_tokens is not None:
            known["completion_tokens_details"] = {"reasoning_tokens": self.reasoning_tokens}
        if self.cost is not None:
            known["cost"] = self.cost
        return {**known, **self.more}

    async def play(self, stream: Stream) -> None:
        """Send it."""
        await stream.chunk({"choices": [], "usage": self.document})


@dataclass(frozen=True, slots=True)
class Finish:
    """The chunk that says why the reply ends."""

    reason: str = "stop"

    async def play(self, stream: Stream) -> None:
        """Send it."""
        await stream.chunk({"choices": [choice({}, self.reason)]})


@dataclass(frozen=True, slots=True)
class Done:
    """``[DONE]``, the last event. It does not close: after it, a ``Hang`` keeps the connection open."""

    async def play(self, stream: Stream) -> None:
        """Send it."""
        await stream.event(b"[DONE]")


@dataclass(frozen=True, slots=True)
class Document:
    """A whole reply that is not streamed: one JSON document, no event."""

    text: str
    finish: str = "stop"
    usage: Usage | None = None

    async def play(self, stream: Stream) -> None:
        """Send it."""
        message = {"role": "assistant", "content": self.text}
        document = {
            **stream.head,
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
            "usage": None if self.usage is None else self.usage.document,
        }
        await stream.write(msgspec.json.encode(present(document)))


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence, for so many seconds of the provider's clock."""

    seconds: float

    async def play(self, stream: Stream) -> None:
        """Wait."""
        await stream.sleep(self.seconds)


@dataclass(frozen=True, slots=True)
class Hang:
    """Silence until the client drops the connection."""

    async def play(self, stream: Stream) -> None:  # noqa: ARG002  there is nothing to send
        """Wait for ever."""
        await asyncio.get_running_loop().create_future()


@dataclass(frozen=True, slots=True)
class Close:
    """The proper end of the body, here: without a ``Done`` before it, an end without ``[DONE]``."""

    async def play(self, stream: Stream) -> None:
        """End it."""
        stream.ending = "close"


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is closed in the middle of the body, as by a proxy that restarts."""

    async def play(self, stream: Stream) -> None:
        """End it."""
        stream.ending = "cut"


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset (RST): the client's next read or write is an error."""

    async def play(self, stream: Stream) -> None:
        """End it."""
        stream.ending = "reset"
