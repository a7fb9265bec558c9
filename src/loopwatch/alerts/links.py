"""The one-tap "block this user" link: signed, so that only we can make one; it expires.

The link opens a page that still asks for sign-in and for a click: it says what is meant and proves that we
meant it, it is no permission. Whoever serves the page must change nothing on GET, because mail scanners
and chat previews open every link.
"""

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from loopwatch.errors import InputError

LIFETIME = timedelta(days=3)
"""A weekend, for an alert of Friday night."""
LEAST_SECRET = 32
MOST_TOKEN = 1_500
"""Longest token: a user id that needs more gets no link, and is blocked on its page."""

_PURPOSE = b"loopwatch block link 1"
"""Makes a key of its own out of the server's secret: no other signature of the server is one of these."""


@dataclass(frozen=True, slots=True)
class BlockRequest:
    """What a link asks for: that a user of a project be blocked, because of an alert."""

    project: str
    user_id: str
    alert_id: str
    expires: datetime


class BlockLinks:
    """Makes links and reads what they carry. ``secret`` is the server's, at least 32 bytes."""

    def __init__(self, secret: bytes, public_url: str, lifetime: timedelta = LIFETIME) -> None:
        if len(secret) < LEAST_SECRET:
            raise InputError(f"the server's secret has {len(secret)} bytes: make it at least {LEAST_SECRET}")
        self._key = hmac.digest(secret, _PURPOSE, hashlib.sha256)
        self._base = f"{public_url.rstrip('/')}/dashboard/block/"
        self._lifetime = lifetime

    def link(self, project: str, user_id: str, alert_id: str, now: datetime) -> str | None:
        """The link to send with an alert; None for a user id too long for one."""
        expires = int((now + self._lifetime).timestamp())
        payload = json.dumps([project, user_id, alert_id, expires], separators=(",", ":")).encode()
        token = f"{_encoded(payload)}.{_encoded(self._signature(payload))}"
        return self._base + token if len(token) <= MOST_TOKEN else None

    def read(self, token: str, now: datetime) -> BlockRequest:
        """What a token asks for. Raises InputError for one that is not ours, or too old."""
        payload, signature = _parts(token)
        if not hmac.compare_digest(signature, self._signature(payload)):
            raise InputError("this block link is not one of ours: open the user's page and block there")
        project, user_id, alert_id, expires = json.loads(payload)
        request = BlockRequest(project, user_id, alert_id, datetime.fromtimestamp(expires, UTC))
        if now >= request.expires:
            raise InputError("this block link has expired: open the user's page and block there")
        return request

    def _signature(self, payload: bytes) -> bytes:
        return hmac.digest(self._key, payload, hashlib.sha256)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _parts(token: str) -> tuple[bytes, bytes]:
    """Payload and signature; two that never match for what is no token."""
    payload, _, signature = token[: MOST_TOKEN + 1].partition(".")
    try:
        return _decoded(payload), _decoded(signature)
    except (binascii.Error, ValueError):
        return b"", b""


def _decoded(text: str) -> Any:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
