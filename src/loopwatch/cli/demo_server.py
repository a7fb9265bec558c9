"""The server of the demo: the real one over a database in a temporary folder, and a sink for its alerts."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp import web

from loopwatch.config.reach import EVERYWHERE
from loopwatch.errors import LoopwatchError
from loopwatch.hosting.listening import listening, signals_end_here
from loopwatch.server.serving import Ending, Options, opened, owner_link

if TYPE_CHECKING:
    import socket

    from loopwatch.cli.demo_story import Narrator
    from loopwatch.store.opening import Store

PROJECT = "Demo"
EXAMPLE = {"input": 2.5, "output": 10}
"""US dollars per million tokens: about what large models cost."""
PAGES = ("/demo", "/demo/users/usr_8f21c9", "/demo/alerts", "/demo/settings", "/sign-in", "/readyz")
"""What is asked by a demo that ends itself."""


HOST = "127.0.0.1"
"""Where a demo listens: nobody else is to come."""


@dataclass
class Sink:
    """What a Slack webhook would be: takes messages, and sends them nowhere."""

    url: str = ""
    messages: "asyncio.Queue[dict[str, Any]]" = field(default_factory=asyncio.Queue)

    async def take(self, request: web.Request) -> web.Response:
        """Take one."""
        self.messages.put_nowait(json.loads(await request.read()))
        return web.Response(text="ok")


@dataclass
class Running:
    """The running server. ``ended`` is done once it has been told to stop."""

    url: str
    key: str
    owner: str
    sink: Sink
    ended: "asyncio.Task[None]"
    session: aiohttp.ClientSession
    store: "Store"
    project: str

    async def price(self, model: str) -> None:
        """Give a model that nobody sells a price, so that its calls cost something."""
        changes = {"prices": {model: EXAMPLE}}
        await self.store.projects.change(self.project, changes, "the demo", EVERYWHERE)

    async def alerts(self) -> int:
        """How many alerts there were."""
        return len(await self.store.alerts.list(self.project))

    async def post(self, path: str, document: Any) -> None:
        """Send something to the API, as a product does. Raises LoopwatchError where it is refused."""
        headers = {"x-api-key": self.key}
        async with self.session.post(self.url + path, json=document, headers=headers) as answer:
            if answer.status != HTTPStatus.ACCEPTED:
                raise LoopwatchError(f"the demo's server answered {path} with {answer.status}")

    async def probe(self, narrator: "Narrator") -> None:
        """Ask for pages, as a browser does. Raises LoopwatchError where one is not there."""
        for path in PAGES:
            async with self.session.get(self.url + path) as answer:
                if answer.status != HTTPStatus.OK:
                    raise LoopwatchError(f"the demo's page {path} answers {answer.status}")
        narrator.say(f"The console's pages answer: {', '.join(PAGES)}.", style="green")

    async def show(self, narrator: "Narrator", *, opens: bool, open_page: Callable[[str], object]) -> None:
        """Say where to look, and open it in a browser where that is wanted."""
        narrator.title("\nThe console is up:")
        narrator.say(f"  {self.url}/demo   made-up data, no sign-in; one agent loops right now")
        narrator.say(f"  {self.owner}   makes your account; this agent is in there")
        narrator.say("Ctrl-C ends it.")
        if opens:
            await asyncio.to_thread(open_page, f"{self.url}/demo")


@asynccontextmanager
async def running(port: int, *, else_any: bool) -> AsyncIterator[Running]:
    """Run it for the block, on another port where that one is taken and ``else_any`` allows it."""
    with tempfile.TemporaryDirectory(prefix="loopwatch-demo-") as folder:
        bound = _bound(port, else_any=else_any)
        options = Options(f"sqlite:///{folder}/loopwatch.db", port=bound.getsockname()[1], reach=EVERYWHERE)
        with bound, signals_end_here():
            async with _sink() as sink, opened(options, environment={}) as app:
                store = app.state.services.store
                channel = {"type": "slack", "url": sink.url}
                project = await store.projects.create(PROJECT, {"channels": [channel]}, EVERYWHERE)
                key = (await store.keys.create(project.id, "demo")).secret
                server = Ending(app)
                ended = asyncio.ensure_future(server.serve(sockets=[bound]))
                try:
                    async with aiohttp.ClientSession() as session:
                        owner = await owner_link(app)
                        yield Running(options.address, key, owner, sink, ended, session, store, project.id)
                finally:
                    server.should_exit = True
                    await ended


def _bound(port: int, *, else_any: bool) -> "socket.socket":
    try:
        return listening(HOST, port)
    except LoopwatchError:
        if not else_any:
            raise
        return listening(HOST, 0)


@asynccontextmanager
async def _sink() -> AsyncIterator[Sink]:
    sink = Sink()
    app = web.Application()
    app.router.add_post("/", sink.take)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, 0).start()
        sink.url = f"http://{HOST}:{runner.addresses[0][1]}/"
        yield sink
    finally:
        await runner.cleanup()
