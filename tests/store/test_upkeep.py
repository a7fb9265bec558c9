import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from loopwatch.clock import ManualClock
from loopwatch.config.project import ProjectSettings
from loopwatch.errors import InputError, StoreError
from loopwatch.records.alert import Alert
from loopwatch.records.delivery import Draft, Place
from loopwatch.store import upkeep
from loopwatch.store.opening import Store, open_store
from loopwatch.store.tables import alerts, calls, outbox, window_buckets
from tests.store.calls import a_call, alerts_of, log

DAY = 86_400


@pytest.fixture
async def project(store: Store) -> str:
    return (await store.projects.create("Acme", {"retentionDays": 7})).id


async def count(store: Store, table: object) -> int:
    async with store.database.reading() as connection:
        return (await connection.execute(select(func.count()).select_from(table))).scalar_one()  # type: ignore[arg-type]


async def test_what_is_older_than_a_project_keeps_is_deleted_and_the_sums_stay(
    store: Store, project: str, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "AT_ONCE", 10)
    forever = (await store.projects.create("Other", {"retentionDays": 3_660})).id
    for one in (project, forever):
        await log(store, one, *(a_call(clock, 10, f"u{n}") for n in range(25)))
    clock.advance(4 * DAY)
    await log(store, project, a_call(clock, 10))
    clock.advance(4 * DAY)
    assert await store.upkeep.prune() > 25
    assert len(await store.reports.recent(project)) == 1
    assert len(await store.reports.recent(forever)) == 25
    assert await count(store, window_buckets) == 0
    assert (await store.reports.totals(project, store.reports.month_start())).calls == 26
    assert len(await store.users.list(project)) == 25
    assert await store.upkeep.prune() == 0


async def test_a_window_that_is_open_is_never_pruned(store: Store, project: str, clock: ManualClock) -> None:
    await store.projects.change(project, {"windowMinutes": 360, "retentionDays": 1}, "test")
    await log(store, project, a_call(clock, 30_000))
    clock.advance(6 * 3_600 - 1)
    await store.upkeep.prune()
    await log(store, project, a_call(clock, 30_000))
    assert len(await alerts_of(store, project)) == 1


async def test_a_message_that_is_not_sent_is_never_pruned(url: str, clock: ManualClock) -> None:
    def compose(alert: Alert, settings: ProjectSettings) -> list[Draft]:
        assert settings.velocity_alerts
        return [Draft(alert.id, Place(alert.project_id, alert.user_id), alert.user_id)]

    async with open_store(url, clock, compose=compose) as store:
        project = (await store.projects.create("Acme")).id
        await log(store, project, a_call(clock, 60_000, "sent"), a_call(clock, 60_000, "waits"))
        claimed = await store.outbox.claim(clock.now(), timedelta(minutes=1), limit=10, busy=())
        await store.outbox.delivered(next(one for one in claimed if one.body == "sent"), clock.now())
        clock.advance(500 * DAY)
        await store.upkeep.prune()
        assert (await count(store, alerts), await count(store, outbox), await count(store, calls)) == (
            1,
            1,
            0,
        )
        (waits,) = await store.outbox.claim(clock.now(), timedelta(minutes=1), limit=10, busy=())
        assert waits.body == "waits"


async def test_a_backup_is_whole_while_the_database_is_in_use(
    sqlite_url: str, clock: ManualClock, tmp_path: Path
) -> None:
    async with open_store(sqlite_url, clock) as store:
        project = (await store.projects.create("Acme")).id
        await log(store, project, *(a_call(clock) for _ in range(20)))
        target = tmp_path / "copy.db"
        await store.upkeep.backup(target)
        await log(store, project, a_call(clock))
        with pytest.raises(InputError, match=r"copy\.db exists"):
            await store.upkeep.backup(target)
        with pytest.raises(InputError, match="nowhere"):
            await store.upkeep.backup(tmp_path / "nowhere" / "copy.db")
    with closing(sqlite3.connect(target)) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    async with open_store(f"sqlite:///{target}", clock) as store:
        assert len(await store.reports.recent(project)) == 20


async def test_a_backup_that_fails_leaves_nothing(
    sqlite_url: str, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    async with open_store(sqlite_url, clock) as store:
        monkeypatch.setattr(upkeep, "_copied", fail)
        with pytest.raises(StoreError, match="could not be written: database or disk is full"):
            await store.upkeep.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


async def test_postgresql_has_its_own_way(postgres_url: str, clock: ManualClock, tmp_path: Path) -> None:
    async with open_store(postgres_url, clock) as store:
        with pytest.raises(InputError, match="pg_dump"):
            await store.upkeep.backup(tmp_path / "copy.db")
