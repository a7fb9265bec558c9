"""The signature of our webhooks, and how whoever receives one checks it.

Every request has the header ``Loopwatch-Signature: t=<seconds since 1970>,v1=<hex>``. The hex is the
HMAC-SHA256, under the channel's secret, of those seconds, a full stop and the body as it was received, byte
for byte. Compare in constant time and refuse old times: ``verify`` does both. The header
``Idempotency-Key`` is the same for each attempt at a delivery; do nothing the second time.
"""

import hashlib
import hmac
import re
from datetime import datetime, timedelta

HEADER = "Loopwatch-Signature"
TOLERANCE = timedelta(minutes=5)

_FORM = re.compile(r"t=(\d{1,12}),v1=([0-9a-f]{64})")


def sign(secret: bytes, body: bytes, at: datetime) -> str:
    """The header's value for a body that is sent ``at``."""
    seconds = int(at.timestamp())
    return f"t={seconds},v1={_digest(secret, body, seconds)}"


def verify(secret: bytes, header: str, body: bytes, now: datetime, tolerance: timedelta = TOLERANCE) -> bool:
    """Whether the header's value is ours for this body, and not older or newer than ``tolerance``."""
    form = _FORM.fullmatch(header)
    if form is None:
        return False
    seconds = int(form[1])
    is_recent = abs(now.timestamp() - seconds) <= tolerance.total_seconds()
    return hmac.compare_digest(_digest(secret, body, seconds), form[2]) and is_recent


def _digest(secret: bytes, body: bytes, seconds: int) -> str:
    return hmac.digest(secret, f"{seconds}.".encode() + body, hashlib.sha256).hex()
