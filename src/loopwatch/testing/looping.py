"""A generator of loops, served as a provider serves a model.

A real HTTP server on this machine that speaks OpenAI's streaming chat completions, but there is no
model in it: its two texts are fixed. At temperature 0 it loops as a small model does: a sound
beginning, then one sentence until ``max_tokens``. At any other it answers and ends.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal

import msgspec
from aiohttp import web

from loopwatch.testing.chunks import DONE, choice, head, json_event, tokens, usage

NAME = "looping-generator"
MAX_TOKENS = 4_096

BEGINNING = """Release notes

This version brings a number of changes. Large files open faster, and the search remembers what you \
looked for. """
LOOP = "The new version of the editor includes all the changes of the new version of the editor. "
SOUND = """Release notes

- Files over 100 MB open while they are still being read.
- Search and replace knows regular expressions; the last ten searches are kept.
- Undo goes back to the moment the file was opened, even after saving.
- New: two files side by side, with their differences marked.
- Fixed: the cursor jumped when a line held both tabs and wide characters.
- Fixed: a file changed by another program was overwritten without a question.

Settings of the last version are taken over. Thanks to all who reported a problem."""


class _StreamOptions(msgspec.Struct):
    include_usage: bool = False


class _Request(msgspec.Struct):
    """What is read of a request; all else is ignored, as providers do."""

    messages: list[dict[str, Any]]
    stream: bool = False
    temperature: float = 1
    max_tokens: int = MAX_TOKENS
    stream_options: _StreamOptions | None = None


@dataclass(slots=True)
class Generated:
    """One reply of the generator: how many tokens it came to, and why it ended (None: it has not)."""

    tokens: int = 0
    ended: Literal["stop", "length", "dropped"] | None = None


@dataclass(slots=True)
class LoopingServer:
    """The running generator. ``replies`` has what it generated, request by request."""

    delay: float
    base_url: str = ""
    name: str = NAME
    replies: list[Generated] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Stream a reply until it is finished or nobody reads it any more."""
        try:
            asked = _read(await request.read())
        except msgspec.DecodeError as error:
            problem = {"error": {"code": 400, "message": str(error), "type": "invalid_request_error"}}
            return web.json_response(problem, status=HTTPStatus.BAD_REQUEST)
        reply = Generated()
        self.replies.append(reply)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        try:
            await response.prepare(request)
            await self._stream(response, asked, reply)
        except ConnectionResetError:  # whoever asked has gone
            reply.ended = "dropped"
        return response

    async def _stream(self, response: web.StreamResponse, asked: _Request, reply: Generated) -> None:
        start = head(f"chatcmpl-{len(self.replies)}", NAME)

        async def send(**fields: Any) -> None:
            await response.write(json_event(start | fields))

        await send(choices=[choice({"role": "assistant", "content": None})])
        generated = _loop() if asked.temperature == 0 else tokens(SOUND)
        for token in itertools.islice(generated, asked.max_tokens):
            await asyncio.sleep(self.delay)
            await send(choices=[choice({"content": token})])
            reply.tokens += 1
        finish_reason: Literal["stop", "length"] = "stop" if next(generated, None) is None else "length"
        await send(choices=[choice({}, finish_reason)])
        if asked.stream_options is not None and asked.stream_options.include_usage:
            await send(choices=[], usage=usage(_prompt_tokens(asked), reply.tokens))
        await response.write(DONE)
        reply.ended = finish_reason


def _read(body: bytes) -> _Request:
    asked = msgspec.json.decode(body, type=_Request)
    if not asked.stream:
        raise msgspec.ValidationError("`stream` must be true: this generator only streams")
    return asked


def _loop() -> Iterator[str]:
    return itertools.chain(tokens(BEGINNING), itertools.cycle(tokens(LOOP)))


def _prompt_tokens(asked: _Request) -> int:
    return sum(1 for message in asked.messages for _ in tokens(str(message.get("content", ""))))


@asynccontextmanager
async def looping_server(*, delay: float = 0.02) -> AsyncIterator[LoopingServer]:
    """Run the generator on a free port for as long as the block lasts.

    ``delay`` is the seconds before each token: 0.02 is the pace of a small model. Without a delay the
    system's buffers take whole replies before their reader has seen the first token.
    """
    server = LoopingServer(delay)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        yield server
    finally:
        await runner.cleanup()
