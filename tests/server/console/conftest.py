from collections.abc import AsyncIterator

import pytest

from tests.server.console.guest import Guest, member, visitor
from tests.server.house import House


@pytest.fixture
async def owner(house: House) -> AsyncIterator[Guest]:
    async with member(house) as guest:
        yield guest


@pytest.fixture
async def viewer(house: House) -> AsyncIterator[Guest]:
    async with member(house, "viewer", "vic@example.com") as guest:
        yield guest


@pytest.fixture
async def stranger(house: House) -> AsyncIterator[Guest]:
    async with visitor(house) as guest:
        yield guest
