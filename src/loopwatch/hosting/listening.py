"""Listening: a socket bound before anything else is done, and uvicorn on it until it is told to stop."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from loopwatch.errors import LoopwatchError

GRACE = 30
"""Seconds that requests under way have to end once the server is to stop."""


def listening(host: str, port: int) -> socket.socket:
    """The socket, bound before anything else is done: a second server must not touch the database."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2_048)
    except OSError as error:
        is_name = isinstance(error, socket.gaierror) or (error.errno or 0) <= 0  # not the system's numbers
        reason = "no such address" if is_name else os.strerror(error.errno or 0)
        raise LoopwatchError(
            f"{host}:{port} cannot be listened on ({reason}): choose another --host or --port"
        ) from None


def configured(
    app: ASGIApp, *, protocol: type[asyncio.Protocol], keep_alive: int = 5, dated: bool = True
) -> uvicorn.Config:
    """How uvicorn is to serve ``app``: by our ``protocol`` over httptools, and with no voice of its own.

    Idle connections are kept for ``keep_alive`` seconds; answers have a date where they are ``dated``.
    """
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=dated,
        timeout_keep_alive=keep_alive,
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
