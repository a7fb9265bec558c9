"""A late truth: the row and all its sums are put right, once, and nobody is alerted about."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from loopwatch.clock import ManualClock
from loopwatch.records.call import Call
from loopwatch.store.opening import Store, open_store
from tests.store.calls import a_call, alerts_of, log, price_of


@pytest.fixture(params=["tables", "valkey"])
async def store(request: pytest.FixtureRequest, url: str, clock: ManualClock) -> AsyncIterator[Store]:
    windows = request.getfixturevalue("valkey_server") if request.param == "valkey" else None
    async with open_store(url, clock, price=price_of, windows=windows) as opened:
        yield opened


@pytest.fixture
async def project(store: Store) -> str:
    return (await store.projects.create("Acme")).id


def estimated(clock: ManualClock, tokens: int, **changes: Any) -> Call:
    cut = {"usage_source": "estimated", "estimate_method": "chars", "loop_aborts": 1, "loop_abort_chars": 99}
    return a_call(clock, tokens, **{**cut, **changes})


def truth(call: Call, tokens: int, **changes: Any) -> Call:
    return msgspec.structs.replace(call, usage_source="reconciled", input_tokens=tokens, **changes)


async def books(store: Store, project: str, clock: ManualClock) -> list[tuple[int, int, int, int]]:
    """Calls, tokens, cost and unpriced calls: of the hours, of the month, of the rows."""
    hours = await store.reports.totals(project, store.reports.month_start())
    (month,) = await store.users.list(project)
    rows = (await store.series.user(project, month.user_id, "day", clock.now()))[0].sums
    tokens = [one.input_tokens + one.output_tokens for one in (hours, rows)]
    return [
        (hours.calls, tokens[0], hours.cost_nano, hours.unpriced),
        (month.calls, month.tokens, month.cost_nano, month.unpriced),
        (rows.calls, tokens[1], rows.cost_nano, rows.unpriced),
    ]


async def test_the_row_and_every_sum_are_put_right_once(
    store: Store, project: str, clock: ManualClock
) -> None:
    call = estimated(clock, 1_000)
    assert await log(store, project, call, a_call(clock, 5)) == ["stored"] * 2
    assert await books(store, project, clock) == [(2, 1_005, 1_005_000, 0)] * 3
    clock.advance(60)
    true = truth(call, 1_500, output_tokens=7)
    assert await log(store, project, true) == ["corrected"]
    assert await log(store, project, true, call) == ["duplicate"] * 2
    assert await log(store, project, truth(call, 9)) == ["conflict"]
    assert await books(store, project, clock) == [(2, 1_512, 1_512_000, 0)] * 3
    logged = {one.event_id: one for one in await store.reports.recent(project)}[call.event_id]
    assert (logged.usage_source, logged.output_tokens, logged.at) == ("reconciled", 7, call.at)
    assert logged.loop_abort_chars == 99
    state = await store.users.get(project, "u1")
    assert state is not None
    assert state.window_tokens == 1_512
    assert store.writer.counts.corrected == 1


async def test_an_unknown_cost_becomes_the_provider_s_bill(
    store: Store, project: str, clock: ManualClock
) -> None:
    call = estimated(clock, 0, request_model="mystery", usage_source="unknown")
    await log(store, project, call)
    assert await books(store, project, clock) == [(1, 0, 0, 1)] * 3
    await log(store, project, truth(call, 10, provider_cost_usd=0.25))
    assert await books(store, project, clock) == [(1, 10, 250_000_000, 0)] * 3


async def test_a_correction_alerts_nobody_and_the_next_call_judges(
    store: Store, project: str, clock: ManualClock
) -> None:
    call = estimated(clock, 10_000)
    await log(store, project, call)
    await log(store, project, truth(call, 60_000))
    assert await alerts_of(store, project) == []
    await log(store, project, a_call(clock, 1))
    assert await alerts_of(store, project) == [("u1", 60_001, 0)]


async def test_a_window_that_was_overestimated_is_emptied(
    store: Store, project: str, clock: ManualClock
) -> None:
    call = estimated(clock, 49_000)
    await log(store, project, call)
    await log(store, project, truth(call, 1_000), a_call(clock, 30_000))  # in one batch with another call
    await log(store, project, a_call(clock, 10_000))
    assert await alerts_of(store, project) == []


async def test_an_estimate_and_its_truth_in_one_batch_and_in_the_wrong_order(
    store: Store, project: str, clock: ManualClock
) -> None:
    one, other = estimated(clock, 100), estimated(clock, 100)
    outcomes = await log(store, project, one, truth(one, 30), truth(other, 40), other)
    assert outcomes == ["stored", "corrected", "stored", "duplicate"]
    assert await books(store, project, clock) == [(2, 70, 70_000, 0)] * 3


async def test_what_is_no_correction(store: Store, project: str, clock: ManualClock) -> None:
    counted = a_call(clock, 100)
    guessed = estimated(clock, 100)
    await log(store, project, counted, guessed)
    assert await log(store, project, truth(counted, 5)) == ["conflict"]  # the provider has spoken already
    assert await log(store, project, truth(guessed, 5, user_id="u2")) == ["conflict"]
    assert await log(store, project, truth(guessed, 5, request_model="gpt-4o")) == ["conflict"]
    assert (await store.reports.totals(project, clock.now())).input_tokens == 200


async def test_long_after_its_bucket_is_gone(store: Store, project: str, clock: ManualClock) -> None:
    call = estimated(clock, 100)
    await log(store, project, call)
    clock.advance(13 * 3_600 - 60)
    await store.upkeep.prune()
    await log(store, project, truth(call, 300))
    assert (await store.reports.totals(project, store.reports.month_start())).input_tokens == 300
    state = await store.users.get(project, "u1")
    assert state is not None
    assert state.window.calls == 0


async def test_two_servers_correct_one_anonymous_call_once(postgres_url: str, clock: ManualClock) -> None:
    async with (
        open_store(postgres_url, clock, price=price_of) as one,
        open_store(postgres_url, clock, price=price_of) as other,
    ):
        project = (await one.projects.create("Acme")).id
        guesses = [estimated(clock, 100, user=None) for _ in range(30)]
        await log(one, project, *guesses)
        for guess in guesses:
            said = await asyncio.gather(*(log(store, project, truth(guess, 30)) for store in (one, other)))
            assert ["corrected"] in said
        assert (await one.reports.totals(project, clock.now())).input_tokens == 900
