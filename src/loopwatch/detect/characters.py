r"""What counts as a blank, a letter and a word, the same on every Python and in the Rust twin.

The interpreter's own tables (``str.isspace``, ``str.isalpha``, ``\s``, ``\w``) follow its Unicode
version and are wrong for us in places: ``isspace`` takes U+001C to U+001F for white space. So the
classes are written out as ranges, coarse where coarseness does no harm.
"""

import re

BLANKS = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""The 25 characters with the Unicode property White_Space."""

SPACED = (
    "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u0f00-\u0fff\u10a0-\u167f\u1681-\u177f"
    "\u1800-\u1fff\u2c00-\u2dff\ua000-\ua95f\uab00-\ud7ff\ufb00-\ufdff\ufe70-\ufefe\uff21-\uff3a\uff41-\uff5a"
    "\U00010000-\U0001cfff"
)
"""Letters of scripts that put blanks between words, combining marks included, as a pattern's ranges."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3006\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Letters of scripts that put none: Thai, Lao, Burmese, Khmer, kana, Han."""

PICTOGRAPHS = "\u2600-\u27bf\U0001f000-\U0001faff"
"""Emoji and dingbats: each says as much as a word."""

visible_run = re.compile(f"[^{BLANKS}]+")
letter = re.compile(f"[{SPACED}{UNSPACED}{PICTOGRAPHS}]")
lexical_word = re.compile(f"[{SPACED}]{{2,}}|[{UNSPACED}]{{1,2}}|[{PICTOGRAPHS}]")
"""A word that says something: two letters or more, so that the ``x`` of a map is none."""

word_or_number = re.compile(f"[{UNSPACED}]{{1,2}}|[{SPACED}]+|[0-9]+")
"""Unspaced scripts are read in pairs from the last mark, so that a sentence said again falls into
the same pairs."""

clause_mark = re.compile(
    "[.!?;:,|\n\u3001\u3002\uff0c\uff01\uff1f\uff1a\uff1b"  # CJK
    "\u060c\u061b\u061f\u06d4"  # Arabic
    "\u0964\u0965"  # Devanagari and its neighbours
    "\u104a\u104b\u17d4\u17d5]+"  # Burmese, Khmer
    "|(?<=[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]) "  # where a blank parts clauses, not words
)
"""What ends a clause, a line, a list entry or a cell."""
