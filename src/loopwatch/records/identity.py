"""Names of users and features: theirs as they are, never an e-mail address or a card number.

A ``userId`` goes into alerts, mails and the addresses of pages, so it must say nothing to a stranger.
"""

import hashlib
import hmac
import re
from collections.abc import Callable

Pseudonym = Callable[[str], str]
"""Turns a name that must not be kept into one that may."""

PREFIX = "anon_"
_LEAST_DIGITS = 13
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@.]{2,}")
_DIGITS = re.compile(r"(?<![0-9A-Za-z])[0-9](?:[ -]?[0-9]){12,18}(?![0-9A-Za-z])")
_CARDS = re.compile(r"4\d{12}(\d{6})?|3[47]\d{13}|3(0[0-5]|[68]\d)\d{11}|62\d{15,17}|\d{16}")
"""Lengths and first digits of cards in use. Any sixteen digits may be one; of other lengths only those
that an issuer gives out, for ids of seventeen to nineteen digits are common and one in ten passes Luhn."""


def personal(text: str) -> str | None:
    """What ``text`` looks like, where it must not be kept: "an e-mail address" or "a card number"."""
    if "@" in text and _ADDRESS.search(text):
        return "an e-mail address"
    if len(text) < _LEAST_DIGITS:
        return None
    for run in _DIGITS.finditer(text):
        digits = run.group().replace(" ", "").replace("-", "")
        if _CARDS.fullmatch(digits) and luhn(digits):
            return "a card number"
    return None


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others, as on every card."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004  the sum of its two digits
    return total % 10 == 0


def pseudonym(key: bytes) -> Pseudonym:
    """Names that are the same for the same text, and tell nothing to whoever lacks the project's ``key``."""

    def hashed(text: str) -> str:
        return PREFIX + hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:24]

    return hashed
