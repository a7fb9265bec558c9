"""What a terminal is, and how a reply is shown on one and taken back."""

import os
from contextlib import suppress
from typing import TextIO

import click

CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}")
CONTROLS |= {ord("\t"): "\t", ord("\n"): "\n", ord("\r"): ""}
"""A reply must not steer the terminal that it is shown on."""

COLUMNS, LINES = 80, 24
"""The size of a terminal that does not tell it."""

TAB = 8


def is_terminal(stream: TextIO | None) -> bool:
    """Whether ``stream`` is a terminal; a standard stream that was closed at the start is None."""
    return stream is not None and stream.isatty()


def is_erasable(stream: TextIO | None) -> bool:
    """Whether what was written to ``stream`` can be taken back."""
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def one_line(text: str) -> str:
    """Text of whatever origin as a single line that steers no terminal."""
    return text.replace("\n", " ").translate(CONTROLS)


def say(line: str) -> None:
    """A line on standard error. That it cannot be written changes nothing about what has been done."""
    with suppress(OSError):
        click.echo(one_line(line), err=True)


class Screen:
    """Shows a text as it comes on a terminal, and takes it back."""

    def __init__(self, terminal: TextIO) -> None:
        """Begin at the beginning of a line."""
        self._terminal = terminal
        self._shown: list[str] = []

    def show(self, text: str) -> None:
        """More of it."""
        harmless = text.translate(CONTROLS)
        if harmless:
            self._shown.append(harmless)
            self._write(harmless)

    def take_back(self) -> bool:
        """Erase it; whether all of it: what has been scrolled out of sight stays."""
        columns, lines = size(self._terminal)
        taken = rows(self._as_written(), columns)
        up = min(taken, lines) - 1
        self._write("\r" + (f"\x1b[{up}A" if up else "") + "\x1b[J")
        self._shown.clear()
        return taken <= lines

    def end(self) -> None:
        """End its last line."""
        if self._shown and not self._shown[-1].endswith("\n"):
            self._write("\n")
        self._shown.clear()

    def _as_written(self) -> str:
        """The text with what stands in the place of characters that the terminal cannot show."""
        coding = self._terminal.encoding
        return "".join(self._shown).encode(coding, self._terminal.errors or "strict").decode(coding)

    def _write(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()


def size(terminal: TextIO) -> tuple[int, int]:
    """Columns and lines, as they are now: a window may have been resized."""
    try:
        columns, lines = os.get_terminal_size(terminal.fileno())
    except OSError:
        columns, lines = 0, 0
    return columns or COLUMNS, lines or LINES


def rows(text: str, columns: int) -> int:
    """Rows that ``text`` takes up on a terminal so wide; a character that does not fit begins the next."""
    from rich.cells import get_character_cell_size

    row, column = 1, 0
    for character in text:
        if character == "\n":
            row, column = row + 1, 0
        elif character == "\t":
            column = min(columns - 1, (column // TAB + 1) * TAB)
        else:
            width = get_character_cell_size(character)
            if column + width > columns:
                row, column = row + 1, 0
            column += width
    return row
