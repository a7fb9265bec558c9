"""Whether the client is still there: once it has gone, nothing more is read for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import Receive


class ClientGone(Exception):
    """Nobody waits for an answer any more."""


@asynccontextmanager
async def while_connected(receive: Receive) -> AsyncIterator[None]:
    """Run the block, whose request has been read. Raises ClientGone in it as soon as the client goes.

    Not a TaskGroup: it would wrap whatever the block raises, and listening raises nothing.
    """
    staying = asyncio.timeout(None)
    try:
        async with staying:
            listening = asyncio.ensure_future(_listen(receive, staying))
            try:
                yield
            finally:
                listening.cancel()
    except TimeoutError:
        if staying.expired():
            raise ClientGone from None
        raise


async def _listen(receive: Receive, staying: asyncio.Timeout) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    staying.reschedule(asyncio.get_running_loop().time())
