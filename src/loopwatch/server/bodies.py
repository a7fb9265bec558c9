"""Bodies of requests: read up to a limit, unpacked up to a limit, decoded or refused with one line."""

import zlib
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive

MOST_EVENT = 65_536
"""Bytes of a single event: a hundred times what the longest one that is allowed takes."""
MOST_BATCH = 4 * 1_048_576
"""Bytes of a batch as it is sent."""
MOST_UNPACKED = 8 * 1_048_576
"""Bytes of a batch once it is unpacked: 5,000 rows are 3 MiB. What is decoded holds up everybody else."""
MOST_MEMBERS = 64
"""Gzip streams in a row that a body may be of: what is left is copied for each."""
_GZIP = 31
"""zlib's word for: gzip's header, the largest window."""


async def read(request: Request, most: int, most_unpacked: int = MOST_UNPACKED) -> bytes:
    """The body, unpacked where it was sent as gzip. Raises HTTPException: 413, 415, 400."""
    headers = dict(request.scope["headers"])  # quicker than Starlette's, which looks through all each time
    announced = headers.get(b"content-length", b"")
    if announced.isdigit() and int(announced[:12]) > most:
        raise _too_large(most)
    encoding = headers.get(b"content-encoding", b"").strip().lower()
    if encoding not in (b"", b"identity", b"gzip", b"x-gzip"):
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body's encoding must be gzip or none")
    body = await _received(request.receive, most)
    return body if encoding in (b"", b"identity") else unpacked(body, most_unpacked)


async def _received(receive: Receive, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def unpacked(data: bytes, most: int) -> bytes:
    """What gzip packed, never more than ``most`` bytes of it in memory. Raises HTTPException: 413, 400."""
    parts: list[bytes] = []
    size = 0
    try:
        for _ in range(MOST_MEMBERS):
            if not data:
                return b"".join(parts)
            member = zlib.decompressobj(_GZIP)
            parts.append(member.decompress(data, most + 1 - size))
            size += len(parts[-1])
            if size > most:
                raise _too_large(most, "unpacked ")
            if not member.eof:
                raise HTTPException(HTTPStatus.BAD_REQUEST, "the gzip body breaks off: send all of it")
            data = member.unused_data
    except zlib.error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the body is no gzip, as its header says") from None
    raise HTTPException(
        HTTPStatus.BAD_REQUEST, f"the body is of more than {MOST_MEMBERS} gzip streams: use one"
    )


def _too_large(most: int, how: str = "") -> HTTPException:
    reason = f"the {how}body has more than {most} bytes: send less at once"
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)


def decoded(data: bytes) -> Any:
    """A JSON document. Raises HTTPException 400, which names the place and nothing of the text."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {why(error)}") from None


def why(error: Exception) -> str:
    """What is wrong with a JSON text, in a few words."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def an_object(value: Any) -> dict[str, Any]:
    """A JSON object. Raises HTTPException 400 for anything else."""
    if not isinstance(value, dict):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the body must be a JSON object")
    return value
