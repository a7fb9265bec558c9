"""Two lines in a program, against a whole loopwatch server: what a newcomer does first."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import openai
import pytest

from loopwatch.errors import CapReached
from loopwatch.sdk.tracker import Tracker
from loopwatch.testing.answers import document
from loopwatch.testing.provider import scripted_provider
from tests.server.house import House, serving

ROOT = Path(__file__).parents[2]
NODE = shutil.which("node")
ASK: dict[str, Any] = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Why?"}]}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(tmp_path / "db.sqlite") as made:
        yield made


async def users(house: House) -> list[dict[str, Any]]:
    found = await house.get(f"/api/v1/users/{house.project}")
    return list(found["users"])


async def test_calls_arrive_with_user_feature_and_plan_and_a_cap_stops_the_next(house: House) -> None:
    await house.set(
        prices={"gpt-4o-mini": {"input": 1_000, "output": 1_000}},
        plans={"free": 0},
        caps={"free": {"monthlyUsd": 0.001, "action": "block"}},
    )
    tracker = Tracker(api_key=house.key, endpoint=house.url, plans={"free": 0})
    async with scripted_provider(document("Hello.")) as provider:
        client = tracker.wrap(openai.AsyncOpenAI(base_url=provider.base_url, api_key="none"))
        async with client:
            with tracker.user("u1", feature="research", plan="free"):
                await client.chat.completions.create(**ASK)
            assert await asyncio.to_thread(tracker.flush)
            (row,) = await users(house)
            assert (row["userId"], row["planName"], row["requestCount"]) == ("u1", "free", 1)
            assert row["totalTokens"] > 0  # this server reports no usage: it is estimated
            with tracker.user("u2", plan="free"):
                await client.chat.completions.create(**ASK)
                assert await asyncio.to_thread(tracker.flush)
            later = Tracker(api_key=house.key, endpoint=house.url, plans={"free": 0})
            with later.user("u1", plan="free"), pytest.raises(CapReached, match="u1"):
                await later.wrap(client).chat.completions.create(**ASK)
    await asyncio.to_thread(later.close)
    await asyncio.to_thread(tracker.close)


@pytest.mark.skipif(NODE is None, reason="node is missing: apt-get install nodejs")
async def test_the_program_in_javascript_logs_its_calls(house: House) -> None:
    environment = {**os.environ, "LOOPWATCH_KEY": house.key, "LOOPWATCH_URL": house.url}
    program = str(ROOT / "examples" / "track-calls.mjs")
    running = await asyncio.create_subprocess_exec(
        str(NODE), program, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    said, complaint = await running.communicate()
    assert running.returncode == 0, complaint.decode()
    assert "accepted: 1" in said.decode()
    assert [row["userId"] for row in await users(house)] == ["u1"]


@pytest.mark.skipif(NODE is None, reason="node is missing: apt-get install nodejs")
async def test_the_program_in_javascript_says_why_nothing_was_logged(house: House) -> None:
    environment = {**os.environ, "LOOPWATCH_KEY": "wrong", "LOOPWATCH_URL": house.url}
    program = str(ROOT / "examples" / "track-calls.mjs")
    running = await asyncio.create_subprocess_exec(
        str(NODE), program, env=environment, stderr=asyncio.subprocess.PIPE
    )
    _, complaint = await running.communicate()
    assert running.returncode == 1
    assert "the calls were not logged: HTTP 401" in complaint.decode()
