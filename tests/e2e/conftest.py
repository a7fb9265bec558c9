from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from tests.e2e.browsers import chromium


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened
