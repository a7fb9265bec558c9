"""What a user asks for in so many words: how often something is to be done."""

import re
from types import MappingProxyType

READ_CHARS = 2_000
MOST = 1_000
"""Repetitions that may be asked for: beyond it nobody reads the results."""
_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = MappingProxyType(
    {word: number for number, word in enumerate(_WORDS, 2)}
    | {
        "once": 1,
        "twice": 2,
        "thrice": 3,
        "dozen": 12,
        "twenty": 20,
        "thirty": 30,
        "fifty": 50,
        "hundred": 100,
    }
)
_TIMES = re.compile(rf"\b(\d{{1,6}}|{'|'.join(_NUMBERS)})(?: more)?(?: ?x\b| times\b)|\b(twice|thrice)\b")


def times_asked(text: str) -> int:
    """How often the user wants something done (``ping it twelve times``, ``5x``); 0 where nothing is said."""
    found = [one or other for one, other in _TIMES.findall(text[:READ_CHARS].casefold())]
    return min(MOST, max((_NUMBERS.get(word) or int(word) for word in found), default=0))
