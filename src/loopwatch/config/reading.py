"""JSON as people write it: with comments, trailing commas and a byte-order mark.

The seed's own snippet has both kinds of comment and trailing commas. Everything else is JSON to the
letter. Where each value begins is kept, so that a defect can name its line. Two things are noted and
left to be judged with the rest of the document, because the document can be read in spite of them:
keys that come twice, and numbers that are none (NaN, Infinity, 1e400).
"""

import json
import math
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any, NoReturn

from loopwatch.config.defects import Defect, Path, printable
from loopwatch.errors import ConfigError

MOST_BYTES = 1_048_576
"""Largest document that is read: far beyond any that is written, small enough to hold and judge."""
MOST_VALUES = 10_000
"""Most values that are read, the members of every list and object counted; a document has some hundred."""
MOST_DEPTH = 100
"""Deepest nesting that is read; a document needs seven levels."""

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[-+.\w]+", re.ASCII)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WHOLE = re.compile(r"-?[0-9]+")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_LITERALS = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": math.nan,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
}
_STRINGS = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Source:
    """A document that was read: its value, and what is needed to speak about its text."""

    value: Any
    lines: list[int]
    """The offset at which each line begins."""
    marks: dict[Path, int] = field(default_factory=dict)
    """The offset at which each value begins."""
    duplicates: dict[Path, None] = field(default_factory=dict)
    """Each key that comes more than once in its object."""
    endless: list[Path] = field(default_factory=list)
    """Each number that is not finite."""

    def mark(self, path: Path) -> int:
        """Where the value at ``path`` begins; where there is none, the innermost object that lacks it."""
        while path not in self.marks:
            path = path[:-1]
        return self.marks[path]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        return _place(self.lines, offset)


def read(data: bytes | str) -> Source:
    """Read a document. Raises ConfigError, with a line and a column, for what is not JSON."""
    if len(data) > MOST_BYTES:
        raise ConfigError([Defect(f"the document is larger than {MOST_BYTES} bytes")])
    text = data if isinstance(data, str) else _decoded(data)
    return _Reader(text.removeprefix("\N{BYTE ORDER MARK}")).source()


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        line, column = _place(_line_starts(before), len(before))
    raise ConfigError([Defect("this is not UTF-8 text", line=line, column=column)])


def _line_starts(text: str) -> list[int]:
    return [0, *(newline.end() for newline in _NEWLINE.finditer(text))]


def _place(lines: list[int], offset: int) -> tuple[int, int]:
    line = bisect_right(lines, offset)
    return line, offset - lines[line - 1] + 1


def is_number(text: str) -> bool:
    """Whether a text is a number of JSON, to the letter."""
    return _NUMBER.fullmatch(text) is not None


class _Reader:
    """Takes one text apart, from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.values = 0
        self.result = Source(None, _line_starts(text))

    def source(self) -> Source:
        value = self.value(())
        if self.peek():
            self.fail("nothing more is expected after the document")
        result = self.result
        return Source(value, result.lines, result.marks, result.duplicates, result.endless)

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        line, column = self.result.place(self.at if at is None else at)
        raise ConfigError([Defect(reason, line=line, column=column)])

    def expected(self, what: str) -> NoReturn:
        char = self.peek()
        self.fail(f"expected {what}, found {f'`{printable(char)}`' if char else 'the end of the document'}")

    def peek(self) -> str:
        """The next character that is neither blank nor comment; "" at the end."""
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at
        if self.text.startswith("/*", self.at):
            self.fail("this comment is never closed: end it with */")
        return self.text[self.at : self.at + 1]

    def value(self, path: Path) -> Any:
        char = self.peek()
        if len(path) > MOST_DEPTH:
            self.fail(f"nested deeper than {MOST_DEPTH} levels")
        self.values += 1
        if self.values > MOST_VALUES:
            self.fail(f"the document holds more than {MOST_VALUES} values")
        self.result.marks[path] = self.at
        if char == "{":
            return self.object(path)
        if char == "[":
            return self.array(path)
        if char == '"':
            return self.string()
        word = _WORD.match(self.text, self.at)
        if word is None:
            self.expected("a value")
        value = self.word(word.group())
        self.at = word.end()
        if isinstance(value, float) and not math.isfinite(value):
            self.result.endless.append(path)
        return value

    def word(self, word: str) -> Any:
        if word in _LITERALS:
            return _LITERALS[word]
        if not is_number(word):
            self.fail("expected a value: a number, true, false or null, or text in double quotes")
        if _WHOLE.fullmatch(word):
            try:
                return int(word)
            except ValueError:  # too many digits for Python, and for everyone
                return math.copysign(math.inf, -1 if word.startswith("-") else 1)
        return float(word)

    def object(self, path: Path) -> dict[str, Any]:
        members: dict[str, Any] = {}
        self.at += 1
        while self.peek() != "}":
            if self.peek() != '"':
                self.expected("a key in double quotes, or }")
            key = self.string()
            if key in members:
                self.result.duplicates[*path, key] = None
            if self.peek() != ":":
                self.expected("a colon after the key")
            self.at += 1
            members[key] = self.value((*path, key))
            self.comma("}")
        self.at += 1
        return members

    def array(self, path: Path) -> list[Any]:
        items: list[Any] = []
        self.at += 1
        while self.peek() != "]":
            items.append(self.value((*path, len(items))))
            self.comma("]")
        self.at += 1
        return items

    def comma(self, closing: str) -> None:
        """Step over the comma that follows a member; before the closing bracket it may be missing."""
        char = self.peek()
        if char == ",":
            self.at += 1
        elif char != closing:
            self.expected(f"a comma or {closing}")

    def string(self) -> str:
        begin = self.at
        try:
            text, self.at = _STRINGS.raw_decode(self.text, begin)
        except json.JSONDecodeError as error:
            if error.msg.startswith("Unterminated"):
                self.fail("this text is never closed: end it with a double quote", begin)
            if error.msg.startswith("Invalid control"):
                self.fail('text may not hold a line break or tab: write it as "\\n" or "\\t"', error.pos)
            self.fail('a backslash must be followed by one of " \\ / b f n r t or by uXXXX', error.pos)
        try:
            text.encode()
        except UnicodeEncodeError:
            self.fail("this text holds half of a surrogate pair, which is no character", begin)
        return str(text)
