"""OpenAI's chat completions and the older text completions.

OpenRouter, llama.cpp, vLLM and Ollama speak both as well.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from loopwatch.wire.decoding import decoded
from loopwatch.wire.draft import Draft
from loopwatch.wire.faults import fault
from loopwatch.wire.pieces import Piece, pieces_of
from loopwatch.wire.sse import SENTINEL
from loopwatch.wire.usage import of_openai

DONE = SENTINEL
"""The data of the event after the last chunk."""

FIXED = ("messages", "stream", "stream_options", "n")
"""Fields of a request that no retry may change: it asks the same question, once, and its reply streams."""

OBJECTS = ("chat.completion.chunk", "chat.completion", "text_completion")
"""What chunks and documents call themselves."""


class Function(msgspec.Struct):
    """The function of a tool call, or a fragment of it."""

    arguments: str | None = None
    name: str | None = None


class Custom(msgspec.Struct):
    """The call of a tool that takes any text, or a fragment of it."""

    input: str | None = None
    name: str | None = None


class ToolCall(msgspec.Struct):
    """A fragment of a tool call; ``index`` tells calls from each other."""

    function: Function | None = None
    index: int | None = None
    id: str | None = None
    custom: Custom | None = None

    @property
    def name(self) -> str | None:
        """What is called, where this fragment tells."""
        called = self.function or self.custom
        return None if called is None else called.name

    @property
    def arguments(self) -> str | None:
        """What this fragment adds to the arguments."""
        if self.function is not None:
            return self.function.arguments
        return None if self.custom is None else self.custom.input


class Delta(msgspec.Struct):
    """What a chunk adds to a choice; ``function_call`` is what tool calls once were."""

    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None

    @property
    def calls(self) -> list[ToolCall]:
        """Its tool calls, the one of old among them."""
        calls = self.tool_calls or []
        return calls if self.function_call is None else [*calls, ToolCall(self.function_call)]

    def pieces(self, reply: int) -> list[Piece]:
        """The pieces that it adds; gateways send the reasoning under two names, some under both."""
        pieces: list[Piece] = []
        reasoning = self.reasoning or self.reasoning_content
        if reasoning:
            pieces.append(Piece(reasoning, "reasoning", reply))
        if self.content:
            pieces.append(Piece(self.content, "content", reply))
        if self.refusal:
            pieces.append(Piece(self.refusal, "content", reply))
        if self.tool_calls or self.function_call is not None:
            pieces += pieces_of([(call.arguments, "tools") for call in self.calls], reply)
        return pieces


class Choice(msgspec.Struct):
    """One of the answers that stream side by side; ``text`` in text completions."""

    index: int = 0
    delta: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None
    error: Any = None

    @property
    def pieces(self) -> list[Piece]:
        """The pieces that it adds."""
        pieces = [Piece(self.text, "content", self.index)] if self.text else []
        return pieces if self.delta is None else pieces + self.delta.pieces(self.index)


class Chunk(msgspec.Struct):
    """One ``chat.completion.chunk`` or ``text_completion``; some gateways send null for no choices."""

    id: str | None = None
    model: str | None = None
    choices: Sequence[Choice] | None = None
    object: Any = None
    provider: Any = None
    usage: Any = None
    error: Any = None

    @property
    def is_known(self) -> bool:
        """Whether it is a chunk, whatever it holds."""
        return bool(self.id or self.choices is not None or self.usage is not None or self.object in OBJECTS)


class Answer(Choice):
    """A choice of a document that was not streamed."""

    message: Delta | None = None


class Completion(Chunk):
    """A ``chat.completion`` or ``text_completion`` that was not streamed."""

    choices: Sequence[Answer] | None = None


_chunks = msgspec.json.Decoder(Chunk)
_completions = msgspec.json.Decoder(Completion)


def decode_chunk(data: bytes) -> Chunk:
    """The chunk that an event's data holds. Raises msgspec.DecodeError where it is none."""
    return decoded(_chunks, data)


def chunk_pieces(data: bytes) -> list[Piece]:
    """The pieces of a completion chunk. Raises msgspec.DecodeError where it is none."""
    choices = decode_chunk(data).choices
    return [piece for choice in choices for piece in choice.pieces] if choices else []


class OpenAIDraft(Draft):
    """A chat or text completion; of several side by side only the first."""

    __slots__ = ()
    source = "OpenAI's completions"
    count = of_openai

    def push(self, data: bytes) -> list[Piece]:
        """As every draft; quick with the chunks that nearly all of a reply is made of."""
        piece = self._plain(data) if self._known and not self.done else None
        if piece is None:
            return super().push(data)
        self._number += 1
        self.progress += 1
        self._channel(piece.channel).append(piece.text)
        return [piece]

    def _plain(self, data: bytes) -> Piece | None:  # noqa: PLR0911  inlined, a question a line
        """The piece of a chunk that is nothing but one piece of the text or of the reasoning."""
        try:
            chunk = _chunks.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        choices = chunk.choices
        if not choices or len(choices) > 1 or chunk.usage is not None or chunk.error:
            return None
        if chunk.provider and self.provider is None:
            return None
        if (chunk.id and self.generation_id is None) or (chunk.model and self.model is None):
            return None
        choice = choices[0]
        delta = choice.delta
        if choice.index or choice.finish_reason or choice.error or choice.text:
            return None
        if delta is None or delta.refusal or delta.tool_calls or delta.function_call is not None:
            return None
        reasoning = delta.reasoning or delta.reasoning_content
        if delta.content:
            return None if reasoning else Piece(delta.content)
        return Piece(reasoning, "reasoning") if reasoning else None

    def _read(self, data: bytes) -> list[Piece]:
        return self._take(decoded(_chunks, data), data)

    def _read_whole(self, data: bytes) -> list[Piece]:
        completion = decoded(_completions, data)
        for answer in completion.choices or ():
            if answer.message is not None:
                answer.delta = answer.message
                # Here they are all there, in their order; some gateways number them, most do not.
                for number, call in enumerate(answer.delta.tool_calls or ()):
                    call.index = number
        return self._take(completion, data)

    def _take(self, chunk: Chunk, data: bytes) -> list[Piece]:
        if self.generation_id is None or self.model is None or chunk.provider:
            self._introduce(chunk.id, chunk.model, chunk.provider)
        if chunk.usage is not None:
            self._bill(chunk.usage)
        choices = chunk.choices
        if not choices or chunk.error:
            self._doubt(data, known=chunk.is_known)
            return []
        self._known = True
        for choice in choices:
            if choice.index == 0:
                return self._choose(choice)
        return []

    def _choose(self, choice: Choice) -> list[Piece]:
        if choice.error:
            raise fault(choice.error)
        if choice.finish_reason:
            self._end(choice.finish_reason)
        delta = choice.delta
        if delta is not None and (delta.tool_calls or delta.function_call):
            for call in delta.calls:
                free_form = call.custom is not None
                key = call.index or 0
                self._call(key, id=call.id, name=call.name, arguments=call.arguments, free_form=free_form)
        return choice.pieces
