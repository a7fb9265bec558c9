"""Keeps API keys out of everything that a run leaves behind, and out of what its tools are given.

A tool can meet a key by accident (``env`` in a shell, a file that holds one): what it brings back is shown
to a model and recorded.
"""

import os
import re
from collections.abc import Iterable, Mapping

HIDDEN = "[hidden]"
LEAST = 8
"""Characters below which a value is no key, and would be found in ordinary text."""

_NAMES = re.compile(r"(?i)(^|_)(api_?key|key|token|secret|passw(or)?d|credentials?|auth)($|_)")
"""What a variable's name has in it where no tool needs its value."""


class Secrets:
    """The values that must not be shown."""

    def __init__(self, values: Iterable[str]) -> None:
        """Take the values; short ones are no keys."""
        self._texts = sorted({value for value in values if len(value) >= LEAST}, key=len, reverse=True)
        self._lines = [text.encode() for text in self._texts]

    def hide(self, text: str) -> str:
        """The text without them."""
        for secret in self._texts:
            text = text.replace(secret, HIDDEN)
        return text

    def hide_bytes(self, data: bytes) -> bytes:
        """The bytes without them."""
        for secret in self._lines:
            data = data.replace(secret, HIDDEN.encode())
        return data


def secrets_of(names: Iterable[str], environment: Mapping[str, str] = os.environ) -> Secrets:
    """What the environment holds under names of API keys, of those named and of any other."""
    wanted = {*names, *(name for name in environment if is_secret(name))}
    return Secrets(environment.get(name, "").strip() for name in wanted)


def is_secret(name: str) -> bool:
    """Whether a variable of this name holds what no tool needs."""
    return _NAMES.search(name) is not None


def plain_environment(names: Iterable[str], environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment that tools are given: without the variables named, nor any that hold secrets."""
    hidden = {*names}
    return {name: value for name, value in environment.items() if name not in hidden and not is_secret(name)}
