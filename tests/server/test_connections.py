"""Clients that stall: in the head, in the body, while they are answered; and those who want to work."""

import asyncio
import resource
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from yarl import URL

from loopwatch.server.connections import FILES_KEPT, Allowance, room
from tests.server.house import House, serving

QUICK = Allowance(head=0.5, body=0.5, answer=0.5, rest=0.3, look=0.05)
"""An allowance that a test can wait for."""
PATIENT = Allowance(head=600, body=600, answer=600, rest=600, look=0.05)
"""One that no test does wait for."""


class Line:
    """A bare connection to the server, for saying what no HTTP client would."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def rest(self) -> bytes:
        """All that comes until the server ends the connection."""
        async with asyncio.timeout(60):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""


@asynccontextmanager
async def lines(house: House, number: int = 1) -> AsyncIterator[list[Line]]:
    url = URL(house.url)
    assert url.host is not None
    opened: list[Line] = []
    try:
        for _ in range(number):
            opened += [Line(*await asyncio.open_connection(url.host, url.port))]
        yield opened
    finally:
        for line in opened:
            line.writer.transport.abort()


async def _without_end(line: Line, data: bytes) -> None:
    while True:
        await line.say(data)
        await asyncio.sleep(0.01)


def head(house: House, size: int, *more: str) -> bytes:
    """The head of a call whose body is so long."""
    fields = ("Host: x", f"x-api-key: {house.key}", f"Content-Length: {size}", *more)
    return "\r\n".join(("POST /api/v1/log HTTP/1.1", *fields, "", "")).encode()


@asynccontextmanager
async def quick(tmp_path: Path, allowance: Allowance = QUICK) -> AsyncIterator[House]:
    async with serving(tmp_path / "a.db", allowance=allowance) as house:
        yield house


async def test_hundreds_that_stall_are_let_go_while_others_work(tmp_path: Path) -> None:
    allowance = Allowance(head=8, body=8, look=0.05)
    async with quick(tmp_path, allowance) as house, lines(house, 150) as heads, lines(house, 150) as bodies:
        for line in heads:
            await line.say(b"POST /api/v1/log HTTP/1.1\r\nHost: x\r\nx-slow: ")
        for line in bodies:
            await line.say(head(house, 100) + b'{"userId"')
        assert (await house.log(userId="u1")).status == 202
        said = await asyncio.gather(*(line.rest() for line in (*heads, *bodies)))
        first = [one.partition(b"\r\n")[0] for one in said]
        assert set(first) <= {b"HTTP/1.1 408 Request Timeout", b""}  # b"": reset before it was read
        assert b"HTTP/1.1 408 Request Timeout" in first
        assert (await house.log(userId="u1")).status == 202


async def test_who_has_owed_a_step_for_longest_makes_room(tmp_path: Path) -> None:
    crowded = Allowance(head=600, body=600, answer=600, rest=600, connections=100)
    async with quick(tmp_path, crowded) as house, lines(house, 90) as heads, lines(house, 90) as bodies:
        for line in heads:
            await line.say(b"GET /healthz HTTP/1.1\r\n")
        for line in bodies:
            await line.say(head(house, 100) + b"{")
        for _ in range(5):
            async with lines(house, 20) as silent:
                assert (await house.log(userId="u1")).status == 202
                assert silent


async def test_a_dribble_is_no_progress(tmp_path: Path) -> None:
    async def dribble(line: Line, piece: bytes) -> bytes:
        ended = asyncio.ensure_future(line.rest())
        while not ended.done():
            line.writer.write(piece)
            await asyncio.sleep(0.02)
        return await ended

    async with quick(tmp_path) as house, lines(house, 3) as (one, two, three):
        await one.say(b"GET /healthz HTTP/1.1\r\n")
        await two.say(head(house, 60_000))
        await three.say(
            head(house, 0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"0\r\n"
        )
        pieces = ((one, b"a: b\r\n"), (two, b" "), (three, b"x: y\r\n"))
        said = await asyncio.gather(*(dribble(line, piece) for line, piece in pieces))
        assert [answer.count(b"HTTP/1.1 20") for answer in said] == [0, 0, 0]
        assert (await house.log(userId="u1")).status == 202


async def test_a_body_that_comes_steadily_has_the_time_it_takes(tmp_path: Path) -> None:
    allowance = Allowance(body=1, slowest=50, look=0.05)
    body = b'{"userId": "u1"' + b" " * 1_999 + b"}"
    async with quick(tmp_path, allowance) as house, lines(house) as (line,):
        await line.say(head(house, len(body), "Connection: close"))
        for start in range(0, len(body), 200):
            await line.say(body[start : start + 200])
            await asyncio.sleep(0.15)
        assert (await line.rest()).startswith(b"HTTP/1.1 202")


@pytest.mark.parametrize(
    "endless",
    [
        *(b"GET /" + b"x" * 1_000_000, b"GET / HTTP/1.1\r\nx: " + b"y" * 1_000_000, b"\r\n" * 500_000),
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 200_000,
        b"POST /api/v1/log HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx: "
        + b"y" * 1_000_000,
    ],
)
async def test_a_head_without_end_is_cut(tmp_path: Path, endless: bytes) -> None:
    async with quick(tmp_path, PATIENT) as house, lines(house) as (line,):
        ended = asyncio.ensure_future(line.rest())
        line.writer.write(endless)
        assert b"202" not in await ended
        assert (await house.log(userId="u1")).status == 202


async def test_the_body_of_a_request_that_was_refused_is_not_waited_for(tmp_path: Path) -> None:
    async with quick(tmp_path, Allowance(head=600, body=600, rest=0.2, look=0.05)) as house:
        house.key = "wk_wrong"
        async with lines(house) as (line,):
            await line.say(head(house, 100))
            said = await line.rest()
        assert said.startswith(b"HTTP/1.1 401")
        assert said.count(b"HTTP/1.1") == 1


async def test_who_does_not_read_is_not_written_to_for_ever(tmp_path: Path) -> None:
    ask = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    async with quick(tmp_path) as house, lines(house) as (line,):
        line.reader._transport.pause_reading()  # type: ignore[attr-defined]
        asking = asyncio.ensure_future(_without_end(line, ask * 100))
        with pytest.raises(ConnectionError):
            await asking
        assert (await house.log(userId="u1")).status == 202


async def test_nothing_is_said_to_who_says_nothing(tmp_path: Path) -> None:
    async with quick(tmp_path) as house, lines(house, 2) as (silent, done):
        await done.say(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await silent.rest() == b""
        answer = await done.rest()
        assert answer.startswith(b"HTTP/1.1 200")
        assert answer.count(b"HTTP/1.1") == 1


async def test_requests_in_a_row_are_answered_in_order(tmp_path: Path) -> None:
    async with quick(tmp_path) as house, lines(house) as (line,):
        asks = [b"/healthz", b"/readyz", b"/healthz", b"/nothing"]
        await line.say(b"".join(b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" for path in asks))
        said = await line.rest()
        assert [said.count(b"200 OK"), said.count(b"404 Not Found"), said.count(b"408")] == [3, 1, 0]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of descriptors are Unix's")
def test_connections_leave_descriptors_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    for limits, raised, most in (
        ((1_024, 2_000), (2_000, 2_000), 2_000 - FILES_KEPT),
        ((1_024, resource.RLIM_INFINITY), (4_352, resource.RLIM_INFINITY), 4_096),
        ((64, 64), (64, 64), 1),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        assert room().connections == most
        assert asked.pop() == raised
    monkeypatch.setattr(resource, "getrlimit", lambda _: (100_000, 100_000))
    assert room().connections == 4_096
    assert asked == []
