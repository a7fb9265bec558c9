"""A server from its options: opened, served until it is told to stop, closed with nothing lost."""

import gc
import logging
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import uvicorn
from starlette.applications import Starlette

from loopwatch.clock import Clock, SystemClock
from loopwatch.config.reach import Reach
from loopwatch.hosting.listening import configured, listening, signals_end_here
from loopwatch.hosting.storing import Storing, storing
from loopwatch.server.app import create_app
from loopwatch.server.buckets import BURST, RATE, Buckets
from loopwatch.server.connections import connections, room
from loopwatch.server.live import Live
from loopwatch.server.services import Services, courier
from loopwatch.server.signin.visitors import Door
from loopwatch.store.members import FIRST_LIFETIME, NOBODY

GARBAGE = (20_000, 20, 20)
"""Objects made before the collector looks at them, and looks before it goes further back."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    """What a server is started with. ``rate`` is in requests a second for each key.

    ``secret`` signs what browsers keep and the links in alerts; the servers of one database share it.
    Empty: the database has one.
    """

    database: str
    host: str = "127.0.0.1"
    port: int = 8700
    public_url: str | None = None
    windows: str | None = None
    reach: Reach = field(default_factory=Reach)
    rate: float = RATE
    burst: float = BURST
    secret: bytes = field(default=b"", repr=False)

    @property
    def address(self) -> str:
        """What links in alerts begin with: the public URL, else where the server is bound."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.public_url or f"http://{host}:{self.port}").rstrip("/")


@asynccontextmanager
async def opened(
    options: Options, *, clock: Clock | None = None, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Starlette]:
    """The application for as long as the block lasts; after it, everything taken in is stored.

    Raises InputError for options that cannot be, StoreError and StoreUnavailable.
    """
    clock = clock or SystemClock()
    async with storing(
        Storing(options.database, options.address, options.windows, options.reach, options.secret),
        clock=clock,
        environment=environment,
    ) as stored:
        yield create_app(
            Services(
                store=stored.store,
                courier=courier(stored.store, stored.telling, clock),
                telling=stored.telling,
                prices=stored.prices,
                buckets=Buckets(clock, options.rate, options.burst),
                clock=clock,
                reach=options.reach,
                door=Door(stored.secret, options.address),
                live=Live(stored.store.alerts, clock),
            )
        )


async def serve(
    options: Options, tell_owner: Callable[[str], object], *, another_owner: bool = False
) -> None:
    """Serve until SIGTERM or Ctrl-C; then take nothing more in, and end once all of it is stored.

    Where the console has no member yet, or ``another_owner`` is wanted, ``tell_owner`` is given the
    one-time link that makes one.
    """
    with listening(options.host, options.port) as bound:
        options = replace(options, port=bound.getsockname()[1])
        async with opened(options) as app:
            server = Ending(app)
            with signals_end_here():
                _log.info("listening on %s, database %s", options.address, described(options.database))
                settle()
                if not await app.state.services.store.projects.list():
                    _log.warning("there is no project yet: `loopwatch keys create NAME` makes one")
                if another_owner or not await app.state.services.store.members.count():
                    tell_owner(await owner_link(app))
                await server.serve(sockets=[bound])
    _log.info("stopped: everything that was answered is stored")


async def owner_link(app: Starlette) -> str:
    """A one-time link that makes an owner of the console."""
    server: Services = app.state.services
    token = await server.store.members.invite("owner", NOBODY, FIRST_LIFETIME)
    return f"{server.telling.public_url}/join/{token}"


class Ending(uvicorn.Server):
    """uvicorn's server: it waits for requests under way before it ends, but must not for live pages."""

    def __init__(self, app: Starlette) -> None:
        super().__init__(configured(app, protocol=connections(room())))
        self._live: Live = app.state.services.live

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the live pages first."""
        self._live.close()
        await super().shutdown(sockets)


def settle() -> None:
    """Have the garbage collector pass over what was loaded, and come less often.

    Price tables and libraries are hundreds of thousands of objects that stay; to go through them again and
    again is a fifth of what a call costs. For a process that does nothing but serve.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


def described(database: str) -> str:
    """A database's address as it may be shown: without the password in it."""
    scheme, _, rest = database.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
