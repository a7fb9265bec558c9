"""A terminal, as far as it is needed to see what somebody in front of it sees."""

import codecs
import re
import unicodedata

CONTROL = re.compile(r"\x1b\[(\d*)([A-Za-z])")


def width(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200b\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Emulator:
    """Feed it what is written; ``lines`` is what it shows, ``above`` what has scrolled out of sight."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self.above: list[str] = []
        self.strange: list[str] = []
        self._grid = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._rest = ""

    @property
    def lines(self) -> list[str]:
        shown = ["".join(row).rstrip() for row in self._grid]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    @property
    def cursor(self) -> tuple[int, int]:
        return self._row, self._column

    def feed(self, data: bytes) -> None:
        text = self._rest + self._decoder.decode(data)
        self._rest = ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = CONTROL.match(text, at)
                if found is None and len(text) - at < 6:
                    self._rest = text[at:]
                    return
                if found is not None:
                    self._obey(int(found[1] or 1), found[2])
                    at = found.end()
                    continue
            self._put(text[at])
            at += 1

    def _obey(self, number: int, what: str) -> None:
        if what == "A":
            self._row = max(0, self._row - number)
        elif what in "JK":
            self._grid[self._row][self._column :] = [" "] * (self.columns - self._column)
            if what == "J":
                for row in range(self._row + 1, self.rows):
                    self._grid[row] = [" "] * self.columns
        else:
            self.strange.append(f"\\e[{number}{what}")

    def _put(self, character: str) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._down()
        elif character == "\t":
            self._column = min(self.columns - 1, self._column // 8 * 8 + 8)
        elif unicodedata.category(character) == "Cc":
            self.strange.append(character)
        else:
            self._write(character)

    def _write(self, character: str) -> None:
        cells = width(character)
        if self._column + cells > self.columns:
            self._column = 0
            self._down()
        if cells == 0:
            return
        self._grid[self._row][self._column : self._column + cells] = [character, *[""] * (cells - 1)]
        self._column += cells

    def _down(self) -> None:
        if self._row < self.rows - 1:
            self._row += 1
            return
        self.above.append("".join(self._grid.pop(0)).rstrip())
        self._grid.append([" "] * self.columns)
