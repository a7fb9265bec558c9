"""A query's text in tokens. Never fails: what it cannot read is told and skipped.

A word is letters, digits and marks of any script and ``_ . / * + -``; it begins with ``+`` or ``-`` only
where a digit follows, so that ``-5`` is a number and ``-state:x`` a negation. ``:`` is never in a word: a
time such as 2026-01-31T12:00:00Z is quoted.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from unicodedata import category

from loopwatch.query.diagnostics import Diagnostic, Span

Kind = Literal["word", "string", "sign", "end"]

LONG_SIGNS = frozenset(("!=", ">=", "<=", "&&", "||", "==", "=~", "!~"))
SIGNS = frozenset(":()[],|<>=!-~")
_ESCAPES = {"n": "\n", "t": "\t"}
_IN_WORDS = frozenset("_./*+-")


@dataclass(frozen=True, slots=True)
class Token:
    """One word, string or sign. ``text`` is what it says: a string's without quotes and escapes."""

    kind: Kind
    text: str
    span: Span

    def says(self, *words: str) -> bool:
        """Whether this is one of the words, unquoted, whatever its case."""
        return self.kind == "word" and self.text.lower() in words

    def signs(self, *signs: str) -> bool:
        """Whether this is one of the signs."""
        return self.kind == "sign" and self.text in signs


def lex(text: str) -> tuple[list[Token], list[Diagnostic]]:
    """The tokens of a query, an ``end`` the last of them, and what could not be read."""
    tokens: list[Token] = []
    told: list[Diagnostic] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _string(text, at, told) or _word(text, at) or _sign(text, at)
        if token is None:
            token = _unread(text, at, told)
        else:
            tokens.append(token)
        at = token.span.end
    tokens.append(Token("end", "", Span(len(text), len(text))))
    return tokens, told


@lru_cache(maxsize=4_096)
def in_word(char: str) -> bool:
    """Whether a word may hold this character."""
    return char in _IN_WORDS or category(char)[0] in "LNM"


def bare(text: str) -> bool:
    """Whether ``text`` needs no quotes to be one word."""
    return bool(text) and word_end(text, 0) == len(text)


def word_end(text: str, at: int) -> int:
    """Where the word at ``at`` ends; ``at`` itself where none begins."""
    if text[at] in "+-" and not text[at + 1 : at + 2].isdigit():
        return at
    end = at
    while end < len(text) and in_word(text[end]):
        end += 1
    return end


def _word(text: str, at: int) -> Token | None:
    end = word_end(text, at)
    return Token("word", text[at:end], Span(at, end)) if end > at else None


def _sign(text: str, at: int) -> Token | None:
    sign = text[at : at + 2] if text[at : at + 2] in LONG_SIGNS else text[at]
    return Token("sign", sign, Span(at, at + len(sign))) if sign in LONG_SIGNS or sign in SIGNS else None


def _string(text: str, at: int, told: list[Diagnostic]) -> Token | None:
    if text[at] != '"':
        return None
    said: list[str] = []
    end = at + 1
    while end < len(text) and text[end] != '"':
        if text[end] == "\\" and end + 1 < len(text):
            end += 1
            said.append(_ESCAPES.get(text[end], text[end]))
        else:
            said.append(text[end])
        end += 1
    closed = end < len(text)
    span = Span(at, end + closed)
    if not closed:
        told.append(Diagnostic("this string is not closed", span, ('"',)))
    return Token("string", "".join(said), span)


def _unread(text: str, at: int, told: list[Diagnostic]) -> Token:
    end = at + 1
    while end < len(text) and text[end] == text[at]:
        end += 1
    hint = "double quotes" if text[at] in "'`" else "a quoted string for a value that holds it"
    told.append(Diagnostic(f"{text[at]!r} means nothing here", Span(at, end), suggestion=hint))
    return Token("sign", text[at:end], Span(at, end))
