from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopwatch.clock import ManualClock
from tests.server.house import House, serving

NOON = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOON)


@pytest.fixture
async def house(tmp_path: Path, clock: ManualClock) -> AsyncIterator[House]:
    """A server whose time stands still."""
    async with serving(tmp_path / "loopwatch.db", clock) as opened:
        yield opened
