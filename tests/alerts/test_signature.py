import hashlib
import hmac
from datetime import timedelta

import pytest

from loopwatch.alerts.signature import TOLERANCE, sign, verify
from tests.alerts.samples import AT

SECRET, BODY = b"correct-horse-battery", b'{"a": 1}'
SECOND = timedelta(seconds=1)


def test_the_signature_is_what_the_documentation_says() -> None:
    seconds = int(AT.timestamp())
    expected = hmac.new(SECRET, f"{seconds}.".encode() + BODY, hashlib.sha256).hexdigest()
    assert sign(SECRET, BODY, AT) == f"t={seconds},v1={expected}"


def test_ours_is_accepted_while_it_is_recent() -> None:
    header = sign(SECRET, BODY, AT)
    assert verify(SECRET, header, BODY, AT)
    assert verify(SECRET, header, BODY, AT + TOLERANCE - SECOND)
    assert not verify(SECRET, header, BODY, AT + TOLERANCE + SECOND)
    assert not verify(SECRET, header, BODY, AT - TOLERANCE - SECOND)


@pytest.mark.parametrize(
    ("secret", "body", "header"),
    [
        *((b"another", BODY, None), (SECRET, BODY + b" ", None), (SECRET, BODY, ""), (SECRET, BODY, "v1=00")),
        *((SECRET, BODY, f"t=1,v1={'0' * 64}"), (SECRET, BODY, f"t={'9' * 12},v1={'0' * 64}")),
    ],
)
def test_nothing_else_is(secret: bytes, body: bytes, header: str | None) -> None:
    assert not verify(secret, sign(SECRET, BODY, AT) if header is None else header, body, AT)
