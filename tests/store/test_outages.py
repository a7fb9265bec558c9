"""Databases that are full, locked or gone: never a success that was none, and on again afterwards."""

import logging
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from valkey.asyncio import Valkey

from loopwatch.clock import ManualClock
from loopwatch.config.project import ProjectSettings
from loopwatch.errors import StoreError, StoreUnavailable
from loopwatch.records.alert import Alert
from loopwatch.records.delivery import Draft
from loopwatch.store import engines
from loopwatch.store.opening import open_store
from tests.store.cable import cable
from tests.store.calls import a_call, alerts_of, log, price_of


async def test_a_full_disk_is_unavailable_and_the_writer_recovers(
    sqlite_url: str, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(sqlite_url, clock, price=price_of) as store:
        project = (await store.projects.create("Acme")).id
    pragmas = engines._PRAGMAS
    monkeypatch.setattr(engines, "_PRAGMAS", (*pragmas, "max_page_count=100"))
    async with open_store(sqlite_url, clock, price=price_of) as store:
        answered = 0

        async def fill() -> None:
            nonlocal answered
            while True:
                users = (f"user-{answered + one}" for one in range(20))
                await log(store, project, *(a_call(clock, 1, user) for user in users))
                answered += 20

        with pytest.raises(StoreUnavailable, match="on a disk that is full: free some space") as full:
            await fill()
        assert full.value.retry_after > 0
        assert 0 < answered == (await store.reports.totals(project, clock.now())).calls
        assert store.writer.counts.unavailable == 20
        monkeypatch.setattr(engines, "_PRAGMAS", pragmas)
        await store.database.engine.dispose()  # connections made from here on have room
        await log(store, project, a_call(clock))
        assert (await store.reports.totals(project, clock.now())).calls == answered + 1


async def test_a_database_that_somebody_else_locks_is_unavailable(
    sqlite_url: str, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "_PRAGMAS", (*engines._PRAGMAS, "busy_timeout=50"))
    async with open_store(sqlite_url, clock) as store:
        project = (await store.projects.create("Acme")).id
        with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="locked by another process"):
                await log(store, project, a_call(clock))
            other.rollback()
        assert await log(store, project, a_call(clock)) == ["stored"]


async def test_a_database_that_is_gone_is_unavailable_until_it_is_back(
    postgres_url: str, clock: ManualClock
) -> None:
    async with cable(postgres_url) as (line, near), open_store(near, clock, price=price_of) as store:
        project = (await store.projects.create("Acme")).id
        call = a_call(clock, 30_000)
        await log(store, project, call)
        await store.ready()
        await line.pull()
        lost = a_call(clock, 30_000)
        for _ in range(3):
            with pytest.raises(StoreUnavailable, match="does not answer"):
                await log(store, project, lost)
        with pytest.raises(StoreUnavailable):
            await store.ready()
        with pytest.raises(StoreUnavailable):
            await store.users.list(project)
        await line.plug()
        assert await log(store, project, call, lost) == ["duplicate", "stored"]
        assert await alerts_of(store, project) == [("u1", 60_000, 0)]


async def test_a_connection_that_died_unnoticed_costs_nobody_an_answer(
    postgres_url: str, clock: ManualClock
) -> None:
    async with cable(postgres_url) as (line, near), open_store(near, clock) as store:
        project = (await store.projects.create("Acme")).id
        await log(store, project, a_call(clock))
        await line.pull()
        await line.plug()  # a failover, between two calls
        assert await log(store, project, a_call(clock)) == ["stored"]


async def test_a_server_that_was_never_there_is_one_clear_line(clock: ManualClock) -> None:
    with pytest.raises(StoreUnavailable) as gone:
        async with open_store("postgresql://ann:s3cret@127.0.0.1:9/x", clock):
            raise AssertionError
    assert "s3cret" not in str(gone.value)
    assert "\n" not in str(gone.value)


async def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path, clock: ManualClock) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError) as refused:
        async with open_store(f"sqlite:///{tmp_path}/file/loopwatch.db", clock):
            raise AssertionError
    assert "\n" not in str(refused.value)


async def test_the_tables_take_over_where_valkey_dies(
    url: str, valkey_server: str, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "loopwatch")
    async with (
        cable(valkey_server) as (line, near),
        open_store(url, clock, price=price_of, windows=near) as store,
    ):
        project = (await store.projects.create("Acme")).id
        await log(store, project, a_call(clock, 30_000, "a"), a_call(clock, 60_000, "b"))
        await line.pull()
        for _ in range(3):
            await log(store, project, a_call(clock, 5_000, "a"), a_call(clock, 5_000, "b"))
            clock.advance(7)
        await log(store, project, a_call(clock, 5_001, "a"))
        assert await alerts_of(store, project) == [("b", 60_000, 0), ("a", 50_001, 0)]
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert "the database sums the windows" in caplog.text
        await line.plug()
        clock.advance(7)
        await log(store, project, a_call(clock, 1, "a"))  # what it has is out of date, and is not believed
        assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
        clock.advance(1_800)
        await log(store, project, a_call(clock, 50_000, "a"))
        assert len(await alerts_of(store, project)) == 2


async def test_a_valkey_that_forgets_is_told_again(url: str, valkey_server: str, clock: ManualClock) -> None:
    async with open_store(url, clock, price=price_of, windows=valkey_server) as store:
        project = (await store.projects.create("Acme")).id
        await log(store, project, a_call(clock, 50_000))
        client = Valkey.from_url(valkey_server)
        await client.flushall()
        await client.aclose()
        await log(store, project, a_call(clock, 1))
        assert await alerts_of(store, project) == [("u1", 50_001, 0)]


async def test_a_batch_that_was_undone_leaves_nothing_in_valkey(
    url: str, valkey_server: str, clock: ManualClock
) -> None:
    broken = True

    def compose(alert: Alert, settings: ProjectSettings) -> list[Draft]:
        assert alert.user_id
        assert settings.velocity_alerts
        if broken:
            raise RuntimeError("a template without its end")
        return []

    async with open_store(url, clock, compose=compose, windows=valkey_server) as store:
        project = (await store.projects.create("Acme")).id
        await log(store, project, a_call(clock, 30_000))
        with pytest.raises(StoreError, match="cannot be stored"):
            await log(store, project, a_call(clock, 25_000))
        broken = False
        await log(store, project, a_call(clock, 20_000))
        assert await alerts_of(store, project) == []
        await log(store, project, a_call(clock, 1))
        assert await alerts_of(store, project) == [("u1", 50_001, 0)]


async def test_a_user_who_is_erased_is_erased_there_too(
    url: str, valkey_server: str, clock: ManualClock
) -> None:
    async with open_store(url, clock, windows=valkey_server) as store:
        project = (await store.projects.create("Acme")).id
        await log(store, project, a_call(clock, 40_000))
        await store.users.erase(project, "u1")
        await log(store, project, a_call(clock, 20_000))
        assert await alerts_of(store, project) == []
        assert await store.outbox.claim(clock.now(), timedelta(1), limit=1, busy=()) == []


async def test_a_file_that_was_deleted_or_replaced_takes_nothing_in(
    tmp_path: Path, clock: ManualClock
) -> None:
    file = tmp_path / "calls.db"
    async with open_store(f"sqlite:///{file}", clock, price=price_of) as store:
        project = await store.projects.create("Acme")
        await log(store, project.id, a_call(clock))
        file.rename(tmp_path / "elsewhere.db")
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="was deleted or replaced while it was in use"):
                await log(store, project.id, a_call(clock))
            with pytest.raises(StoreUnavailable, match="was deleted or replaced"):
                await store.ready()
            file.touch()
        file.unlink()
        (tmp_path / "elsewhere.db").rename(file)
        await log(store, project.id, a_call(clock))


async def test_a_folder_is_no_database(tmp_path: Path, clock: ManualClock) -> None:
    with pytest.raises(StoreError, match="is a folder: name a file in it"):
        async with open_store(f"sqlite:///{tmp_path}", clock):
            pass
