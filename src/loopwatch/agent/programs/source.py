"""The program in a reply: what stands between its fences."""

import re
from typing import NamedTuple

from loopwatch.records.outcome import ErrorType

LANGUAGE = "python"
_NAMES = {"", "python", "py", "python3"}
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n`]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)


class Source(NamedTuple):
    """A program, or why there is none."""

    text: str = ""
    error_type: ErrorType | None = None


def program_in(reply: str) -> Source:
    """The fenced blocks of Python in a reply, one after the other.

    No block at all is ``missing_completion_no_program``, blocks of another language alone are
    ``transpile_unsupported``. A last block that is not closed counts: the reply ended with it.
    """
    blocks = [(match[2].lower(), match[3]) for match in _FENCE.finditer(reply)]
    texts = [text for language, text in blocks if language in _NAMES]
    if texts:
        return Source("\n".join(texts))
    return Source(error_type="transpile_unsupported" if blocks else "missing_completion_no_program")
