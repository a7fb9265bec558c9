"""An answer as it arrives from upstream, under two clocks."""

import asyncio

from loopwatch.client.http import AiohttpResponse
from loopwatch.client.transport import TransportError
from loopwatch.client.watchdog import Expired, Watchdog
from loopwatch.proxy.refusals import Broken
from loopwatch.sdk.watching import Watched


class Incoming:
    """Reads one answer. ``progressed`` is told by whoever knows that something of the reply came."""

    __slots__ = ("_watchdog", "_watched", "response")

    def __init__(self, response: AiohttpResponse, watchdog: Watchdog, watched: Watched | None) -> None:
        """Take an answer whose head has arrived, and who hears it."""
        self.response = response
        self._watchdog = watchdog
        self._watched = watched

    async def read(self) -> bytes:
        """What has arrived; nothing at the end. Raises Broken where that does not come."""
        watchdog = self._watchdog
        watchdog.watch()
        try:
            return await self.response.read()
        except TransportError as error:
            if self._watched is not None and self._watched.draft.done:
                return b""  # the provider had said that it was done: all there is has been relayed
            raise Broken(f"{error} (in the middle of it)") from None
        except asyncio.CancelledError:
            try:
                watchdog.explain()
            except Expired as expired:
                raise silent(expired, watchdog) from None
            raise
        finally:
            watchdog.rest()

    def progressed(self) -> None:
        """Something came: the idle clock begins anew."""
        self._watchdog.progressed()


def silent(expired: Expired, watchdog: Watchdog) -> Broken:
    """What to raise where a clock has run out."""
    if expired.which == "ceiling":
        return Broken(f"no reply within {watchdog.ceiling:g} s, the most that one may take", 504)
    return Broken(f"nothing came from upstream for {watchdog.idle:g} s", 504)
