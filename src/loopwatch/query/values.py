"""What a document holds, and how two values compare.

A document is flat: field names with dots, each a boolean, a number or a string. Numbers are doubles, as
in JSON; dates are milliseconds since 1970 in UTC; what is not there is absent, never zero.
"""

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import TypeVar

T = TypeVar("T")
Value = bool | float | str
Document = Mapping[str, Value]

PLAIN = 10**15
"""Whole numbers below this are written without a decimal point or an exponent."""

WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space, which a number in a string may stand in. U+FEFF is not of it."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_RANKS: dict[type, int] = {bool: 0, float: 1, str: 2}


def stored(value: object) -> Value | None:
    """``value`` as a document holds it; None for null, lists and numbers that are not finite."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number + 0.0 if isfinite(number) else None  # + 0.0: there is one zero
    return None


def parsed(text: str) -> float | None:
    """The finite number that ``text`` is, white space around it aside."""
    trimmed = text.strip(WHITE_SPACE)
    if not _NUMBER.fullmatch(trimmed):
        return None
    number = float(trimmed)
    return number + 0.0 if isfinite(number) else None


def number(value: Value) -> float | None:
    """What a stored value counts as in arithmetic: a boolean 1 or 0, a string nothing."""
    return None if isinstance(value, str) else float(value)


def rendered(value: Value) -> str:
    """A value as text: what globs see and what stands in a table."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if value.is_integer() and abs(value) < PLAIN else repr(value)


def order(value: Value | None) -> tuple[int, Value]:
    """A key for the total order: booleans, numbers, strings by code point, and what is absent last."""
    return (3, False) if value is None else (_RANKS[type(value)], value)


def arranged(items: list[T], value_of: Callable[[T], Value | None], *, descending: bool) -> list[T]:
    """By a value, ties as they were; what lacks it comes last in either direction."""
    present = [item for item in items if value_of(item) is not None]
    absent = [item for item in items if value_of(item) is None]
    return sorted(present, key=lambda item: order(value_of(item)), reverse=descending) + absent


def glob(pattern: str, text: str) -> bool:
    """Whether ``text`` is ``pattern``, in which ``*`` stands for anything, whatever the case of either.

    Takes time in proportion to both lengths multiplied, at worst: a star is only ever extended, never
    tried anew before the last.
    """
    pattern, text = pattern.lower(), text.lower()
    at = mark = 0
    star = -1
    spot = 0
    while at < len(text):
        if mark < len(pattern) and pattern[mark] == "*":
            star, spot = mark, at
            mark += 1
        elif mark < len(pattern) and pattern[mark] == text[at]:
            mark += 1
            at += 1
        elif star >= 0:
            spot += 1
            mark, at = star + 1, spot
        else:
            return False
    return all(char == "*" for char in pattern[mark:])
