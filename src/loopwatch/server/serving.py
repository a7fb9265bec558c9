"""A server from its options: opened, served until it is told to stop, closed with nothing lost."""

import gc
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from loopwatch.alerts.channels.email.mailer import mailer_from
from loopwatch.alerts.channels.registry import Kit
from loopwatch.alerts.links import BlockLinks
from loopwatch.alerts.posting import Poster
from loopwatch.alerts.rules import crossing
from loopwatch.clock import Clock, SystemClock
from loopwatch.config.project import ProjectSettings
from loopwatch.config.reach import Reach
from loopwatch.errors import LoopwatchError
from loopwatch.records.alert import Alert
from loopwatch.records.delivery import Draft
from loopwatch.server.app import create_app
from loopwatch.server.buckets import BURST, RATE, Buckets
from loopwatch.server.connections import Allowance, connections, room
from loopwatch.server.live import Live
from loopwatch.server.prices import Prices
from loopwatch.server.services import Services, Telling, courier
from loopwatch.server.signin.visitors import Door
from loopwatch.store.members import FIRST_LIFETIME, NOBODY
from loopwatch.store.opening import open_store

GARBAGE = (20_000, 20, 20)
"""Objects made before the collector looks at them, and looks before it goes further back."""
GRACE = 30
"""Seconds that requests under way have to end once the server is to stop."""

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
    if options.secret:
        BlockLinks(options.secret, options.address)  # one that is too short is refused before all else
    async with Poster(options.reach, clock=clock) as poster:
        mailer = mailer_from(os.environ if environment is None else environment, poster, clock)
        kit, prices = Kit(poster, mailer, clock), Prices()
        telling = Telling(kit, options.address)

        def compose(alert: Alert, settings: ProjectSettings) -> Sequence[Draft]:
            return telling.compose(alert, settings)  # as it is below: no alert comes before

        async with open_store(
            options.database,
            clock,
            price=prices.cost,
            rules=crossing,
            compose=compose,
            windows=options.windows,
        ) as store:
            secret = options.secret or await store.secrets.signing()
            telling = Telling(kit, options.address, BlockLinks(secret, options.address))
            yield create_app(
                Services(
                    store=store,
                    courier=courier(store, telling, clock),
                    telling=telling,
                    prices=prices,
                    buckets=Buckets(clock, options.rate, options.burst),
                    clock=clock,
                    reach=options.reach,
                    door=Door(secret, options.address),
                    live=Live(store.alerts, clock),
                )
            )


async def serve(
    options: Options, tell_owner: Callable[[str], object], *, another_owner: bool = False
) -> None:
    """Serve until SIGTERM or Ctrl-C; then take nothing more in, and end once all of it is stored.

    Where the console has no member yet, or ``another_owner`` is wanted, ``tell_owner`` is given the
    one-time link that makes one.
    """
    with listening(options) as bound:
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
        super().__init__(configured(app, room()))
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


def listening(options: Options) -> socket.socket:
    """The socket, bound before anything else is done: a second server must not touch the database."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        return socket.create_server((options.host, options.port), family=family, backlog=2_048)
    except OSError as error:
        is_name = isinstance(error, socket.gaierror) or (error.errno or 0) <= 0  # not the system's numbers
        reason = "no such address" if is_name else os.strerror(error.errno or 0)
        raise LoopwatchError(
            f"{options.host}:{options.port} cannot be listened on ({reason}): choose another --host or --port"
        ) from None


def configured(app: ASGIApp, allowance: Allowance) -> uvicorn.Config:
    """How uvicorn serves an application of ours."""
    return uvicorn.Config(
        app,
        http=connections(allowance),
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )


@contextmanager
def signals_end_here() -> Iterator[None]:
    """A signal that has ended the server has done its work: uvicorn raises it anew for others, in vain."""

    def ignore(number: int, frame: FrameType | None) -> None:
        del number, frame

    before = {number: signal.signal(number, ignore) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
