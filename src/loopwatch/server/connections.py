"""Connections that cannot be held for nothing: who stalls, dribbles or does not read makes room for others.

uvicorn waits for ever for the rest of a request and for an answer to be read; its ``limit_concurrency``
turns everybody away once such connections fill it. Here each step that is the client's to take has a time,
a head has a size, and where connections run out the one that has owed its next step for longest goes.
"""

import resource
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Any, ClassVar, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

FILES_KEPT = 256
"""File descriptors that are left for the database, webhooks and the program itself."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much of a server one connection may take. Times in seconds, sizes in bytes.

    The figures are of the order of nginx's (``client_header_timeout``) and Apache's (``RequestReadTimeout``).
    """

    head: float = 10.0
    """From the connection, or a request's first byte, to the end of its head."""
    body: float = 30.0
    """For the body, and one more second for every ``slowest`` bytes of it that came."""
    slowest: int = 4_096
    answer: float = 30.0
    """For reading an answer, or for leaving once the connection is closed."""
    rest: float = 5.0
    """For what is yet to come of a body that has been answered already, or once the server stops."""
    most_head: int = 65_536
    """Of a head, or of what frames a body's next piece."""
    connections: int = 4_096
    look: float = 1.0
    """How often a connection is looked at."""


class Step(Enum):
    """What a connection is waiting for, and who has to do it."""

    IDLE = "the client's next request, if there is one"
    HEAD = "the rest of a head"
    BODY = "the rest of a body"
    ANSWER = "us"


class Held:
    """The connections of a server that wait for their clients, longest first, in each step."""

    def __init__(self) -> None:
        self.waiting: dict[Step, dict[Connection, None]] = {step: {} for step in Step}

    def move(self, connection: "Connection", before: Step, now: Step) -> None:
        """Note that a connection has gone from one step to another, or begun one anew."""
        self.waiting[before].pop(connection, None)
        self.waiting[now][connection] = None

    def remove(self, connection: "Connection") -> None:
        """Forget a connection that is gone."""
        self.waiting[connection.step].pop(connection, None)

    def evict(self) -> bool:
        """Close the connection that others can spare best; whether there was one."""
        for step in (Step.HEAD, Step.IDLE, Step.BODY):
            for connection in self.waiting[step]:
                connection.refuse(HTTPStatus.REQUEST_TIMEOUT)
                return True
        return False


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with a time for each step that is the client's."""

    allowance: ClassVar[Allowance] = Allowance()
    held: ClassVar[Held]

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.step = Step.HEAD
        self._step_ends: float | None = None
        self._reading_ends: float | None = None
        self._leaving_ends: float | None = None
        self._unframed = 0
        self._stopping = False

    def connection_made(self, transport: Any) -> None:
        """Make room first, then wait for the head."""
        super().connection_made(transport)
        self._look_later()
        if len(self.connections) > self.allowance.connections and not self.held.evict():
            self.refuse(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            self._begin(Step.HEAD, self.allowance.head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is awaited any more."""
        self._looking.cancel()
        self.held.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head or the framing of a body has no end."""
        if self.step is Step.IDLE:
            self._begin(Step.HEAD, self.allowance.head)
        self._unframed += len(data)
        super().data_received(data)
        if self.step in (Step.HEAD, Step.BODY) and self._unframed > self.allowance.most_head:
            self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_message_begin(self) -> None:
        """A request's first byte is there."""
        super().on_message_begin()
        if self.step is not Step.HEAD:
            self._begin(Step.HEAD, self.allowance.head)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head; those that trail a body belong to nobody."""
        if self.step is Step.HEAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        super().on_headers_complete()
        self._unframed = 0
        self._begin(Step.BODY, self.allowance.rest if self._stopping else self.allowance.body)

    def on_body(self, body: bytes) -> None:
        """A piece of the body has come: it earns time, unless nobody wants it any more."""
        super().on_body(body)
        self._unframed = 0
        if self._step_ends is not None and not self._answered:
            self._step_ends += len(body) / self.allowance.slowest

    def on_message_complete(self) -> None:
        """The request is whole; what is next is ours."""
        super().on_message_complete()
        self._unframed = 0
        if self._answered:
            self._begin(Step.IDLE, self.timeout_keep_alive)
        else:
            self._begin(Step.ANSWER, None)

    def on_response_complete(self) -> None:
        """The answer is written; a body that is still coming has little time left."""
        super().on_response_complete()
        if self.step is Step.BODY:
            self._unset_keepalive_if_required()
            self._begin(Step.BODY, self.allowance.rest)
        elif self.step is Step.ANSWER and self._answered:
            self._begin(Step.IDLE, self.timeout_keep_alive)

    def pause_writing(self) -> None:
        """The client does not read what it asked for."""
        super().pause_writing()
        self._reading_ends = self.loop.time() + self.allowance.answer

    def resume_writing(self) -> None:
        """It reads on."""
        super().resume_writing()
        self._reading_ends = None

    def shutdown(self) -> None:
        """The server stops: a request that is still coming has little time left."""
        super().shutdown()
        self._stopping = True
        if self.step in (Step.HEAD, Step.BODY):
            self._begin(self.step, self.allowance.rest)

    def refuse(self, status: HTTPStatus) -> None:
        """Close, with a word on why to a client that is owed an answer and has none of it yet."""
        cycle = self.cycle
        if self.step is Step.HEAD:
            is_owed = self._answered and (self._unframed > 0 or status != HTTPStatus.REQUEST_TIMEOUT)
        else:
            is_owed = not self._answered and not cycle.response_started
        if is_owed:
            self.transport.write(_closing(status))
        if not self._answered:
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.close()
        self._begin(Step.ANSWER, None)

    @property
    def _answered(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)  # uvicorn has it None until the first head
        return cycle is None or cycle.response_complete

    def _begin(self, step: Step, seconds: float | None) -> None:
        self.held.move(self, self.step, step)
        self.step = step
        self._step_ends = None if seconds is None else self.loop.time() + seconds

    def _look_later(self) -> None:
        self._looking = self.loop.call_later(self.allowance.look, self._look)

    def _look(self) -> None:
        """See whether the client has been waited for too long."""
        self._look_later()
        now = self.loop.time()
        if self._leaving_ends is None and self.transport.is_closing():
            self._leaving_ends = now + self.allowance.answer
        if any(ends is not None and now >= ends for ends in (self._leaving_ends, self._reading_ends)):
            self.transport.abort()
        elif self.step is Step.BODY and self.flow.read_paused and self._step_ends is not None:
            self._step_ends += self.allowance.look  # it is we who do not read
        elif self._step_ends is not None and now >= self._step_ends and self._is_due:
            self.refuse(HTTPStatus.REQUEST_TIMEOUT)

    @property
    def _is_due(self) -> bool:
        """Whether the step that is waited for is next: not while the answer before it is being made."""
        return self.step is not Step.HEAD or self._answered


def _closing(status: HTTPStatus) -> bytes:
    """A whole answer that says nothing but its status, and that the connection ends."""
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\n"
    return f"{head}content-length: 0\r\nconnection: close\r\n\r\n".encode()


def connections(allowance: Allowance) -> type[Connection]:
    """The connections of one server."""
    return type("Connection", (Connection,), {"allowance": allowance, "held": Held()})


def room() -> Allowance:
    """As many connections as this process may have open, once it has asked for all that it may ask for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = Allowance().connections
    wanted = most + FILES_KEPT
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return Allowance(connections=max(1, min(most, soft - FILES_KEPT)))
