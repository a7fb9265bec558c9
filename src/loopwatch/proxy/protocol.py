"""uvicorn's protocol with limits that it leaves to others: how large a head may be, and how slow."""

import asyncio
import logging
from http import HTTPStatus

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from loopwatch.proxy.dialects.errors import error_document

HEAD_SECONDS = 30.0
"""How long a request's head may take, from the connection or its first byte on."""
KEPT_SECONDS = 75
"""How long an idle connection is kept: longer than clients keep theirs, so that they close first."""
UNFINISHED = "ASGI callable returned without completing response"
"""How uvicorn complains of a stream that we break on purpose: what broke it has been logged."""


class TooLarge(Exception):
    """A head that is."""


class PatientProtocol(HttpToolsProtocol):
    """HTTP/1.1 with a client that may be hostile."""

    max_header = 65_536
    url = b""
    _head = 0
    _size = 0  # of the fields of the head, as far as they are known
    _in_head = False
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what has no end yet."""
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head += len(data)
            if self._head > self.max_header:
                self._answer(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, self._too_large)
            elif self._timer is None:
                self._wait()

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._in_head = True
        self._head = self._size = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a field."""
        self._size += len(name) + len(value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """A head is complete. Raises TooLarge, which ends the connection."""
        self._in_head = False
        self._head = 0
        self._stop()
        self._size += len(self.url)
        if self._size > self.max_header:
            raise TooLarge
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or too much of it, in words that clients can show."""
        del msg
        if self._size > self.max_header:
            self._answer(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, self._too_large)
        else:
            self._answer(
                HTTPStatus.BAD_REQUEST, "this is no HTTP/1.1 request: is it https:// to an http:// port?"
            )

    @property
    def _too_large(self) -> str:
        return f"the request's headers have more than {self.max_header} bytes: send less"

    def _unsupported_upgrade_warning(self) -> None:
        """The answer says it."""

    def _wait(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self._expire)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        self._timer = None
        if self._head:
            reason = f"the request's head did not come within {HEAD_SECONDS:g} s"
            self._answer(HTTPStatus.REQUEST_TIMEOUT, reason)
        else:
            self.transport.close()

    def _answer(self, status: HTTPStatus, reason: str) -> None:
        body = msgspec.json.encode(error_document("openai", status, f"loopwatch proxy: {reason}"))
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(
            body
        )
        self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.close()


def limited(max_header: int) -> type[PatientProtocol]:
    """The protocol with heads of at most so many bytes."""
    return type("LimitedProtocol", (PatientProtocol,), {"max_header": max_header})


class Silence(logging.Filter):
    """Keeps uvicorn from saying again what we have said."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is news."""
        return not str(record.msg).startswith(UNFINISHED)
