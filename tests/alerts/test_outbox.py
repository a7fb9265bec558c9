"""What every outbox does: the one in memory and the one over a table, asked the same."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from loopwatch.alerts.memory import MOST_DONE, MemoryOutbox
from loopwatch.alerts.outbox import Outbox, drafts
from loopwatch.clock import ManualClock
from loopwatch.records.delivery import Delivery, Draft, Place
from loopwatch.store.opening import open_store
from tests.alerts.channels.fakes import Fixed
from tests.alerts.samples import AT, message

LEASE = timedelta(minutes=2)


def draft(name: str, channel: str = "slack", project: str = "acme") -> Draft:
    return Draft(f"{name}.{channel}", Place(project, channel), f"body of {name}")


class Box:
    """An outbox of either kind, and how something is written to it."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox

    async def write(self, *drafts: Draft) -> None:
        store: Any = self.outbox
        if isinstance(store, MemoryOutbox):
            store.write(drafts, AT)
        else:
            await store.write(drafts)

    async def claim(self, *busy: Place, limit: int = 10, later: float = 0) -> Sequence[Delivery]:
        at = AT + timedelta(seconds=later)
        found = await self.outbox.claim(at, LEASE, limit=limit, busy=busy)
        return sorted(found, key=lambda one: one.id)

    async def ids(self, *busy: Place, limit: int = 10, later: float = 0) -> list[str]:
        return [one.id for one in await self.claim(*busy, limit=limit, later=later)]


@pytest.fixture(params=["memory", "sqlite"])
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Box]:
    if request.param == "memory":
        yield Box(MemoryOutbox())
        return
    async with open_store(f"sqlite:///{tmp_path}/outbox.db", ManualClock(AT)) as store:
        yield Box(store.outbox)


class TestOutbox:
    async def test_what_is_written_is_claimed_once_and_as_it_was_written(self, box: Box) -> None:
        await box.write(draft("a"))
        (delivery,) = await box.claim()
        assert delivery == Delivery("a.slack", Place("acme", "slack"), "body of a", AT, attempt=1)
        assert await box.ids() == []

    async def test_what_is_written_twice_is_there_once(self, box: Box) -> None:
        await box.write(draft("a"))
        (delivery,) = await box.claim()
        await box.outbox.delivered(delivery, AT)
        await box.write(draft("a"))
        assert await box.ids() == []

    async def test_one_for_each_place_the_oldest_and_none_for_a_busy_one(self, box: Box) -> None:
        await box.write(draft("a"), draft("b"), draft("a", "mail"), draft("c", project="other"))
        (mail, slack) = await box.claim(Place("other", "slack"))
        assert (mail.id, slack.id) == ("a.mail", "a.slack")
        await box.outbox.delivered(slack, AT)
        assert await box.ids() == ["b.slack", "c.slack"]
        assert await box.ids() == []

    async def test_no_place_has_two_under_way(self, box: Box) -> None:
        await box.write(draft("a"), draft("b"))
        assert await box.ids() == ["a.slack"]
        assert await box.ids() == []
        assert await box.ids(later=119) == []
        assert await box.ids(later=120) == ["a.slack"]  # whoever claimed it has died

    async def test_no_more_than_asked_for(self, box: Box) -> None:
        await box.write(*(draft("a", f"c{n}") for n in range(5)))
        assert len(await box.ids(limit=3)) == 3

    async def test_a_retry_is_due_when_it_was_said_and_holds_up_nobody(self, box: Box) -> None:
        await box.write(draft("a"), draft("b"))
        (first,) = await box.claim()
        await box.outbox.retry(first, AT + timedelta(seconds=30), "503")
        (second,) = await box.claim()
        assert second.id == "b.slack"
        await box.outbox.delivered(second, AT)
        assert await box.ids(later=29) == []
        (again,) = await box.claim(later=30)
        assert (again.id, again.attempt, again.body) == ("a.slack", 2, "body of a")
        await box.outbox.dead(again, AT, "403")
        assert await box.ids(later=90_000) == []

    async def test_a_mark_that_comes_late_changes_nothing(self, box: Box) -> None:
        await box.write(draft("a"))
        (slow,) = await box.claim()
        (quick,) = await box.claim(later=120)
        assert (quick.id, quick.attempt) == (slow.id, 2)
        await box.outbox.retry(slow, AT, "late")
        await box.outbox.dead(slow, AT, "late")
        assert await box.ids(later=121) == []
        await box.outbox.delivered(quick, AT)
        await box.outbox.retry(slow, AT, "late")
        assert await box.ids(later=90_000) == []


def test_one_draft_for_each_channel_that_takes_the_message() -> None:
    found = drafts(message(), {"a": Fixed("x"), "b": Fixed(None), "c": Fixed("y")})
    assert list(found) == [
        Draft("al_1.a", Place("acme", "a"), "x"),
        Draft("al_1.c", Place("acme", "c"), "y"),
    ]


async def test_what_is_done_is_forgotten_in_the_end() -> None:
    outbox = MemoryOutbox()
    outbox.write([draft(f"a{n}") for n in range(MOST_DONE + 5)], AT)
    while found := await outbox.claim(AT, LEASE, limit=1, busy=()):
        await outbox.delivered(found[0], AT)
    outbox.write([draft("new")], AT)
    assert len(outbox.entries) == MOST_DONE + 1
    assert "new.slack" in outbox.entries


def test_no_body_is_in_a_repr() -> None:
    text = repr(Delivery("a", Place("p", "c"), "private", AT)) + repr(Draft("a", Place("p", "c"), "private"))
    assert "private" not in text
