"""A server in a child process, which ends when we do, however we end.

The child prints its address, and nothing else, once it answers; then it reads its standard input and
ends with it. That input is a pipe of ours: the system closes it even where we are killed and can clean
up nothing, on every platform alike.
"""

import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, cast

from loopwatch.errors import LoopwatchError

GRACE = 3
"""Seconds to end by itself before a child is killed."""


@contextmanager
def serving(command: Sequence[str], *, name: str, within: float) -> Iterator[str]:
    """Run ``command`` for as long as the block lasts; the value is the address that it printed.

    Raises LoopwatchError, which calls the server ``name``, where it prints none ``within`` so many
    seconds or ends before. What it says on standard error is kept for that message and not shown.
    """
    with tempfile.TemporaryFile() as complaints:
        child = subprocess.Popen(  # noqa: S603  the caller's own command
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,  # a Ctrl-C is for us, and we end the child in our own time
        )
        try:
            address = _first_line(child, within)
            if address is None:
                raise LoopwatchError(f"{name} did not answer within {within:g} seconds")
            if not address:
                code = child.wait()
                complaints.seek(0)
                said = complaints.read().decode("utf-8", "replace").split("\n")
                reason = next((line.strip() for line in reversed(said) if line.strip()), f"exit code {code}")
                raise LoopwatchError(f"{name} ended before it answered: {reason}")
            yield address
        finally:
            _end(child)


def _first_line(child: subprocess.Popen[bytes], within: float) -> str | None:
    """The first line of the child's output: None where it takes too long, empty where there is none."""
    output = cast("IO[bytes]", child.stdout)
    line = b""
    deadline = time.monotonic() + within
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(0, deadline - time.monotonic())):
                return None
            read = os.read(output.fileno(), 4_096)
            if not read:
                return ""
            line += read
    return line.decode("utf-8", "replace").strip()


def _end(child: subprocess.Popen[bytes]) -> None:
    """Close the child's input, which asks it to end; kill it where it does not."""
    try:
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        child.kill()  # does nothing once it has ended
        child.wait()
