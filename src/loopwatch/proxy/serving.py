"""A proxy from its options: opened, served until it is told to stop, closed with every call logged."""

import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette

from loopwatch.clock import Clock, SystemClock
from loopwatch.hosting.listening import configured, listening, signals_end_here
from loopwatch.proxy.app import create_app
from loopwatch.proxy.callers import Callers
from loopwatch.proxy.conversations import Conversations
from loopwatch.proxy.house import House
from loopwatch.proxy.ledger import Ledger, NoLedger, local, remote
from loopwatch.proxy.protocol import KEPT_SECONDS, Silence, limited
from loopwatch.proxy.settings import ProxySettings
from loopwatch.proxy.upstream import UpstreamTransport

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Logging:
    """Where calls are logged: at ``server``, else in ``database``, else nowhere.

    ``public_url`` and ``secret`` are those of the `loopwatch serve` that delivers alerts from the database.
    """

    server: str | None = None
    server_key: str | None = field(default=None, repr=False)
    database: str | None = None
    project: str | None = None
    public_url: str = "http://127.0.0.1:8700"
    secret: bytes = field(default=b"", repr=False)

    def opened(self, clock: Clock) -> AbstractAsyncContextManager[Ledger]:
        """The ledger, for a block."""
        if self.server is not None:
            return remote(self.server, self.server_key)
        if self.database is not None:
            return local(self.database, self.project, self.public_url, self.secret, clock)
        return _nowhere()


@asynccontextmanager
async def _nowhere() -> AsyncIterator[Ledger]:
    yield NoLedger()


@asynccontextmanager
async def opened(
    settings: ProxySettings,
    logs: Logging,
    tell: Callable[[dict[str, Any]], None],
    clock: Clock | None = None,
) -> AsyncIterator[tuple[Starlette, House]]:
    """The application for as long as the block lasts; after it, every call is logged.

    ``tell`` is given each trip, as an object. Raises as the store does where calls are logged here.
    """
    clock = clock or SystemClock()
    async with logs.opened(clock) as ledger:
        house = House(
            settings=settings,
            transport=UpstreamTransport(),
            ledger=ledger,
            clock=clock,
            name=f"loopwatch-{secrets.token_hex(6)}",
            tell=tell,
            callers=Callers(ledger.pseudonym),
            conversations=Conversations(clock),
        )
        try:
            yield create_app(house), house
        finally:
            await house.transport.aclose()


def config(app: Starlette, settings: ProxySettings) -> uvicorn.Config:
    """How uvicorn is to serve it."""
    logging.getLogger("uvicorn.error").addFilter(Silence())
    return configured(app, protocol=limited(settings.max_header), keep_alive=KEPT_SECONDS, dated=False)


async def serve(
    settings: ProxySettings, logs: Logging, host: str, port: int, tell: Callable[[dict[str, Any]], None]
) -> None:
    """Serve until SIGTERM or Ctrl-C; then take nothing more in, and end once what streams has ended."""
    with listening(host, port) as bound:
        port = bound.getsockname()[1]
        settings.upstreams.refuse_own(host, port)
        address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        async with opened(settings, logs, tell) as (app, _):
            server = uvicorn.Server(config(app, settings))
            with signals_end_here():
                _log.info("listening on %s, upstream %s", address, ", ".join(settings.upstreams.every))
                tell({"event": "listening", "url": address})
                await server.serve(sockets=[bound])
    _log.info("stopped: every call is logged")
