"""What in a result changes although nothing happened: moments, durations, ids, addresses, temporary paths.

Two results that differ in nothing else are the same result. Figures that may be progress (percentages,
counts, sizes, positions) stay: a poll that moves must be seen to move.
"""

import re

READ_CHARS = 8_192
"""Of a longer text only so many characters at either end are looked through; the rest is compared as it
stands, so that a step costs no more than a few passes over its text."""

WRITTEN = (("\\n", "\n"), ("\\t", "\t"), ("\\r", ""))
"""Line breaks of an output that is handed on inside JSON."""

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:z|[+-]\d\d:?\d\d)?)?"
    r"|\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b"
    rf"|\b(?:mon|tue|wed|thu|fri|sat|sun),? (?:{_MONTHS})? ?\d*|\b(?:{_MONTHS})[a-z]* {{1,2}}\d{{1,2}}\b"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b0x[0-9a-f]+"
    r"|\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,64}\b"
    r"|(?:/private)?/tmp/[^\s'\"]+|/var/folders/[^\s'\"]+"
    r"|\b\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|secs?|seconds?|mins?|minutes?|hours?|h)\b"
    r"|\b\w*(?:duration|elapsed|latency|took|uptime|timestamp|_at|time)(?:_?(?:ms|us|ns|s|sec|seconds))?\"?"
    r" ?[:=] ?\"?\d[\d.]*"
    r"|\b1\d{9}(?:\d{3}|\d{6}|\d{9})?\b"
    r"|\b(?:pid|tid|thread|request|req|trace|span|seq|attempt|try|retry|nonce|session|worker|agent)"
    r"(?:[_ -]?id)?[ #:=_-]{0,2}[0-9a-f]*\d[0-9a-f]*\b"
    r"|[⠀-⣿◐-◓]"
)

NONCES = re.compile(
    r"\b(?:nonce|try|attempt|retry|cachebust|cb|ts|_)=[\w.-]+|(?<=#)\s*(?:try|attempt|retry) *\d+"
)
"""What is appended to an argument to make it look new."""

_COUNTED = re.compile(
    r"(?<![\w.])\d++(?:\.\d++)?+(?! ?(?:%|/\d|of \d|fail|error|warning|problem|issue|finding|remark"
    r"|left|remain|todo|open))",
)
_DIGITS = re.compile(r"(?<=[a-z_])\d+|\d+(?=[a-z_])|(?<=[a-z\])]\.)\d+(?=\.[a-z])")
_SAYS = re.compile(r"\w")
_SPACE = re.compile(r"\s+")
_SEGMENT = re.compile(r"&&|\|\||;|\n")
_ENDING = " \t\r\n.!?…,"


def settled(text: str) -> str:
    """``text`` in lower case without what is volatile, each of its lines once.

    Of a text that holds nothing else, an id or a moment is the answer: it stays.
    """
    text = text.casefold()
    for written, meant in WRITTEN if "\\" in text else ():
        text = text.replace(written, meant)
    told = "\n".join(dict.fromkeys(_settle(text).splitlines()))
    return told if "~" not in told or _SAYS.search(told) else text.strip()


def _settle(text: str) -> str:
    if len(text) > 2 * READ_CHARS:
        head, tail = text[:READ_CHARS], text[-READ_CHARS:]
        return _settle(head) + text[READ_CHARS:-READ_CHARS] + _settle(tail)
    return "\n".join(_SPACE.sub(" ", line).strip(_ENDING) for line in VOLATILE.sub("~", text).splitlines())


def shaped(text: str) -> str:
    """A settled text without its figures, but for those that count failures, shares and what is left."""
    return _DIGITS.sub("#", _COUNTED.sub("#", text[: 2 * READ_CHARS]))


def figureless(text: str) -> str:
    """A text without any figure."""
    return re.sub(r"\d+", "#", text[: 2 * READ_CHARS])


def condensed(argument: str) -> str:
    """A string argument without blanks that mean nothing, nonces and copies of its own parts."""
    if len(argument) > 2 * READ_CHARS:
        return argument
    parts = (_SPACE.sub(" ", part).strip(_ENDING) for part in _SEGMENT.split(argument.casefold()))
    return "\n".join(dict.fromkeys(NONCES.sub("~", part) for part in parts if part))
