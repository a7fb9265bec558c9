"""A pipe that a child process writes into, closed for certain whoever else still holds its other end."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Pipe:
    """What comes through is read from ``reader``; the child is given ``inlet``, which then is closed here."""

    def __init__(self, reader: asyncio.StreamReader, inlet: int) -> None:
        """Take both ends."""
        self.reader = reader
        self.inlet = inlet

    def hand_over(self) -> None:
        """The child has the inlet: close ours, so that its end is seen."""
        if self.inlet >= 0:
            os.close(self.inlet)
            self.inlet = -1


@asynccontextmanager
async def piped(limit: int = 64 * 1024) -> AsyncIterator[Pipe]:
    """A pipe for as long as the block lasts; ``limit`` is the most bytes of a line."""
    outlet, inlet = os.pipe()
    reader = asyncio.StreamReader(limit=limit)
    pipe = Pipe(reader, inlet)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(outlet, "rb", 0)
    )
    try:
        yield pipe
    finally:
        pipe.hand_over()
        transport.close()
        await asyncio.sleep(0)  # the event loop closes it at its next turn
