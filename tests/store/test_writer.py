"""What the writer answers, and what it writes."""

import asyncio
import logging

import pytest
from sqlalchemy import select

from loopwatch.clock import ManualClock
from loopwatch.errors import StoreError, StoreUnavailable
from loopwatch.records.call import Call
from loopwatch.store import writer
from loopwatch.store.opening import Store, open_store
from loopwatch.store.tables import calls, metadata
from tests.records.rows import OTEL, taken
from tests.store.calls import a_call, log


@pytest.fixture
async def project(store: Store) -> str:
    return (await store.projects.create("Acme")).id


async def test_a_call_is_stored_whole(store: Store, project: str) -> None:
    call = taken(OTEL)
    assert await log(store, project, call) == ["stored"]
    (logged,) = await store.reports.recent(project)
    for name in logged.__struct_fields__:
        if name not in ("cost_nano", "place"):
            assert getattr(logged, name) == getattr(call, name), name
    assert logged.cost_nano == (1_300 + 200) * 1_000
    async with store.database.reading() as connection:
        row = (await connection.execute(select(calls))).one()
    assert (row.estimate_method, row.generation_ids) == ("chars/latin/3.9", '["gen-1","gen-2"]')


async def test_an_unknown_price_is_null_and_counted_never_zero(
    store: Store, project: str, clock: ManualClock
) -> None:
    await log(store, project, a_call(clock), a_call(clock, request_model="mystery"), a_call(clock, 0))
    assert [one.cost_nano for one in await store.reports.recent(project)] == [0, None, 10_000_000]
    sums = await store.reports.totals(project, clock.now())
    assert (sums.calls, sums.cost_nano, sums.unpriced) == (3, 10_000_000, 1)


async def test_a_price_that_fails_is_an_unknown_one(
    url: str, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(call: Call, settings: object) -> int | None:
        raise LookupError(call.request_model, settings)

    async with open_store(url, clock, price=broken) as store:
        project = (await store.projects.create("Acme")).id
        assert await log(store, project, a_call(clock)) == ["stored"]
        assert (await store.reports.totals(project, clock.now())).unpriced == 1
    assert "its cost is stored as unknown" in caplog.text


async def test_the_same_event_again_is_counted_once_and_the_first_one_holds(
    store: Store, project: str, clock: ManualClock
) -> None:
    call, other = a_call(clock, 100, event_id="e"), a_call(clock, 999, event_id="e")
    assert await log(store, project, call, call, other) == ["stored", "duplicate", "conflict"]
    clock.advance(86_400)
    assert await log(store, project, other, call) == ["conflict", "duplicate"]
    assert (await store.reports.totals(project, store.reports.month_start())).input_tokens == 100
    counts = store.writer.counts
    assert (counts.stored, counts.duplicates, counts.conflicts) == (1, 2, 2)


async def test_an_event_id_is_a_project_s_own(store: Store, project: str, clock: ManualClock) -> None:
    other = (await store.projects.create("Other")).id
    call = a_call(clock)
    assert await log(store, project, call) == await log(store, other, call) == ["stored"]


async def test_the_same_event_from_many_at_once_is_stored_once(
    store: Store, project: str, clock: ManualClock
) -> None:
    call = a_call(clock)
    outcomes = await asyncio.gather(*(log(store, project, call) for _ in range(50)))
    assert sorted(one for (one,) in outcomes) == ["duplicate"] * 49 + ["stored"]


async def test_callers_at_the_same_time_share_transactions(
    store: Store, project: str, clock: ManualClock
) -> None:
    await asyncio.gather(*(log(store, project, a_call(clock, 1, f"u{n}")) for n in range(400)))
    assert store.writer.counts.stored == 400
    assert store.writer.counts.transactions <= 3


async def test_calls_of_a_project_that_is_gone_disturb_nobody(
    store: Store, project: str, clock: ManualClock
) -> None:
    lost, kept = await asyncio.gather(
        log(store, "prj_none", a_call(clock), a_call(clock)), log(store, project, a_call(clock))
    )
    assert (lost, kept) == (["no project"] * 2, ["stored"])


async def test_nobody_pays_for_somebody_else_s_row(
    store: Store, project: str, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    impossible = a_call(clock, 2**70, user="CANARY")  # read_row would have refused it
    results = await asyncio.gather(
        *(log(store, project, call) for call in (a_call(clock), impossible, a_call(clock))),
        return_exceptions=True,
    )
    assert [results[0], results[2]] == [["stored"], ["stored"]]
    assert isinstance(results[1], StoreError)
    assert not isinstance(results[1], StoreUnavailable)
    assert "CANARY" not in str(results[1])
    assert (await store.reports.totals(project, clock.now())).calls == 2


async def test_nothing_is_logged_in_no_time(store: Store, project: str) -> None:
    assert await log(store, project) == []
    assert store.writer.counts.transactions == 0


async def test_a_writer_that_stops_stores_what_it_took_and_takes_no_more(
    url: str, clock: ManualClock
) -> None:
    async with open_store(url, clock) as store:
        project = (await store.projects.create("Acme")).id
        waiting = [asyncio.ensure_future(log(store, project, a_call(clock))) for _ in range(100)]
        await asyncio.sleep(0)
        store.writer.close()
        with pytest.raises(StoreUnavailable, match="stopping"):
            await log(store, project, a_call(clock))
        assert await asyncio.gather(*waiting) == [["stored"]] * 100


async def test_more_than_can_be_stored_is_turned_away(
    store: Store, project: str, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MOST_WAITING", 10)
    results = await asyncio.gather(
        *(log(store, project, a_call(clock)) for _ in range(30)), return_exceptions=True
    )
    assert results.count(["stored"]) == 10
    assert sum(isinstance(one, StoreUnavailable) for one in results) == 20
    assert await log(store, project, a_call(clock)) == ["stored"]


async def test_a_caller_that_goes_away_loses_no_call(store: Store, project: str, clock: ManualClock) -> None:
    task = asyncio.ensure_future(log(store, project, a_call(clock)))
    await asyncio.sleep(0)
    task.cancel()
    assert await log(store, project, a_call(clock)) == ["stored"]
    assert (await store.reports.totals(project, clock.now())).calls == 2


async def test_whoever_delivers_is_told_of_new_alerts(store: Store, project: str, clock: ManualClock) -> None:
    told: list[str] = []
    store.writer.on_alerts = lambda alerts: told.extend(alert.user_id for alert in alerts)
    await log(store, project, a_call(clock, 60_000))
    await log(store, project, a_call(clock, 60_000))
    assert told == ["u1"]


async def test_what_the_block_raises_comes_out_as_it_is(url: str, clock: ManualClock) -> None:
    with pytest.raises(KeyError):
        async with open_store(url, clock):
            raise KeyError


async def test_no_prompt_is_anywhere_in_the_database(store: Store, project: str) -> None:
    row = {
        **OTEL,
        "prompt": "CANARY",
        "messages": [{"role": "user", "content": "CANARY"}],
        "costUsd": "CANARY",
    }
    await log(store, project, taken(row))
    async with store.database.reading() as connection:
        for table in metadata.sorted_tables:
            assert "CANARY" not in str((await connection.execute(select(table))).all())
