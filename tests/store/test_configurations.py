"""Configurations are a project's own, and no second tab undoes what the first one saved."""

import asyncio
from datetime import UTC, datetime

import pytest

from loopwatch.clock import ManualClock
from loopwatch.errors import InputError
from loopwatch.store.configurations import MOST_NAME, Configurations
from loopwatch.store.opening import Store

DOCUMENT = '{"agents": [], "note": "a \\u0000 in a text, and an ünïcode one"}'


@pytest.fixture
async def project(store: Store) -> str:
    return (await store.projects.create("acme")).id


@pytest.fixture
def kept(store: Store) -> Configurations:
    return store.configurations


async def test_what_was_kept_is_there_as_it_was_written(
    kept: Configurations, project: str, clock: ManualClock
) -> None:
    made = await kept.create(project, "  Coder ", DOCUMENT, "ana")
    clock.advance(60)
    saved = await kept.save(project, made.id, 1, name="Coder 2", document=DOCUMENT + " ", actor="ben")
    assert await kept.get(project, made.id) == saved
    assert saved is not None
    assert (saved.name, saved.document, saved.version) == ("Coder 2", DOCUMENT + " ", 2)
    assert saved.created_at == datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
    assert saved.updated_at == datetime(2026, 11, 15, 12, 1, tzinfo=UTC)
    assert [one.name for one in await kept.list(project)] == ["Coder 2"]
    changes = [(one.action, one.name, one.version, one.actor) for one in await kept.changes(project)]
    assert changes == [("saved", "Coder 2", 2, "ben"), ("created", "Coder", 1, "ana")]


async def test_who_edited_an_older_version_saves_nothing(kept: Configurations, project: str) -> None:
    made = await kept.create(project, "Coder", DOCUMENT, "ana")
    assert await kept.save(project, made.id, 1, name="first", document="{}", actor="ana") is not None
    assert await kept.save(project, made.id, 1, name="second", document="[]", actor="ben") is None
    now = await kept.get(project, made.id)
    assert now is not None
    assert (now.name, now.version, now.updated_by) == ("first", 2, "ana")
    assert len(await kept.changes(project, made.id)) == 2


async def test_of_many_who_save_at_once_one_does(kept: Configurations, project: str) -> None:
    made = await kept.create(project, "Coder", DOCUMENT, "ana")
    saved = await asyncio.gather(
        *(kept.save(project, made.id, 1, name=f"by {n}", document="{}", actor=str(n)) for n in range(8))
    )
    assert sum(one is not None for one in saved) == 1


async def test_no_project_sees_changes_or_deletes_anothers(store: Store, project: str) -> None:
    kept = store.configurations
    made = await kept.create(project, "Coder", DOCUMENT, "ana")
    other = (await store.projects.create("other")).id
    assert await kept.list(other) == []
    assert await kept.get(other, made.id) is None
    assert await kept.save(other, made.id, 1, name="mine", document="{}", actor="eve") is None
    assert not await kept.delete(other, made.id, "eve")
    assert await kept.changes(other) == []
    assert await kept.get(project, made.id) == made


async def test_what_was_deleted_is_gone_and_that_it_was_there_is_known(
    kept: Configurations, project: str, clock: ManualClock
) -> None:
    made = await kept.create(project, "Coder", DOCUMENT, "ana", "imported")
    clock.advance(1)
    assert await kept.delete(project, made.id, "ben")
    assert not await kept.delete(project, made.id, "ben")
    assert await kept.save(project, made.id, 1, name="Coder", document="{}", actor="ana") is None
    assert [(one.action, one.actor) for one in await kept.changes(project, made.id)] == [
        ("deleted", "ben"),
        ("imported", "ana"),
    ]


@pytest.mark.parametrize("name", ["", "   ", "x" * (MOST_NAME + 1), "a\0b"])
async def test_a_name_that_is_none_is_refused(kept: Configurations, project: str, name: str) -> None:
    with pytest.raises(InputError, match="a name of 1 to 200 characters"):
        await kept.create(project, name, DOCUMENT, "ana")
    made = await kept.create(project, "n" * MOST_NAME, DOCUMENT, "ana")
    with pytest.raises(InputError, match="a name of 1 to 200 characters"):
        await kept.save(project, made.id, 1, name=name, document=DOCUMENT, actor="ana")


async def test_a_project_has_only_so_many(
    kept: Configurations, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loopwatch.store.configurations.MOST_CONFIGURATIONS", 2)
    for name in ("b", "A"):
        await kept.create(project, name, DOCUMENT, "ana")
    assert [one.name for one in await kept.list(project)] == ["A", "b"]
    with pytest.raises(InputError, match="at most 2 configurations"):
        await kept.create(project, "c", DOCUMENT, "ana")
    with pytest.raises(InputError, match="there is no project"):
        await kept.create("prj_none", "c", DOCUMENT, "ana")


async def test_a_deleted_project_takes_its_configurations_along(store: Store, project: str) -> None:
    other = (await store.projects.create("other")).id
    for one in (project, other):
        await store.configurations.create(one, "Coder", DOCUMENT, "ana")
    await store.upkeep.delete(project)
    assert await store.configurations.list(project) == []
    assert await store.configurations.changes(project) == []
    assert len(await store.configurations.list(other)) == 1
