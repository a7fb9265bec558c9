"""What a provider says about a request, without what the request said.

Providers quote in their errors: the key that they refuse, the message that they cannot take. An error of
ours may stand in a log, where neither belongs.
"""

from loopwatch.wire.faults import one_line

SHOWN = 300
"""Characters of a provider's message that are passed on."""

RUN = 24
"""Characters in a row that, found in the request as well, are taken for a quotation of it."""

HIDDEN = "[quoted from the request]"


class Quoting:
    """Quotes messages about one request."""

    __slots__ = ("_request", "_secret")

    def __init__(self, request: bytes, secret: str | None) -> None:
        """Take the body of the request, and the key."""
        self._request = request
        self._secret = secret

    def quote(self, message: str) -> str:
        """``: message``, in one line and cut to length; nothing where there is none."""
        line = self.clean(one_line(message)[:SHOWN])
        return f": {line}" if line else ""

    def clean(self, line: str) -> str:
        """A line, without the key; all of it is hidden where it repeats a long passage of the request."""
        if self._secret:
            line = line.replace(self._secret, "[the API key]")
        return HIDDEN if self._repeats(line) else line

    def _repeats(self, line: str) -> bool:
        """Whether it has a long passage of the request."""
        said = " ".join(self._request.decode("utf-8", "replace").replace("\\n", " ").split())
        return any(line[start : start + RUN] in said for start in range(len(line) - RUN + 1))
