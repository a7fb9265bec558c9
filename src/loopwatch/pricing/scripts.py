"""Characters counted by what a tokenizer makes of them: letters, marks, digits and scripts differ.

A text is counted with a few passes of ``bytes.translate`` and one or two of a pattern, never by a loop
over its characters, so that every delta of a stream can be counted as it passes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from string import digits, punctuation
from typing import Literal, get_args

Script = Literal["latin", "code", "digits", "cjk", "other"]
SCRIPTS: tuple[Script, ...] = get_args(Script)

_DIGITS = digits.encode()
_MARKS = punctuation.encode()

_latin = re.compile("[\u0080-\u024f\u1e00-\u1eff\u2000-\u206f]+")
"""Latin letters with marks on them, and the typographer's blanks, dashes and quotation marks."""
_cjk = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u2ff0-\u31ff\u3200-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f"
    "\uff00-\uffef\U0001aff0-\U0001b16f\U00020000-\U0003ffff]+"
)
"""Han, kana, hangul, and the marks and wide letters that go with them."""


@dataclass(frozen=True, slots=True)
class CharCounts:
    """How many characters of each class a text has. Counts of two pieces add up to those of the whole.

    ``latin``: Latin letters and blanks. ``code``: ASCII's marks, which make up code and markup.
    ``digits``: 0 to 9. ``cjk``: Chinese, Japanese and Korean. ``other``: every other script (Cyrillic,
    Greek, Arabic, …), symbols and emoji.
    """

    latin: int = 0
    code: int = 0
    digits: int = 0
    cjk: int = 0
    other: int = 0

    def __add__(self, more: "CharCounts") -> "CharCounts":
        return CharCounts(*(mine + theirs for mine, theirs in zip(self.each(), more.each(), strict=True)))

    def each(self) -> Iterator[int]:
        """The counts in the order of SCRIPTS."""
        return (getattr(self, field.name) for field in fields(self))

    @property
    def total(self) -> int:
        """All characters."""
        return sum(self.each())


def count_chars(text: str) -> CharCounts:
    """The characters of ``text`` (code points) by their class."""
    plain = text.encode("ascii", "ignore")
    number = len(plain) - len(plain.translate(None, _DIGITS))
    marks = len(plain) - len(plain.translate(None, _MARKS))
    latin = len(plain) - number - marks
    if len(plain) == len(text):
        return CharCounts(latin, marks, number)
    without_latin = _latin.sub("", text)
    wide = len(without_latin) - len(_cjk.sub("", without_latin))
    accented = len(text) - len(without_latin)
    others = len(text) - len(plain) - accented - wide
    return CharCounts(latin + accented, marks, number, wide, others)
