"""A proxy over real sockets, in the test's own loop, before whatever upstream the test has."""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
import uvicorn

from loopwatch.clock import Clock, SystemClock
from loopwatch.detect.settings import LoopDetection
from loopwatch.proxy.house import House
from loopwatch.proxy.ledger import LocalLedger
from loopwatch.proxy.serving import Logging, config, opened
from loopwatch.proxy.settings import ProxySettings
from loopwatch.proxy.upstreams import upstreams
from loopwatch.records.call import Call

GUARD = replace(LoopDetection.preset("balanced"), stop_on_same_loop=True)
LOOP = "We should check the cache again before we go on. "


class Hasty(SystemClock):
    """The machine's clock, for which every wait is over at once; ``waited`` has how long they would be."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)


@dataclass
class Rows:
    """Keeps the rows of calls."""

    pseudonym: Any = None
    lost: int = 0
    calls: list[Call] = field(default_factory=list)

    def put(self, call: Call) -> None:
        self.calls.append(call)


@dataclass
class Proxy:
    """A running proxy. ``told`` has the objects for programs, ``rows`` the calls."""

    url: str
    house: House
    session: aiohttp.ClientSession
    told: list[dict[str, Any]]
    rows: list[Call]

    @property
    def v1(self) -> str:
        return f"{self.url}/v1"

    async def settled(self) -> None:
        """Wait until no request is under way."""
        async with asyncio.timeout(5):
            while self.house.tallies.streams:  # noqa: ASYNC110  it tells nobody
                await asyncio.sleep(0.005)


@asynccontextmanager
async def proxied(
    *upstream: str, clock: Clock | None = None, logs: Logging | None = None, **settings: Any
) -> AsyncIterator[Proxy]:
    """Run a proxy for the block."""
    chosen = ProxySettings(**{"upstreams": upstreams(upstream), "detection": GUARD, **settings})
    told: list[dict[str, Any]] = []
    rows = Rows()
    async with opened(chosen, logs or Logging(), told.append, clock) as (_, made):
        house = made if isinstance(made.ledger, LocalLedger) or logs else replace(made, ledger=rows)
        from loopwatch.proxy.app import create_app

        server = uvicorn.Server(config(create_app(house), chosen))
        server.config.timeout_graceful_shutdown = 1  # a test that leaves a stream open has ended
        with socket.create_server(("127.0.0.1", 0)) as bound:
            url = f"http://127.0.0.1:{bound.getsockname()[1]}"
            running = asyncio.ensure_future(server.serve(sockets=[bound]))
            while not server.started:  # noqa: ASYNC110  uvicorn tells nobody
                await asyncio.sleep(0.001)
            try:
                async with aiohttp.ClientSession(auto_decompress=False) as session:
                    yield Proxy(url, house, session, told, rows.calls)
            finally:
                server.should_exit = True
                await running


def events(body: bytes) -> list[Any]:
    """The JSON of each event of a stream, but for [DONE]."""
    datas = [line[6:] for line in body.splitlines() if line.startswith(b"data: ")]
    return [json.loads(data) for data in datas if data != b"[DONE]"]


def lines_of(caplog_records: list[logging.LogRecord]) -> list[str]:
    """What was logged by the proxy or by uvicorn, one text a record."""
    return [
        record.getMessage()
        for record in caplog_records
        if record.name.startswith(("loopwatch", "uvicorn.error")) and record.levelno > logging.INFO
    ]
