import asyncio

import pytest

from loopwatch.clock import ManualClock
from loopwatch.errors import ConfigError, InputError
from loopwatch.store.opening import Store, open_store


async def test_a_project_is_made_with_the_seed_s_settings(store: Store, clock: ManualClock) -> None:
    project = await store.projects.create(" Acme AI ")
    assert (project.name, project.created_at) == ("Acme AI", clock.now())
    assert await store.projects.list() == [project]
    assert await store.projects.get(project.id) == project
    assert await store.projects.get("prj_none") is None
    current = await store.projects.settings(project.id)
    assert (current.version, current.settings.token_threshold, current.pseudonym) == (1, 50_000, None)


async def test_a_change_keeps_the_rest_and_null_takes_back(store: Store) -> None:
    project = (await store.projects.create("Acme", {"windowMinutes": 1})).id
    changed = await store.projects.change(project, {"tokenThreshold": 10}, "ann")
    assert (changed.version, changed.settings.token_threshold, changed.settings.window_minutes) == (2, 10, 1)
    changed = await store.projects.change(project, {"windowMinutes": None}, "ann")
    assert (changed.settings.token_threshold, changed.settings.window_minutes) == (10, 5)
    replaced = await store.projects.replace(project, {"cooldownMinutes": 1}, "ann")
    assert replaced.settings.document() == {"cooldownMinutes": 1.0}
    assert store.projects.known(project) == replaced
    assert store.projects.known("prj_none") is None


async def test_changes_are_audited_without_their_values(store: Store, clock: ManualClock) -> None:
    project = (await store.projects.create("Acme")).id
    slack = {"type": "slack", "url": "https://hooks.example.com/CANARY"}
    secret = {"channels": [slack], "tokenThreshold": 7}
    await store.projects.change(project, secret, "ann")
    clock.advance(60)
    await store.projects.change(project, {"tokenThreshold": 8}, "key console")
    await store.projects.change(project, {"tokenThreshold": 8}, "key console")  # nothing changes
    second, first = await store.projects.audit(project)
    assert (first.actor, first.changed) == ("ann", ("channels", "tokenThreshold"))
    assert (second.actor, second.version, second.at) == ("key console", 3, clock.now())
    assert "CANARY" not in repr((first, second))


async def test_bad_settings_change_nothing(store: Store) -> None:
    project = (await store.projects.create("Acme")).id
    with pytest.raises(ConfigError) as refused:
        await store.projects.change(project, {"windowMinutes": 0, "tokenThreshold": -1}, "ann")
    assert len(refused.value.defects) == 2
    assert (await store.projects.settings(project)).version == 1
    assert await store.projects.audit(project) == []


async def test_changes_at_the_same_time_are_all_kept(store: Store) -> None:
    project = (await store.projects.create("Acme")).id
    changes = [{"tokenThreshold": 7}, {"windowMinutes": 2}, {"cooldownMinutes": 3}, {"retentionDays": 4}]
    await asyncio.gather(*(store.projects.change(project, change, "ann") for change in changes))
    current = await store.projects.settings(project)
    assert current.version == 5
    assert len(current.settings.document()) == 4


async def test_another_process_sees_a_change_at_once(url: str, store: Store, clock: ManualClock) -> None:
    project = (await store.projects.create("Acme")).id
    async with open_store(url, clock) as elsewhere:
        await elsewhere.projects.settings(project)
        await store.projects.change(project, {"pseudonymise": True}, "ann")
        here, there = await store.projects.settings(project), await elsewhere.projects.settings(project)
    assert here.pseudonym is not None
    assert there.pseudonym is not None
    assert here.pseudonym("bob@x.io") == there.pseudonym("bob@x.io")


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\x00"])
async def test_a_name_is_needed(store: Store, name: str) -> None:
    with pytest.raises(InputError, match="1 to 200 characters"):
        await store.projects.create(name)


async def test_settings_of_no_project_are_an_error(store: Store) -> None:
    for work in (store.projects.settings("prj_none"), store.projects.change("prj_none", {}, "ann")):
        with pytest.raises(InputError, match="there is no project 'prj_none'"):
            await work
