"""Who sends a request: two methods, so that it can be somebody else's.

``http`` has the real one, ``fake`` one for tests. A transport knows no provider, no retry and no clock:
it sends, hands over the head as soon as it is there, and then whatever bytes arrive.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. Headers hold the key and the body the prompt: neither is in ``repr``."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


class Response(Protocol):
    """An answer whose head has arrived; header names are matched in any case."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers."""

    async def read(self) -> bytes:
        """What has arrived since the last call, at least one byte; nothing at the end.

        Raises TransportError where the connection breaks before.
        """

    def drop(self) -> None:
        """Close the connection, whatever is still to come. Once, twice or at the end: it does no harm."""


class Transport(Protocol):
    """Sends requests."""

    async def send(self, request: Request) -> Response:
        """Send a request and wait for the head of its answer. Raises TransportError where none comes."""

    async def aclose(self) -> None:
        """Close whatever is open."""


class TransportError(Exception):
    """No answer, or not all of it. ``permanent`` where asking again cannot help."""

    def __init__(self, reason: str, *, permanent: bool = False) -> None:
        """Take the reason: half a sentence, without anything that was sent."""
        super().__init__(reason)
        self.permanent = permanent
