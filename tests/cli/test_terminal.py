import io
import os
import pty
import struct
import sys
from collections.abc import Iterator
from fcntl import ioctl
from termios import TIOCSWINSZ

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.cli.terminal import CONTROLS, Screen, is_erasable, is_terminal, one_line, rows, size
from tests.cli.emulator import Emulator

WIDE = "\u6f22\u5b57"  # two characters of two columns each
BEFORE = "$ loopwatch chat\r\n"


class Terminal(io.TextIOWrapper):
    """A terminal of a size, with what it shows."""

    def __init__(self, columns: int = 20, lines: int = 5, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, errors="backslashreplace", newline="\n")
        self.emulator = Emulator(columns, lines)
        self.emulator.feed(BEFORE.encode())

    def flush(self) -> None:
        super().flush()
        if not self.closed and isinstance(self.buffer, io.BytesIO):
            written = self.buffer.getvalue().replace(b"\n", b"\r\n")  # as the system's driver does
            self.emulator.feed(written)
            self.buffer.seek(0)
            self.buffer.truncate()


@pytest.fixture
def sized(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(terminal: Terminal) -> tuple[int, int]:
        return terminal.emulator.columns, terminal.emulator.rows

    monkeypatch.setattr("loopwatch.cli.terminal.size", told)


pytestmark = pytest.mark.usefixtures("sized")


# What is taken back.


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one",
        "one\ntwo",
        "one\ntwo\n",
        "\n",
        "a" * 19,
        "a" * 20,
        "a" * 21,
        "a" * 40 + "\n",
        WIDE * 5,
        "a" + WIDE * 5,
        "a" + WIDE * 5 + "b",
        "a\tb\tc\td",
        WIDE + "\t" + "a" * 12,
        "e\u0301" * 20,
        "one\r\ntwo",
        "\x1b[10;10Hx\x07\x9b2J",
    ],
    ids=repr,
)
def test_what_was_shown_is_taken_back(text: str) -> None:
    terminal = Terminal()
    screen = Screen(terminal)
    for character in text:
        screen.show(character)
    assert screen.take_back()
    assert terminal.emulator.lines == ["$ loopwatch chat"]
    assert terminal.emulator.cursor == (1, 0)
    assert not terminal.emulator.strange


ODD = st.sampled_from(
    ["a", "b", " ", "\n", "\t", "\r", "\u6f22", "\u0301", "\U0001f600", "\x1b", "\x9b", "\x07"]
)


@given(text=st.text(ODD, max_size=80), columns=st.integers(2, 12))
def test_any_text_is_taken_back_and_never_more(text: str, columns: int) -> None:
    terminal = Terminal(columns, 100)
    before = terminal.emulator.cursor
    screen = Screen(terminal)
    screen.show(text)
    assert terminal.emulator.cursor[0] - before[0] == rows(text.translate(CONTROLS), columns) - 1
    screen.take_back()
    assert terminal.emulator.cursor == before


def test_of_more_than_the_terminal_has_rows_the_visible_part_is_taken_back() -> None:
    terminal = Terminal(lines=4)
    screen = Screen(terminal)
    screen.show("one\ntwo\nthree\nfour\nfive\nsix")
    assert terminal.emulator.lines == ["three", "four", "five", "six"]
    assert not screen.take_back()
    assert terminal.emulator.lines == []
    assert terminal.emulator.above == ["$ loopwatch chat", "one", "two"]
    screen.show("again")
    assert terminal.emulator.lines == ["again"]


def test_a_text_that_fills_the_terminal_is_taken_back_whole() -> None:
    terminal = Terminal(lines=4)
    screen = Screen(terminal)
    screen.show("one\ntwo\nthree\nfour")
    assert screen.take_back()
    assert terminal.emulator.above == ["$ loopwatch chat"]


def test_after_a_window_was_resized_its_new_width_counts() -> None:
    terminal = Terminal(columns=20)
    screen = Screen(terminal)
    screen.show("a" * 35)
    terminal.emulator = Emulator(10, 5)  # it breaks its lines anew
    terminal.emulator.feed(b"$ chat\r\n" + b"a" * 35)
    screen.take_back()
    assert terminal.emulator.lines == ["$ chat"]


def test_characters_that_the_terminal_cannot_show_are_counted_as_they_are_written() -> None:
    terminal = Terminal(encoding="latin-1")
    screen = Screen(terminal)
    screen.show(WIDE * 2)  # \u6f22 and so on, six columns each
    assert terminal.emulator.lines[1:] == ["\\u6f22\\u5b57\\u6f22\\u", "5b57"]
    screen.take_back()
    assert terminal.emulator.lines == ["$ loopwatch chat"]


@pytest.mark.parametrize(("text", "row"), [("one", 2), ("one\n", 2), ("", 1), ("a" * 20, 2)])
def test_the_last_line_is_ended_once(text: str, row: int) -> None:
    terminal = Terminal()
    screen = Screen(terminal)
    screen.show(text)
    screen.end()
    screen.end()
    assert terminal.emulator.cursor == (row, 0)


# What a terminal is.


@pytest.fixture
def real() -> Iterator[int]:
    outside, inside = pty.openpty()
    yield inside
    os.close(outside)
    os.close(inside)


def test_a_terminal_tells_its_size(real: int) -> None:
    with os.fdopen(os.dup(real), "w") as terminal:
        assert size(terminal) == (80, 24), "it does not know"
        ioctl(real, TIOCSWINSZ, struct.pack("HHHH", 7, 30, 0, 0))
        assert size(terminal) == (30, 7)
    with open(os.devnull, "w", encoding="utf-8") as none:  # noqa: PTH123  as sys.stdout may be
        assert size(none) == (80, 24)


def test_what_is_erasable(real: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(os.dup(real), "w") as terminal:
        assert is_erasable(terminal)
        monkeypatch.setenv("TERM", "dumb")
        assert is_terminal(terminal)
        assert not is_erasable(terminal)
    assert not is_erasable(io.StringIO())
    assert not is_erasable(None)
    assert not is_terminal(None if sys.stdin is None else io.StringIO())


def test_a_line_of_any_origin_is_one_line_and_harmless() -> None:
    assert one_line("a\nb\r\n\x1b[2J\x9bc\t\u20ac") == "a b \ufffd[2J\ufffdc\t\u20ac"
