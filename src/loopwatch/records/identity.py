"""Names of users and features: theirs as they are, never an e-mail address or a card number.

A ``userId`` goes into alerts, mails and the addresses of pages, so it must say nothing to a stranger. What
is judged is what a person would read in it: full-width letters, percent signs, invisible characters and
the digits of other scripts hide nothing.
"""

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Callable, Iterator
from html import unescape

Pseudonym = Callable[[str], str]
"""Turns a name that must not be kept into one that may."""

PREFIX = "anon_"
"""What the pseudonyms of users begin with."""
_LEAST_DIGITS = 13
EMAIL = "an e-mail address"
CARD = "a card number"
_LAYERS = 3
"""How often a text is unquoted: ``%2540`` is twice, more is nobody's habit."""

_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_PLAIN = re.compile(r"[A-Za-z0-9._:/-]*")
"""What most ids are made of: nothing hides among these."""
_INVISIBLE = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters without a look of their own that Unicode counts as letters or symbols."""
_UNSEEN = frozenset({"Cc", "Cf", "Mn", "Me", "Cn", "Co"})
"""Unicode's categories of controls, formats (zero-width spaces, bidi marks) and marks on other characters."""
_HINT = re.compile(r"@|[\s([{<]at[\s)\]}>]", re.IGNORECASE)
_AT = re.compile(r"\s*(?:[(\[{<]\s*at\s*[)\]}>]|@)\s*", re.IGNORECASE)
_DOT = re.compile(r"\s*[(\[{<]\s*(?:dot|\.)\s*[)\]}>]\s*|\s+\.\s*|\u3002", re.IGNORECASE)
_SPOKEN = re.compile(r"\S+ at (?:\S+(?: dot \S+)+|(?:[^\W_][\w-]*\.)+[^\W\d_]{2,})", re.IGNORECASE)
"""A whole text that reads "bob at example dot com"; within a longer one these are but words."""
_ADDRESS = re.compile(r"[^\s@]@(?:[^\W_][\w-]*\.)+(?:[^\W\d_]{2,}|xn--[a-z0-9-]+)", re.IGNORECASE)
"""Something at a domain: what ends in digits is a version (``claude-3-5-sonnet@20240620``)."""

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_GROUPS = re.compile(r"(?<![0-9A-Za-z])[0-9]+(?:[\W_]{1,3}[0-9]+)*(?![0-9A-Za-z])")
"""Digits, in groups or not, that are no part of a longer id."""
_MANY = re.compile(r"[0-9](?:[\W_]{0,3}[0-9]){12}")
_PRINTED = ((4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4))
"""The groups in which cards are printed."""
_CARDS = re.compile(
    r"4\d{12}(\d{3}|\d{6})?|3[47]\d{13}|3(0[0-5]|[689]\d)\d{11}"
    r"|(5\d|6\d|3[05689]|2[2-7]|8[12])\d{14}|9792\d{12}|62\d{17}"
)
"""Lengths and first digits of cards in use (ISO/IEC 7812). Of other lengths than sixteen only those that
an issuer gives out: ids of seventeen to nineteen digits are common, and one in ten passes Luhn. Dates and
times since 1970 begin with other digits."""


def personal(text: str) -> str | None:
    """What ``text`` looks like, where it must not be kept: "an e-mail address" or "a card number"."""
    if _PLAIN.fullmatch(text) is not None:
        return CARD if len(text) >= _LEAST_DIGITS and _has_card(text) else None
    text = legible(text)
    return EMAIL if _is_address(text) else CARD if _has_card(text) else None


def addressed(text: str) -> str | None:
    """The same for models and ids that machines make, in which any digits may stand: addresses alone."""
    return EMAIL if _PLAIN.fullmatch(text) is None and _is_address(legible(text)) else None


def legible(text: str) -> str:
    """What a person reads in ``text``: unquoted, one form of each letter and digit, nothing invisible."""
    for _ in range(_LAYERS):
        plain = unescape(_ESCAPED.sub(_unescaped, text))
        if plain == text:
            break
        text = plain
    return "".join(_seen(text))


def _unescaped(run: re.Match[str]) -> str:
    return bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "replace")


def _seen(text: str) -> Iterator[str]:
    for char in unicodedata.normalize("NFKC", text):
        category = unicodedata.category(char)
        if category == "Nd":
            yield str(unicodedata.decimal(char))
        elif category[0] == "Z" or (category == "Cc" and char.isspace()):
            yield " "
        elif category not in _UNSEEN and char not in _INVISIBLE:
            yield char


def _is_address(text: str) -> bool:
    if _HINT.search(text) is None:
        return False
    if _SPOKEN.fullmatch(text.strip()) is not None:
        return True
    return _ADDRESS.search(_DOT.sub(".", _AT.sub("@", text))) is not None


def _has_card(text: str) -> bool:
    if _MANY.search(text) is None:
        return False
    return any(
        _is_card(digits) for run in _GROUPS.finditer(_UUID.sub("x", text)) for digits in _cards(run[0])
    )


def _cards(run: str) -> Iterator[str]:
    """What of a run of digits may be a card: all of it, a group, or groups as they are printed."""
    groups = re.findall("[0-9]+", run)
    yield "".join(groups)
    yield from groups
    sizes = [len(group) for group in groups]
    for printed in _PRINTED:
        for start in range(len(groups) - len(printed) + 1):
            if tuple(sizes[start : start + len(printed)]) == printed:
                yield "".join(groups[start : start + len(printed)])


def _is_card(digits: str) -> bool:
    return _CARDS.fullmatch(digits) is not None and luhn(digits)


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others, as on every card."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004  the sum of its two digits
    return total % 10 == 0


def pseudonym(key: bytes, prefix: str = PREFIX) -> Pseudonym:
    """Names that are the same for the same text, and tell nothing to whoever lacks the project's ``key``."""

    def hashed(text: str) -> str:
        return prefix + hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:24]

    return hashed
