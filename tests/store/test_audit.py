from loopwatch.clock import ManualClock
from loopwatch.store.audit import EVERYWHERE
from loopwatch.store.opening import Store


async def test_every_change_of_a_project_and_of_the_server_newest_first(
    store: Store, clock: ManualClock
) -> None:
    project = (await store.projects.create("Acme")).id
    other = (await store.projects.create("Other")).id
    await store.projects.change(project, {"tokenThreshold": 9}, actor="ann")
    clock.advance(1)
    await store.audit.note(project, "bob", "key wk_12… revoked: ci")
    clock.advance(1)
    await store.configurations.create(project, "detector", "{}", "ann")
    clock.advance(1)
    await store.audit.note(EVERYWHERE, "ann", "member bob made viewer")
    await store.audit.note(other, "ann", "nobody else's business")
    found = await store.audit.list(project)
    assert [(one.actor, one.what) for one in found] == [
        ("ann", "member bob made viewer"),
        ("ann", "configuration detector: created"),
        ("bob", "key wk_12… revoked: ci"),
        ("ann", "settings: tokenThreshold"),
    ]
    assert [one.what for one in await store.audit.list(project, limit=1)] == ["member bob made viewer"]


async def test_who_is_forgotten_is_forgotten_here_too(store: Store) -> None:
    project = (await store.projects.create("Acme")).id
    await store.audit.note(project, "ann", "user u1 blocked", user_id="u1")
    await store.audit.note(project, "ann", "user u2 blocked", user_id="u2")
    await store.users.erase(project, "u1")
    assert [one.what for one in await store.audit.list(project)] == ["user u2 blocked"]
    await store.upkeep.delete(project)
    assert await store.audit.list(project) == []
