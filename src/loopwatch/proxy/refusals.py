"""Why a client gets no reply: an answer of ours in the provider's shape, or a stream that breaks."""

import msgspec
from starlette.types import Send

from loopwatch.proxy.dialects.dialect import Vendor
from loopwatch.proxy.dialects.errors import error_document
from loopwatch.proxy.headers import Headers


class Refusal(Exception):
    """A request is answered by us, with an error. ``final`` tells clients that know how not to ask again."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        final: bool = False,
        headers: Headers | None = None,
    ) -> None:
        """Take the status and one line, which says what to change."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.headers: Headers = [*(headers or [])]
        if final:
            self.headers.append((b"x-should-retry", b"false"))


class Broken(Exception):
    """The upstream is gone, or silent; with the status for a client that has not been answered yet."""

    def __init__(self, reason: str, status: int = 502) -> None:
        """Take the reason."""
        super().__init__(reason)
        self.status = status


async def refuse(send: Send, vendor: Vendor, refusal: Refusal) -> None:
    """Answer with it."""
    message = f"loopwatch proxy: {refusal.message}"
    body = msgspec.json.encode(error_document(vendor, refusal.status, message, refusal.code))
    await answer(send, refusal.status, refusal.headers, body)


async def answer(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """Answer with a JSON document."""
    known = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*known, *headers]})
    await send({"type": "http.response.body", "body": body})
