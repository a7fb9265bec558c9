"""What it is that repeats: the class of a repeated unit decides how long is long enough.

A sentence said ten times is a loop; ten equal rows of a map are a map. The classes, by what one
period of the repetition holds:

========== ==================================================================================
text       four distinct words or more, and letters prevail: prose, list entries, captions
code       as text, but in lines and full of brackets and signs: source code, markup with words
phrase     two or three words, or one that no cell would hold: ``so we do``, ``moss``, ``[illegible]``
mark       one and the same mark, letter or ideograph: ``------``, ``GGGGGG``, ``鶴鶴鶴``
record     four distinct words or more among as many quotes, braces and digits: rows of JSON
markup     two or three words and as many marks: ``<tr><td></td></tr>``
token      one word and a mark that parts cells: ``void 0;``, ``false,``, ``&nbsp;``
data       no words: digits, marks, single letters, letters with nothing between (DNA, Base64)
fill       one of the few letters and digits that padding is made of: Base64's ``A``, a bitmap's ``0``
grid       data in lines, or lines of the same few words over and over: maps, matrices, dumps
========== ==================================================================================
"""

from typing import Literal

from loopwatch.detect.characters import BLANKS, letter, lexical_word

Kind = Literal["text", "code", "phrase", "mark", "record", "markup", "token", "data", "fill", "grid"]

SAMPLED = 2_000
"""Characters of a long unit that are looked at; its class does not hang on the rest."""

TEXT_WORDS = 4
"""Three words are still a refrain or a pair of tags; a sentence or a statement has four."""

LETTERS_PREVAIL = 0.65
"""Share of letters among the visible characters: prose has over 0.9, source code around 0.7, an
object of flags (legitimate by the dozen) and empty table rows in HTML under 0.65."""

SIGNS = '<>{}[]();=\\_/|&"'
SIGNS_PREVAIL = 0.2
"""Share of brackets and signs among the visible characters from which on lines are code."""

CELLS = 4
CELL_WORDS = 8
"""Lines in which each of at most eight distinct words stands four times or more are rows of cells."""

CELL_MARKS = frozenset(",;|&\t<>\"'0123456789")
"""What stands between the cells of an array, a table row or a line of markup, and numbers."""

PACKED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
FILL = frozenset("A/=01fF")
"""What Base64, bitmaps and hex dumps make of nothing: no other letter or digit stands alone so long."""

PACKED_PERIOD = 8
"""Base64 of flat image data repeats every four or eight characters."""


def classify(unit: str) -> Kind:
    """The class of ``unit``, one period of a repetition, wherever in the period it was cut."""
    unit = unit[:SAMPLED]
    words = _words(unit)
    lines = "\n" in unit
    if not words or (len(unit) <= PACKED_PERIOD and PACKED.issuperset(unit)):
        return _wordless(unit, lines=lines)
    distinct = len(set(words))
    if lines and distinct <= CELL_WORDS and len(words) >= CELLS * distinct:
        return "grid"
    if distinct == 1:
        return "phrase" if CELL_MARKS.isdisjoint(unit) else "token"
    visible = len(unit) - sum(map(unit.count, BLANKS))
    letters = len(letter.findall(unit))
    if letters >= LETTERS_PREVAIL * visible:
        if distinct < TEXT_WORDS:
            return "phrase"
        return "code" if lines and sum(map(unit.count, SIGNS)) >= SIGNS_PREVAIL * visible else "text"
    return "record" if distinct >= TEXT_WORDS else "markup"


def _wordless(unit: str, *, lines: bool) -> Kind:
    """One mark over and over is nothing that data is made of."""
    if len(unit) == 1 and unit not in BLANKS:
        return "fill" if unit in FILL else "mark"
    return "grid" if lines else "data"


def _words(unit: str) -> list[str]:
    """The words that begin in one period of the endless repetition of ``unit``.

    A word that fills the period (letters with nothing between them) is none.
    """
    size = len(unit)
    return [
        found.group()
        for found in lexical_word.finditer(unit * 3)
        if size <= found.start() < 2 * size and len(found.group()) <= max(size, 2)
    ]
