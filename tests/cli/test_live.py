import asyncio
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from loopwatch.cli.waiting import Waiting
from loopwatch.testing.answers import Answer, answer, hanging, looping, status
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import Done, Finish, Hang, Pause, Say, Think
from tests.cli.chatting import CHAT, LOOP, USAGE, environment
from tests.cli.emulator import Emulator

BILL = "12 input and 34 output tokens; cost unknown"
WIDE = "\u6f22\u5b57\u3092\u8aad\u3080 "


class Session:
    """A program on a terminal: what it shows now, and the text of all that it ever wrote."""

    def __init__(self, running: asyncio.subprocess.Process, outside: int, emulator: Emulator) -> None:
        self.running = running
        self.emulator = emulator
        self.written = b""
        self._outside = outside
        self._changed = asyncio.Event()
        asyncio.get_running_loop().add_reader(outside, self._read)

    @property
    def text(self) -> str:
        """What stands on the screen, its rows joined as they are."""
        return "\n".join(self.emulator.lines)

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.text)

    async def ended(self) -> int:
        async with asyncio.timeout(20):
            code = await self.running.wait()
        self._read()
        return code

    def _read(self) -> None:
        with suppress(OSError):  # how Linux says that the other side has gone
            while data := os.read(self._outside, 65_536):
                self.written += data
                self.emulator.feed(data)
                self._changed.set()


@asynccontextmanager
async def on_a_terminal(
    *answers: Answer,
    args: tuple[str, ...] = (),
    columns: int = 40,
    rows: int = 20,
    term: str = "xterm",
    err: int | None = None,
) -> AsyncIterator[Session]:
    """Chat with a provider that gives these answers, on a terminal that already shows a line."""
    outside, inside = pty.openpty()
    os.set_blocking(outside, False)
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    async with scripted_provider(*answers) as provider:
        running = await asyncio.create_subprocess_exec(
            *CHAT,
            *("--base-url", provider.base_url, *args, "Hello"),
            stdin=inside,
            stdout=inside,
            stderr=inside if err is None else err,
            env=environment({"TERM": term}),
        )
        os.close(inside)
        emulator = Emulator(columns, rows)
        emulator.feed(b"$ loopwatch chat\r\n")
        session = Session(running, outside, emulator)
        try:
            yield session
        finally:
            with suppress(ProcessLookupError):
                running.kill()
            await running.wait()
            asyncio.get_running_loop().remove_reader(outside)
            os.close(outside)
        await provider.disconnected()


def unwrapped(session: Session) -> str:
    """The screen and what is above it, in one line."""
    return "".join([*session.emulator.above, *session.emulator.lines])


# A reply as it comes.


async def test_a_terminal_shows_the_reply_as_it_comes() -> None:
    reply = Answer([Say("Hello "), Pause(0.5), Say("there."), Finish(), Done()])
    async with on_a_terminal(reply) as session:
        await session.shows("Hello")
        assert "there" not in session.text
        assert await session.ended() == 0
    assert session.emulator.lines[:2] == ["$ loopwatch chat", "Hello there."]
    assert session.emulator.lines[2].startswith("loopwatch: 1 attempt; ")


@pytest.mark.parametrize("end", ["", "\n"], ids=["open", "ended"])
async def test_the_bill_stands_below_the_reply_without_a_gap(end: str) -> None:
    reply = answer("Hello" + end, usage=USAGE)
    async with on_a_terminal(reply, columns=100) as session:
        assert await session.ended() == 0
    assert session.emulator.lines == ["$ loopwatch chat", "Hello", f"loopwatch: 1 attempt; {BILL}"]


@pytest.mark.parametrize("term", ["xterm", "dumb"])
async def test_a_reply_cannot_steer_the_terminal(term: str) -> None:
    hostile = answer("a\x1b[2Jb\x1b]0;title\x07c\x9b1;1Hd\x08\x7f\r\ne\tf", usage=USAGE)
    async with on_a_terminal(hostile, columns=100, term=term) as session:
        assert await session.ended() == 0
    shown = "a\ufffd[2Jb\ufffd]0;title\ufffdc\ufffd1;1Hd\ufffd\ufffd"
    assert session.emulator.lines[1:3] == [shown, "e       f"]
    assert not session.emulator.strange


# Attempts that come to nothing.


@pytest.mark.parametrize(
    ("beginning", "rows"),
    [("Well, ", 40), ("One\n\nTwo\n" + "long " * 30, 60), (WIDE * 20, 60), ("\t\u6f22\n" * 5, 60)],
    ids=["short", "long lines", "wide", "tabs"],
)
async def test_a_discarded_attempt_is_taken_back(beginning: str, rows: int) -> None:
    looped = looping(LOOP, beginning=beginning, delay=0.0005)
    async with on_a_terminal(looped, answer("Sound.", usage=USAGE), columns=41, rows=rows) as session:
        await session.shows(LOOP.strip())
        await session.until(lambda: "failed" in session.text)
        assert LOOP.strip() not in session.text
        assert await session.ended() == 0
    assert session.emulator.above == []
    assert session.emulator.lines[0] == "$ loopwatch chat"
    assert session.emulator.lines[1].startswith("loopwatch: attempt 1 of 11 failed: model")
    assert "Sound." in session.emulator.lines
    assert "looping model response" in unwrapped(session)


async def test_what_has_scrolled_out_of_sight_is_said_to_stand_there() -> None:
    async with on_a_terminal(looping(LOOP), answer("Sound.", usage=USAGE), columns=40, rows=10) as session:
        assert await session.ended() == 0
    everything = unwrapped(session)
    assert "the beginning of the discarded attempt has scrolled out of sight" in everything
    assert everything.index(LOOP.strip()) < everything.index("scrolled") < everything.index("Sound.")
    assert LOOP.strip() not in everything[everything.index("scrolled") :]


async def test_a_terminal_on_which_nothing_can_be_taken_back_shows_the_accepted_reply_alone() -> None:
    async with on_a_terminal(
        looping(LOOP), answer("Sound.", usage=USAGE), columns=100, term="dumb"
    ) as session:
        assert await session.ended() == 0
    assert LOOP.encode() not in session.written
    assert b"\x1b" not in session.written
    assert "Sound." in session.emulator.lines


async def test_the_last_loop_is_taken_back_too() -> None:
    async with on_a_terminal(looping(LOOP), args=("--retries", "0"), rows=50) as session:
        assert await session.ended() == 3
    assert session.emulator.lines[0] == "$ loopwatch chat"
    assert session.emulator.lines[1].startswith("loopwatch: model looped every attempt:")


async def test_what_came_before_a_failure_stays() -> None:
    async with on_a_terminal(hanging("Hello there"), args=("--retries", "0", "--idle", "0.3")) as session:
        assert await session.ended() == 1
    assert session.emulator.lines[1] == "Hello there"
    assert session.emulator.lines[2].startswith("loopwatch: the model was asked once")


# Whoever waits is told for what.


async def test_a_terminal_says_that_the_model_is_thinking() -> None:
    slow = Answer([Pause(1.3), Think("Hm."), Pause(1.2), Say("Hello."), Finish(), Done()])
    async with on_a_terminal(slow) as session:
        await session.shows("waiting for the model, 1 s")
        await session.shows("the model is thinking, 2 s")
        await session.shows("Hello.")
        assert "thinking" not in session.text
        assert await session.ended() == 0
    assert session.emulator.lines[:2] == ["$ loopwatch chat", "Hello."]


async def test_whoever_sends_the_reply_elsewhere_is_told_on_standard_error() -> None:
    slow = Answer([Say("Hello."), Pause(1.5), Finish(), Done()])
    outside, inside = pty.openpty()
    async with scripted_provider(slow) as provider:
        running = await asyncio.create_subprocess_exec(
            *CHAT,
            *("--base-url", provider.base_url, "Hello"),
            stdout=subprocess.PIPE,
            stderr=inside,
            env=environment({"TERM": "xterm"}),
        )
        os.close(inside)
        out, _ = await running.communicate()
    said = os.read(outside, 4_096)
    os.close(outside)
    assert (running.returncode, out) == (0, b"Hello.\n")
    assert said.startswith(b"\rthe model is answering, 1 s\x1b[K\r\x1b[Kloopwatch: 1 attempt; ")


async def test_nothing_is_said_where_standard_error_is_no_terminal() -> None:
    slow = Answer([Pause(1.2), Say("Hello."), Finish(), Done()])
    reading, writing = os.pipe()
    async with on_a_terminal(slow, err=writing) as session:
        os.close(writing)
        assert await session.ended() == 0
    with os.fdopen(reading) as err:
        assert re.fullmatch(r"loopwatch: 1 attempt; .*\n", err.read())
    assert session.emulator.lines == ["$ loopwatch chat", "Hello."]


async def test_a_narrow_terminal_keeps_the_line_in_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopwatch.cli.waiting.STEP", 0.01)
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 5, 10, 0, 0))
    with os.fdopen(inside, "w") as terminal:
        waiting = Waiting(terminal)
        waiting.begin("waiting for the model")
        await asyncio.sleep(0.1)
        waiting.end()
        waiting.end()
    assert os.read(outside, 4_096).startswith(b"\rwaiting f\x1b[K")
    os.close(outside)


# Ctrl-C.


@pytest.mark.parametrize(
    ("reply", "shown", "left"),
    [
        (hanging("Hello there"), "Hello there", ["Hello there"]),
        (Answer([Hang()]), "waiting for the model, 1 s", []),
        (status(503, retry_after=60), "waiting for the model, 1 s", ["loopwatch: attempt 1 of 11 failed"]),
    ],
    ids=["midway", "waiting", "between attempts"],
)
async def test_ctrl_c_leaves_the_terminal_in_order(reply: Answer, shown: str, left: list[str]) -> None:
    async with on_a_terminal(reply, columns=150) as session:
        await session.shows(shown)
        session.running.send_signal(signal.SIGINT)
        assert await session.ended() == 130
    first, *rest = session.emulator.lines
    assert first == "$ loopwatch chat"
    assert [line[: len(begins)] for line, begins in zip(rest, left, strict=True)] == left
    assert session.emulator.cursor[1] == 0
