"""A provider that answers as it is told, request by request: for tests, yours too.

A real HTTP server on this machine that speaks OpenAI's streaming chat completions: errors, stalls,
resets, loops, broken bytes and late prices, all of them over a real socket. ::

    async with scripted_provider(status(503, retry_after=2), looping(), answer("Hello")) as provider:
        ...  # a client that is told to use provider.base_url
    assert [request.ended for request in provider.requests] == ["finished", "dropped", "finished"]
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web

from loopwatch.clock import Clock, SystemClock
from loopwatch.testing.answers import Answer, Script, Scripted
from loopwatch.testing.chunks import head
from loopwatch.testing.exchange import Request, Stream
from loopwatch.testing.generations import Generations, is_lookup
from loopwatch.wire.decoding import anything


class ScriptedProvider:
    """The running provider. ``requests`` has what it was asked and how each exchange ended.

    Look-ups of prices are not among them: ``generations`` answers those, and keeps them.
    """

    def __init__(
        self, answers: tuple[Scripted, ...], *, model: str | None, provider: str | None, clock: Clock
    ) -> None:
        """Take the script; ``scripted_provider`` does the rest."""
        self.base_url = ""
        self.requests: list[Request] = []
        self.generations = Generations()
        self.failures: list[Exception] = []
        self._script = Script(answers)
        self._model, self._provider, self._clock = model, provider, clock
        self._stopping = False
        app = web.Application(client_max_size=0)  # of any size
        app.router.add_route("*", "/{path:.*}", self._respond)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)

    def script(self, *answers: Scripted) -> None:
        """Answer the requests that are still to come with these, in their order."""
        self._script = Script(answers)

    @property
    def connections(self) -> int:
        """How many connections are open now, idle ones of a client's pool among them."""
        server = self._runner.server
        return 0 if server is None else len(server.connections)

    async def disconnected(self, *, within: float = 5) -> None:
        """Wait until no connection is open. Raises TimeoutError where that takes longer."""
        async with asyncio.timeout(within):
            while self.connections:  # noqa: ASYNC110  the server below tells nobody
                await asyncio.sleep(0.001)

    async def start(self, ssl_context: ssl.SSLContext | None) -> None:
        """Listen on a free port."""
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=ssl_context).start()
        scheme = "http" if ssl_context is None else "https"
        self.base_url = f"{scheme}://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def stop(self) -> None:
        """End at once, whatever is being answered."""
        self._stopping = True
        server = self._runner.server
        for connection in () if server is None else server.connections:
            if connection.transport is not None:
                connection.transport.abort()
        await self._runner.cleanup()

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        lookup = is_lookup(request.method, request.path)
        kept = self.generations.lookups if lookup else self.requests
        asked = Request(
            number=len(kept) + 1,
            method=request.method,
            path=request.path,
            query=request.query,
            headers=request.headers,
            raw=raw,
            body=_parsed(raw),
            at=self._clock.monotonic(),
        )
        kept.append(asked)
        response = web.StreamResponse()
        try:
            chosen = (self.generations if lookup else self._script).next(asked)
            stream = Stream(asked, response, self._clock, self._head(chosen, asked), chosen.split)
            await _play(chosen, stream, request)
            asked.end("finished")
        except ConnectionError:
            asked.end("stopped" if self._stopping else "dropped")
        except asyncio.CancelledError:
            asked.end("stopped" if self._stopping else "dropped")
            raise
        except Exception as error:  # noqa: BLE001  raised again where the block ends
            asked.end("failed")
            self.failures.append(error)
            if request.transport is not None:
                request.transport.abort()
        return response

    def _head(self, chosen: Answer, asked: Request) -> dict[str, Any]:
        """The fields of every chunk; those without a value are left out."""
        named = asked.body.get("model") if isinstance(asked.body, Mapping) else None
        identity = f"gen-{asked.number}" if chosen.id is None else chosen.id or None
        model = chosen.model or self._model or named or "scripted"
        return head(identity, model) | {"provider": chosen.provider or self._provider}


async def _play(chosen: Answer, stream: Stream, request: web.Request) -> None:
    """Answer a request, to the end of its steps or to where one of them ends it."""
    await stream.play(chosen.before)
    if stream.leave(request.transport):
        return
    stream.response.set_status(chosen.status)
    stream.response.headers.update({"Content-Type": "text/event-stream", **chosen.headers})
    if chosen.announced and stream.head["id"] is not None:
        stream.response.headers.setdefault("X-Generation-Id", stream.head["id"])
    await stream.response.prepare(request)
    await stream.play(chosen.steps)
    stream.leave(request.transport)


def _parsed(raw: bytes) -> Any:
    """The JSON of a body; None where it is none."""
    try:
        return anything(raw)
    except msgspec.DecodeError:
        return None


@asynccontextmanager
async def scripted_provider(
    *answers: Scripted,
    model: str | None = None,
    provider: str | None = None,
    ssl_context: ssl.SSLContext | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[ScriptedProvider]:
    """Run a provider on a free port for as long as the block lasts.

    The first request gets the first answer, and so on; the last one is repeated. A callable, in the
    place of any of them, is given the request and returns its answer. Every request is answered by the
    script, whatever its path, but for the look-ups of prices. ``model`` and ``provider`` are named in
    the chunks where an answer names none. Pauses are waits on ``clock``, by default the machine's.

    An error that a callable or a step of yours raises is raised again at the end of the block.
    """
    running = ScriptedProvider(answers, model=model, provider=provider, clock=clock or SystemClock())
    try:
        await running.start(ssl_context)
        yield running
    finally:
        await running.stop()
    if running.failures:
        raise running.failures[0]
