"""What a provider says about a request, without what the request said.

Providers quote in their errors: the key that they refuse, the message that they cannot take. An error of
ours may stand in a log, where neither belongs.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from loopwatch.errors import one_line
from loopwatch.wire.decoding import anything

SHOWN = 300
"""Characters of a provider's message that are passed on."""

RUN = 24
"""Characters in a row that, found in the request as well, are taken for a quotation of it."""

SHORT = 8
"""Characters of a whole text of the request from which on it is looked for; shorter ones are any word."""

READ = 4_096
"""Characters of a message that are read."""

LONG = 4_194_304
"""Bytes of a request that is not searched: nothing is quoted then."""

KEY = "[a message with the API key in it]"
UNREAD = "[not shown: the request is too long to be compared with]"
HIDDEN = "[quoted from the request]"
SAID = ("messages", "prompt", "input", "system", "instructions")
"""Fields of a request that hold what somebody said; a name of a model or a tool may be quoted."""


_word = re.compile(r"[^\W_]+")
_escape = re.compile(r"\\[nrt]")


class Quoting:
    """Quotes messages about one request. ``secrets`` are its key, and the values of its further headers."""

    __slots__ = ("_request", "_secrets", "_texts")

    def __init__(self, request: bytes, secrets: Collection[str]) -> None:
        """Take the body of the request, and what no message may show."""
        self._request = request
        self._secrets = sorted((secret for secret in secrets if secret), key=len, reverse=True)
        self._texts: list[str] | None = None

    def quote(self, message: str) -> str:
        """``: message``, in one line and cut to length; nothing where there is none."""
        line = self.clean(one_line(message[:READ]))[:SHOWN]
        return f": {line}" if line else ""

    def clean(self, line: str) -> str:
        """A line; what stands for it where it has a secret in it, or repeats what the request said."""
        plain = _plain(line)
        if any(_repeats(plain, _plain(secret), SHORT) for secret in self._secrets):
            return KEY
        if len(self._request) > LONG:
            return UNREAD
        return HIDDEN if any(_repeats(plain, text, RUN) for text in self._said()) else line

    def _said(self) -> list[str]:
        """The texts of the request, letters and digits only; pictures are none."""
        if self._texts is None:
            try:
                request: Any = anything(self._request)
            except msgspec.DecodeError:
                request = None
            fields = request if isinstance(request, dict) else {}
            texts = (_plain(text) for name in SAID for text in _strings(fields.get(name)))
            self._texts = [text for text in texts if len(text) >= SHORT]
        return self._texts


def _plain(text: str) -> str:
    """Letters and digits only: whoever quotes a text may quote its quotes, and break its lines."""
    return "".join(_word.findall(_escape.sub(" ", text)))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if not value.startswith("data:"):
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("role", "type"):
                yield from _strings(item)


def _repeats(line: str, text: str, run: int) -> bool:
    """Whether ``line`` has all of ``text``, or ``run`` characters of it in a row.

    Such a passage has one of half its length that begins at a multiple of that length: few searches in
    a text that may be long.
    """
    if len(text) <= run:
        return len(text) >= SHORT and text in line
    half = run // 2
    for middle in range(0, len(line) - half + 1, half):
        if line[middle : middle + half] in text:
            first, last = max(0, middle - half), min(middle, len(line) - run)
            if any(line[start : start + run] in text for start in range(first, last + 1)):
                return True
    return False
