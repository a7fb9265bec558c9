"""What is wrong with a configuration document, and how it is told.

A fault is a path into the document and a reason. Here it becomes a ``Defect``: attributed to the agent
that declared it (the first seed's rule: a document with eight profiles gives an unattributed message
nowhere to land), with its place in the text. Nothing that may be a secret is ever shown.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a value of the document."""

ABSENT = object()
"""What ``found`` returns where nothing is: None is a value."""

SHOWN_CHARS = 60
"""Longest value, key or name shown in a message."""

_SECRET_KEYS = frozenset({"apiKeyEnv", "baseUrl"})  # where a secret is most likely to be written by mistake
_KEY_PREFIX = re.compile(r"(?:sk|wk)[-_][\w-]{8}|Bearer\s")
_PLAIN_KEY = re.compile(r"[A-Za-z_$][\w$-]*", re.ASCII)
_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*://|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?/)\S*", re.IGNORECASE)
"""A URL, or one without its beginning: a webhook's path is its password."""
_LONG_RUN = 16
"""Letters and digits in a row, some of each, from which on a text is taken for a key."""


class Fault(NamedTuple):
    """A reason, and the path it is about; the value there need not exist."""

    path: Path
    reason: str
    shown: bool = True
    """Whether the value at the path helps to understand the reason."""


@dataclass(frozen=True, slots=True)
class Defect:
    """One thing to change in a document, or a warning about it. ``str()`` is the line that says so.

    ``agent`` is the display name of the agent that declared it, None outside of an agent. ``locus``
    is where (``loopDetection.windowWords``, relative to the agent if there is one). ``value`` is
    what stands there, as JSON text, None where nothing does or it must not be shown. ``line`` and
    ``column`` count from 1; for a missing key they are those of the object that lacks it. ``path`` is the
    same place for a program that knows the document; it is no part of what is told.
    """

    reason: str
    agent: str | None = None
    locus: str = ""
    value: str | None = None
    line: int | None = None
    column: int | None = None
    path: Path = field(default=(), repr=False, compare=False)

    def __str__(self) -> str:
        """Agent, locus, value and reason, as the seed orders them."""
        agent = f"agent `{self.agent}`: " if self.agent is not None else ""
        value = f" = {self.value}" if self.value is not None else ""
        locus = self.locus or (f"line {self.line}, column {self.column}" if self.line else "")
        return f"{agent}{locus}{value}: {self.reason}" if locus else self.reason

    @property
    def placed(self) -> str:
        """The same line, ending with the place in the text."""
        return f"{self} (line {self.line})" if self.locus and self.line else str(self)

    def as_dict(self) -> dict[str, str | int | None]:
        """The parts by their names, for a program to read."""
        return {key: value for key, value in asdict(self).items() if key != "path"}


def agent_name(document: Any, path: Path) -> str | None:
    """The name of the agent that ``path`` leads into, else its id; None where there is neither."""
    if path[:1] != ("agents",):
        return None
    names = (found(document, (*path[:2], key)) for key in ("name", "id"))
    return next((printable(name) for name in names if isinstance(name, str) and name.strip()), None)


def found(document: Any, path: Path) -> Any:
    """The value at a path; ABSENT where there is none."""
    for key in path:
        if isinstance(document, dict):
            document = document.get(key, ABSENT)
        elif isinstance(document, list) and isinstance(key, int) and key < len(document):
            document = document[key]
        else:
            return ABSENT
    return document


def locus(path: Path) -> str:
    """A path as it is written: ``agents[1].loopDetection.windowWords``."""
    written = ""
    for key in path:
        if isinstance(key, int):
            written += f"[{key}]"
        elif _PLAIN_KEY.fullmatch(key) and len(key) <= SHOWN_CHARS and not looks_like_key(key):
            written += f".{key}"
        else:
            written += f"[{shown(key)}]"
    return written.removeprefix(".")


def shown(value: Any) -> str:
    """A value as JSON text, short and on one line; of a list or an object only that it is one."""
    if isinstance(value, Mapping):
        return "{…}" if value else "{}"
    if isinstance(value, list):
        return "[…]" if value else "[]"
    if isinstance(value, str):
        value = discreet(value)
    return printable(json.dumps(value, ensure_ascii=False))


def discreet(text: str) -> str:
    """``text`` for a message: no key, and of a URL only that it is one, whatever place it was written in."""
    return "…" if looks_like_key(text) else _URL.sub("<URL>", text)


def showable(path: Path) -> bool:
    """Whether the value at a path may be shown at all."""
    return not _SECRET_KEYS.intersection(path)


def printable(text: str) -> str:
    """``text`` with what a terminal would obey escaped, and its end left out if it is long."""
    if len(text) > SHOWN_CHARS:
        text = text[: SHOWN_CHARS - 1] + "…"
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def looks_like_key(text: str) -> bool:
    """Whether ``text`` may be an API key: a known prefix, or letters and digits mixed in a long run."""
    if _KEY_PREFIX.match(text):
        return True
    runs = re.findall(rf"[A-Za-z0-9]{{{_LONG_RUN},}}", text)
    return any(re.search("[A-Za-z]", run) and re.search("[0-9]", run) for run in runs)
