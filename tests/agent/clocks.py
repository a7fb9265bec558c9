"""Time for runs over real sockets: waits are short, clocks are the machine's."""

import asyncio

from loopwatch.clock import SystemClock


class HastyClock(SystemClock):
    """The machine's clock, on which nobody waits for longer than a moment."""

    async def sleep(self, seconds: float) -> None:
        """Wait, but not for so long."""
        await asyncio.sleep(min(seconds, 0.01))
