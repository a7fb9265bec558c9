"""What the tests of alerts share: a certificate of this machine, made anew each time."""

import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from loopwatch.alerts.posting import Poster
from loopwatch.clock import ManualClock
from loopwatch.config.reach import EVERYWHERE
from tests.alerts.samples import AT


class Tls(NamedTuple):
    """Both ends of a connection: the server's, and a client's that trusts it."""

    server: ssl.SSLContext
    client: ssl.SSLContext


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    """A self-signed certificate for 127.0.0.1 and hooks.example."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-days", "2", "-subj", "/CN=sink", "-addext", "subjectAltName=IP:127.0.0.1,DNS:hooks.example"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(certificate, key)
    return Tls(server, ssl.create_default_context(cafile=certificate))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(AT)


@pytest.fixture
async def poster(clock: ManualClock) -> AsyncIterator[Poster]:
    """A poster that may go anywhere, and waits no longer than a test can."""
    async with Poster(EVERYWHERE, clock=clock, seconds=2) as poster:
        yield poster
