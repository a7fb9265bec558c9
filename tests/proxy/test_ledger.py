"""Every call is logged: in a database that a server has open too, or at a server."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from loopwatch.clock import SystemClock
from loopwatch.errors import InputError, StoreError, StoreUnavailable
from loopwatch.proxy.ledger import LocalLedger, local
from loopwatch.proxy.serving import Logging
from loopwatch.records.call import Call
from loopwatch.server.serving import Options
from loopwatch.server.serving import opened as opened_server
from loopwatch.store.opening import open_store
from loopwatch.testing.answers import answer, looping
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import Usage
from tests.proxy.house import LOOP, Hasty, proxied
from tests.sdk.vendors import Collector

ASK = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hi"}], "stream": True, "user": "u1"}


async def test_calls_are_judged_where_they_are_stored_and_a_server_beside_delivers(tmp_path: Path) -> None:
    """The window's alert is in the outbox in the same transaction; the server has the file open meanwhile."""
    database = f"sqlite:///{tmp_path / 'loopwatch.db'}"
    async with open_store(database) as store:
        project = await store.projects.create(
            "acme", {"channels": [{"type": "slack", "url": "https://hooks.example.com/services/x"}]}
        )
    big = answer("It scatters.", usage=Usage(30_000, 10))
    logs = Logging(database=database)
    async with (
        opened_server(Options(database), environment={}) as app,
        scripted_provider(big, big, looping(LOOP)) as provider,
        proxied(provider.base_url, logs=logs) as proxy,
    ):
        for _ in range(3):
            async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
                await answered.read()
        server = app.state.services
        async with asyncio.timeout(10):
            while (await server.store.reports.totals(project.id, *_ever())).calls < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        (alert,) = await server.store.alerts.list(project.id)
        assert (alert.alert.user_id, alert.alert.tokens) == ("u1", 60_020)
        assert alert.deliveries


def _ever() -> tuple[Any, Any]:
    from datetime import UTC, datetime

    return datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


async def test_an_empty_database_gets_a_project(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'new' / 'loopwatch.db'}"
    async with scripted_provider(answer("Hi.")) as provider:
        async with (
            proxied(provider.base_url, logs=Logging(database=database)) as proxy,
            proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered,
        ):
            await answered.read()
        async with open_store(database) as store:
            (project,) = await store.projects.list()
            assert project.name == "proxy"
            assert (await store.reports.totals(project.id, *_ever())).calls == 1


async def test_of_several_projects_one_is_to_be_named(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'loopwatch.db'}"
    async with open_store(database) as store:
        for name in ("one", "two"):
            await store.projects.create(name)
    with pytest.raises(InputError, match=r"name the project .* --project, one of: .*\(one\), .*\(two\)"):
        async with local(database, None, "http://x", b"", SystemClock()):
            pass
    async with local(database, "two", "http://x", b"", SystemClock()) as ledger:
        assert ledger.pseudonym is None


class Moody:
    """A writer that fails as it is told."""

    def __init__(self, *moods: Exception | None) -> None:
        self.moods = list(moods)
        self.stored: list[Call] = []

    async def log(self, project_id: str, calls: list[Call]) -> object:
        assert project_id == "p"
        mood = self.moods.pop(0) if self.moods else None
        if mood is not None:
            raise mood
        self.stored += calls
        return None


async def test_rows_wait_for_a_database_that_is_away_and_none_is_lost() -> None:
    writer, clock = Moody(StoreUnavailable("locked"), StoreUnavailable("locked")), Hasty()
    ledger = LocalLedger(writer, "p", None, clock)
    running = asyncio.ensure_future(ledger.run())
    now = SystemClock().now()
    for number in range(1_203):
        ledger.put(Call(event_id=str(number), at=now, received_at=now))
    ledger.close()
    await running
    assert [call.event_id for call in writer.stored] == [str(number) for number in range(1_203)]
    assert (clock.waited, ledger.lost) == ([2.0, 2.0], 0)


async def test_rows_that_cannot_be_stored_are_counted() -> None:
    ledger = LocalLedger(Moody(StoreError("no")), "p", None, Hasty())
    running = asyncio.ensure_future(ledger.run())
    now = SystemClock().now()
    ledger.put(Call(event_id="1", at=now, received_at=now))
    ledger.close()
    await running
    assert ledger.lost == 1


async def test_a_server_gets_the_rows() -> None:
    collector = Collector()
    with collector.running():
        logs = Logging(server=collector.url, server_key="lw-key")
        async with (
            scripted_provider(looping(LOOP)) as provider,
            proxied(provider.base_url, logs=logs) as proxy,
            proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered,
        ):
            await answered.read()
        (row,) = collector.rows
        assert (row["userId"], row["loopRule"], row["loopAborts"]) == ("u1", "cycle", 1)
        assert collector.posts[0]["x-api-key"] == "lw-key"
        assert LOOP.split()[2] not in str(row)
        assert "lw-key" not in repr(logs)
