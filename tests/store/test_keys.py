import re
from datetime import timedelta

import pytest
from sqlalchemy import select

from loopwatch.clock import ManualClock
from loopwatch.errors import InputError
from loopwatch.store import keys as module
from loopwatch.store.keys import Issued
from loopwatch.store.opening import Store, open_store
from loopwatch.store.tables import keys, metadata


@pytest.fixture
async def project(store: Store) -> str:
    return (await store.projects.create("Acme")).id


async def test_a_key_opens_its_project(store: Store, project: str, clock: ManualClock) -> None:
    issued = await store.keys.create(project, "production")
    found = await store.keys.authenticate(issued.secret)
    assert found == issued.key
    assert (found.project_id, found.admin, found.name) == (project, False, "production")
    clock.advance(1)
    assert (await store.keys.create(project, "console", admin=True)).key.admin
    assert [key.name for key in await store.keys.list(project)] == ["production", "console"]


async def test_it_is_long_and_kept_nowhere(store: Store, project: str) -> None:
    issued = await store.keys.create(project, "production")
    assert re.fullmatch(r"wk_[\w-]{43}", issued.secret)  # 256 bits
    assert issued.secret not in repr(issued)
    assert issued.secret.startswith(issued.key.prefix)
    async with store.database.reading() as connection:
        for table in metadata.sorted_tables:
            assert issued.secret not in str((await connection.execute(select(table))).all())


@pytest.mark.parametrize("secret", ["", "wk_", "wk_" + "x" * 43, "x" * 10_000, "\ud800", "wk_\x00"])
async def test_what_is_no_key_opens_nothing(store: Store, project: str, secret: str) -> None:
    await store.keys.create(project, "production")
    assert await store.keys.authenticate(secret) is None


async def test_a_revoked_key_opens_nothing_any_more(store: Store, project: str) -> None:
    by_id, by_prefix = [await store.keys.create(project, name) for name in ("a", "b")]
    for issued in (by_id, by_prefix):
        assert await store.keys.authenticate(issued.secret)
    assert await store.keys.revoke(by_id.key.id, project)
    assert await store.keys.revoke(by_prefix.key.prefix)
    assert not await store.keys.revoke("key_none")
    for issued in (by_id, by_prefix):
        assert await store.keys.authenticate(issued.secret) is None


async def test_another_project_s_key_is_not_there(store: Store, project: str) -> None:
    other = (await store.projects.create("Other")).id
    issued = await store.keys.create(other, "theirs")
    assert not await store.keys.revoke(issued.key.id, project)
    with pytest.raises(InputError, match="no such key"):
        await store.keys.rotate(issued.key.id, timedelta(0), project)
    assert await store.keys.list(project) == []
    assert len(await store.keys.list()) == 1


async def test_rotation_overlaps(store: Store, project: str, clock: ManualClock) -> None:
    old = await store.keys.create(project, "production", admin=True)
    new = await store.keys.rotate(old.key.id, timedelta(hours=1))
    assert (new.key.name, new.key.admin) == ("production", True)
    assert await store.keys.authenticate(old.secret)
    assert await store.keys.authenticate(new.secret)
    clock.advance(3_600)
    assert await store.keys.authenticate(old.secret) is None
    assert await store.keys.authenticate(new.secret)
    with pytest.raises(InputError, match="still holds"):
        await store.keys.rotate(old.key.id, timedelta(0))
    again = await store.keys.rotate(new.key.id, timedelta(0))
    assert await store.keys.authenticate(new.secret) is None
    assert await store.keys.authenticate(again.secret)


async def test_a_key_that_nobody_saw_opens_nothing(store: Store, project: str) -> None:
    seen: list[Issued] = []

    def full(issued: Issued) -> None:
        seen.append(issued)
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        await store.keys.create(project, "production", show=full)
    old = await store.keys.create(project, "production", show=seen.append)
    with pytest.raises(OSError, match="No space"):
        await store.keys.rotate(old.key.id, timedelta(0), show=full)
    opened = [await store.keys.authenticate(one.secret) for one in seen]
    assert [key is not None for key in opened] == [False, True, False]
    assert opened[1] == old.key  # as if nothing had been asked


async def test_a_key_revoked_elsewhere_works_for_seconds_at_most(
    url: str, store: Store, project: str, clock: ManualClock
) -> None:
    issued = await store.keys.create(project, "production")
    assert await store.keys.authenticate(issued.secret)
    async with open_store(url, clock) as elsewhere:
        await elsewhere.keys.revoke(issued.key.id)
    clock.advance(module.CACHE_SECONDS)
    assert await store.keys.authenticate(issued.secret) is None


async def test_a_known_key_asks_the_database_once_in_a_while(
    store: Store, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued = await store.keys.create(project, "production")
    await store.keys.authenticate(issued.secret)
    monkeypatch.setattr(store.keys, "_look_up", None)
    assert await store.keys.authenticate(issued.secret) == issued.key


async def test_what_is_remembered_is_bounded(
    store: Store, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_CACHED", 2)
    for name in "abc":
        await store.keys.authenticate((await store.keys.create(project, name)).secret)
        await store.keys.authenticate(f"wk_unknown{name}")
    assert len(store.keys._cache) == 2


async def test_a_key_needs_a_project(store: Store) -> None:
    with pytest.raises(InputError, match="there is no project 'prj_none'"):
        await store.keys.create("prj_none", "x")


async def test_a_beginning_that_two_keys_share_is_refused(
    store: Store, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued = await store.keys.create(project, "a")
    await store.keys.create(project, "b")
    monkeypatch.setattr(module, "SHOWN", 3)
    async with store.database.writing() as connection:
        await connection.execute(keys.update().values(prefix=issued.secret[:3]))
    with pytest.raises(InputError, match="more than one key"):
        await store.keys.revoke(issued.secret[:3])
