import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from loopwatch.errors import LoopwatchError
from loopwatch.testing import process
from loopwatch.testing.process import serving

LISTEN = (
    "import socket, sys; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)"
)
OBEDIENT = f"{LISTEN}; sys.stdin.read()"
STUBBORN = f"{LISTEN}; import time; time.sleep(60)"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def listens(port: str) -> bool:
    try:
        socket.create_connection(("127.0.0.1", int(port)), timeout=1).close()
    except ConnectionRefusedError:
        return False
    return True


def test_the_server_is_there_for_as_long_as_the_block() -> None:
    with serving(python(OBEDIENT), name="it", within=30) as port:
        assert listens(port)
    assert not listens(port)


def test_the_server_ends_with_an_exception_too() -> None:
    with pytest.raises(KeyboardInterrupt), serving(python(OBEDIENT), name="it", within=30) as port:
        raise KeyboardInterrupt
    assert not listens(port)


def test_a_server_that_does_not_end_by_itself_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE", 0.1)
    with serving(python(STUBBORN), name="it", within=30) as port:
        assert listens(port)
    assert not listens(port)


def test_the_server_does_not_outlive_whoever_started_it() -> None:
    starter = (
        "from loopwatch.testing.process import serving\n"
        f"with serving({python(OBEDIENT)!r}, name='it', within=30) as port:\n"
        "    print(port, flush=True)\n"
        "    input()"
    )
    with subprocess.Popen(
        python(starter), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as starting:
        assert starting.stdout is not None
        port = starting.stdout.readline()
        assert listens(port)
        os.kill(starting.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while listens(port):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_server_that_says_nothing_in_time() -> None:
    with (
        pytest.raises(LoopwatchError, match=r"^the silent one did not answer within 0.2 seconds$"),
        serving(python("import sys; sys.stdin.read()"), name="the silent one", within=0.2),
    ):
        pass


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit(7)", "exit code 7"),
        ("raise ValueError('no such thing')", "ValueError: no such thing"),
    ],
)
def test_a_server_that_ends_says_why(code: str, reason: str) -> None:
    with (
        pytest.raises(LoopwatchError, match=f"^it ended before it answered: {reason}$"),
        serving(python(code), name="it", within=30),
    ):
        pass
