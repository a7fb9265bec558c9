"""What the head of an answer says, before a chunk of it is read."""

from http import HTTPStatus
from typing import Any

import msgspec

from loopwatch.client.endpoint import Endpoint
from loopwatch.client.quoting import Quoting
from loopwatch.errors import ImagesRefused, KeyRefused, RefusedRequest
from loopwatch.wire.decoding import anything

BODY = 64 * 1_024
"""Bytes of a refusal that are read: the message may stand behind a gateway's copy of what it was told."""

IMAGE_STATUSES = (400, 404, 422)
IMAGE_PHRASES = (
    "support image input",
    "does not support image",
    "do not support image",
    "image input is not supported",
    "images are not supported",
    "not support vision",
    "does not support multimodal",
    "invalid content type. image_url",
    "multimodal data provided, but model does not support",
)
"""What providers write where a model takes no images, in lower case."""

KEY_HEADERS = ("authorization", "api-key", "x-api-key")


def is_success(status: int) -> bool:
    """Whether a reply follows."""
    return 200 <= status < 300  # noqa: PLR2004  the class of statuses


def is_retryable(status: int) -> bool:
    """Whether the next attempt may fare better: too many requests, or a server's own fault."""
    return status == HTTPStatus.TOO_MANY_REQUESTS or 500 <= status < 600  # noqa: PLR2004  as above


def named(status: int) -> str:
    """A status with its name where it has one."""
    try:
        return f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"


def refusal(
    status: int, body: bytes, *, at: Endpoint, quoting: Quoting, images: bool, location: str | None = None
) -> RefusedRequest:
    """The error for a status that no retry changes; it quotes the provider where it is safe to."""
    said = quoting.quote(message_of(body))
    if images and status in IMAGE_STATUSES and any(phrase in _folded(body) for phrase in IMAGE_PHRASES):
        return ImagesRefused(f"the model takes no images ({named(status)}){said}", status)
    if status == HTTPStatus.UNAUTHORIZED:
        return KeyRefused(f"{_key(at)} ({named(status)})", status)
    if status == HTTPStatus.FORBIDDEN:
        return KeyRefused(f"the provider does not allow this request ({named(status)}){said}", status)
    if 300 <= status < 400:  # noqa: PLR2004  the class of statuses
        moved = f" to {_origin(location)}" if location else ""
        reason = f"{at.base_url} has moved{moved} ({named(status)}): set the base URL to where it is now"
        return RefusedRequest(reason, status)
    if status == HTTPStatus.NOT_FOUND and not said:
        nothing = f"there is nothing at {at.base_url} ({named(status)})"
        return RefusedRequest(f"{nothing}: does the base URL end with the API's version (/v1)?", status)
    return RefusedRequest(f"the provider refused the request ({named(status)}){said}", status)


def _origin(location: str) -> str:
    """An address without what may be secret in it."""
    return location.partition("?")[0].rpartition("@")[2]


def _key(at: Endpoint) -> str:
    if any(name.lower() in KEY_HEADERS for name in at.extra_headers):
        return f"{at.host} refused the key in the headers: is it complete, and of this provider?"
    if at.key is None:
        return f"no API key was sent: set {at.key_env}" if at.key_env else "no API key was sent"
    where = f"in {at.key_env}" if at.key_env else "that was given as api_key"
    return f"{at.host} refused the API key {where}: is it complete, and of this provider?"


def message_of(body: bytes) -> str:
    """The message of an error object; nothing where there is none (a page of HTML tells nobody anything)."""
    try:
        document: Any = anything(body)
    except msgspec.DecodeError:
        return ""
    for _ in range(3):
        if isinstance(document, list) and document:
            document = document[0]
        elif isinstance(document, dict):
            document = next(
                (document[key] for key in ("error", "message", "detail") if document.get(key)), None
            )
    return document if isinstance(document, str) else ""


def _folded(body: bytes) -> str:
    return body.decode("utf-8", "replace").casefold()
