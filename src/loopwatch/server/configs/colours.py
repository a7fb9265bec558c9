"""A document as it is shown beside the editor: its lines, and what each piece of them is."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_PIECE = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=:)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>-?\d[\d.eE+-]*)|(?P<word>true|false|null)'
)


class Line(NamedTuple):
    """One line: its number, its pieces (what each is, and its text), and what is wrong there."""

    number: int
    pieces: tuple[tuple[str, str], ...]
    remark: str = ""


def lines(text: str, remarks: Mapping[int, str]) -> list[Line]:
    """The lines of a JSON text that this program wrote; ``remarks`` are by line, from 1."""
    return [
        Line(number, tuple(_pieces(line)), remarks.get(number, ""))
        for number, line in enumerate(text.split("\n"), 1)
    ]


def _pieces(line: str) -> Iterator[tuple[str, str]]:
    at = 0
    for found in _PIECE.finditer(line):
        if found.start() > at:
            yield "", line[at : found.start()]
        yield found.lastgroup or "", found.group()
        at = found.end()
    if at < len(line):
        yield "", line[at:]
