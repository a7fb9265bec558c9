"""A whole server on this machine: the real application behind real sockets, and somebody who asks it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import uvicorn
from multidict import CIMultiDictProxy
from starlette.types import ASGIApp, Receive, Scope, Send

from loopwatch.clock import Clock, SystemClock
from loopwatch.config.reach import EVERYWHERE
from loopwatch.hosting.listening import configured
from loopwatch.server.connections import Allowance, connections
from loopwatch.server.services import Services
from loopwatch.server.serving import Options, opened


class Reply(NamedTuple):
    """What came back."""

    status: int
    headers: CIMultiDictProxy[str]
    text: str
    json: Any

    @property
    def error(self) -> str:
        """The one line that a refusal is."""
        line: str = self.json["error"]
        assert line
        assert "\n" not in line
        return line


class Stumbling:
    """Answers 500 to the next so many requests to a path, as a server in trouble does."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.failing: dict[str, int] = {}
        self.asked: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        self.asked.append(path)
        if self.failing.get(path, 0) <= 0:
            await self.app(scope, receive, send)
            return
        self.failing[path] -= 1
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await send({"type": "http.response.body", "body": b"in trouble"})


@dataclass
class House:
    """The server, one project of it with its keys, and a client."""

    url: str
    server: Services
    front: Stumbling
    session: aiohttp.ClientSession
    project: str = ""
    key: str = ""
    admin: str = ""

    async def ask(self, method: str, path: str, *, key: str | None = None, **more: Any) -> Reply:
        """One request, with the project's ingest key unless another is given; "" for none."""
        secret = self.key if key is None else key
        headers = {**({"x-api-key": secret} if secret else {}), **more.pop("headers", {})}
        async with self.session.request(method, self.url + path, headers=headers, **more) as response:
            text = await response.text(errors="replace")
            is_json = response.content_type == "application/json"
            decoded = await response.json() if is_json and text else None
            return Reply(response.status, response.headers, text, decoded)

    async def get(self, path: str, **more: Any) -> Any:
        """The document at a path, which must be there."""
        reply = await self.ask("GET", path, **more)
        assert reply.status == 200, reply.text
        return reply.json

    async def log(self, **row: Any) -> Reply:
        """Log one call by the other SDK's protocol."""
        return await self.ask(
            "POST", "/api/v1/log", json={"model": "gpt-4o-mini", "provider": "openai", **row}
        )

    async def set(self, **changes: Any) -> Reply:
        """Change settings."""
        return await self.ask("PUT", f"/api/v1/settings/{self.project}", key=self.admin, json=changes)

    async def another(self, name: str = "Other") -> "House":
        """A second project of the same server."""
        return await furnished(replace(self), name)


async def furnished(house: House, name: str) -> House:
    """The house with a new project and its keys."""
    store = house.server.store
    house.project = (await store.projects.create(name)).id
    house.key = (await store.keys.create(house.project, "ingest")).secret
    house.admin = (await store.keys.create(house.project, "admin", admin=True)).secret
    return house


@asynccontextmanager
async def serving(
    database: str | Path, clock: Clock | None = None, allowance: Allowance | None = None, **options: Any
) -> AsyncIterator[House]:
    """Run a server over a database for the block. Webhooks may lead anywhere."""
    url = f"sqlite:///{database}" if isinstance(database, Path) else database
    bound = socket.create_server(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    chosen = Options(url, port=port, **{"reach": EVERYWHERE, **options})
    async with opened(chosen, clock=clock or SystemClock(), environment={}) as app:
        front = Stumbling(app)
        running = uvicorn.Server(configured(front, protocol=connections(allowance or Allowance())))
        serve = asyncio.ensure_future(running.serve(sockets=[bound]))
        try:
            async with aiohttp.ClientSession() as session:
                house = House(f"http://127.0.0.1:{port}", app.state.services, front, session)
                yield await furnished(house, "Acme")
        finally:
            running.should_exit = True
            await serve


async def until(happened: Any, seconds: float = 10) -> Any:
    """What ``happened`` returns, once that is something."""
    async with asyncio.timeout(seconds):
        while not (found := happened()):  # noqa: ASYNC110  what it waits for has no event
            await asyncio.sleep(0.01)
    return found
