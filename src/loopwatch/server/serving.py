"""A server from its options: opened, served until it is told to stop, closed with nothing lost."""

import gc
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
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
from loopwatch.config.reach import Reach
from loopwatch.errors import LoopwatchError
from loopwatch.server.app import create_app
from loopwatch.server.buckets import BURST, RATE, Buckets
from loopwatch.server.connections import Allowance, connections, room
from loopwatch.server.prices import Prices
from loopwatch.server.services import Services, Telling, courier
from loopwatch.store.opening import open_store

GARBAGE = (20_000, 20, 20)
"""Objects made before the collector looks at them, and looks before it goes further back."""
GRACE = 30
"""Seconds that requests under way have to end once the server is to stop."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    """What a server is started with. ``rate`` is in requests a second for each key.

    ``secret`` signs the links in alerts; the servers of one database share it. Empty: no such links.
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
    async with Poster(options.reach, clock=clock) as poster:
        mailer = mailer_from(os.environ if environment is None else environment, poster, clock)
        links = BlockLinks(options.secret, options.address) if options.secret else None
        telling = Telling(Kit(poster, mailer, clock), options.address, links)
        prices = Prices()
        async with open_store(
            options.database,
            clock,
            price=prices.cost,
            rules=crossing,
            compose=telling.compose,
            windows=options.windows,
        ) as store:
            buckets = Buckets(clock, options.rate, options.burst)
            delivering = courier(store, telling, clock)
            yield create_app(Services(store, delivering, telling, prices, buckets, clock, options.reach))


async def serve(options: Options) -> None:
    """Serve until SIGTERM or Ctrl-C; then take nothing more in, and end once all of it is stored."""
    with _listening(options) as bound:
        options = replace(options, port=bound.getsockname()[1])
        async with opened(options) as app:
            server = uvicorn.Server(configured(app, room()))
            with _signals_end_here():
                _log.info("listening on %s, database %s", options.address, described(options.database))
                settle()
                if not await app.state.services.store.projects.list():
                    _log.warning("there is no project yet: `loopwatch keys create NAME` makes one")
                await server.serve(sockets=[bound])
    _log.info("stopped: everything that was answered is stored")


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


def _listening(options: Options) -> socket.socket:
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
def _signals_end_here() -> Iterator[None]:
    """A signal that has ended the server has done its work: uvicorn raises it anew for others, in vain."""

    def ignore(number: int, frame: FrameType | None) -> None:
        del number, frame

    before = {number: signal.signal(number, ignore) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
