"""What is wrong with a query, where, and what to write instead."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]

SHOWN = 120
"""Characters of a query's line that are shown over a caret."""


class Span(NamedTuple):
    """A piece of the query's text, in code points: from ``start`` up to but not including ``end``."""

    start: int
    end: int

    def to(self, other: "Span") -> "Span":
        """From the start of this one to the end of the other."""
        return Span(self.start, max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong.

    ``expected`` names what may stand there, ``suggestion`` is what was probably meant. An ``error``
    means that the clause was left out of what ran; a ``warning`` that it ran, perhaps not as meant.
    """

    message: str
    span: Span
    expected: tuple[str, ...] = ()
    suggestion: str = ""
    severity: Severity = "error"

    def line(self) -> str:
        """The whole in one line."""
        parts = [self.message]
        if self.expected:
            parts.append(f"expected {' or '.join(self.expected)}")
        if self.suggestion:
            parts.append(f"did you mean {self.suggestion}?")
        return "; ".join(parts)


def caret(text: str, diagnostic: Diagnostic) -> str:
    """The query's line with a caret under what is wrong, then what is wrong: three lines."""
    start, end = diagnostic.span
    first = text.rfind("\n", 0, start) + 1
    line = text[first:].split("\n", 1)[0]
    column = start - first
    left = max(0, min(column - SHOWN // 2, len(line) - SHOWN))
    shown = "".join(char if char.isprintable() else " " for char in line[left : left + SHOWN])
    width = max(1, min(end - start, len(shown) - (column - left)))
    return f"{shown}\n{' ' * (column - left)}{'^' * width}\n{diagnostic.line()}"


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that ``word`` was probably meant to be; empty where none is near."""
    words = {each.lower(): each for each in known}
    found = get_close_matches(word.lower(), words, n=1, cutoff=0.6)
    return words[found[0]] if found else ""
