"""Who may ask what: every route with no key, a wrong one, another project's, and one that may not."""

import pytest
from starlette.routing import Route

from loopwatch.clock import ManualClock
from loopwatch.server.app import ROUTES
from loopwatch.server.buckets import MOST_KEPT, Buckets
from tests.server.house import House, serving

OPEN = {"/healthz", "/readyz", "/metrics", "/openapi.json", "/dashboard/block/{token}"}
GUARDED = [
    (route, next(iter(sorted((route.methods or set()) - {"HEAD"}))))
    for route in ROUTES
    if route.path not in OPEN
]
SCOPED = [(route, method) for route, method in GUARDED if "{project_id}" in route.path]
ADMIN = [
    (route, method)
    for route, method in SCOPED
    if "settings" in route.path or "block" in route.path or method == "DELETE"
]


def path(route: Route, project: str) -> str:
    names = {"{project_id}": project, "{user_id:whole}": "u1", "{channel}": "slack"}
    written = route.path
    for name, value in names.items():
        written = written.replace(name, value)
    return written


async def test_without_a_key_that_holds_nothing_is_said(house: House) -> None:
    revoked = await house.server.store.keys.create(house.project, "gone", admin=True)
    await house.server.store.keys.revoke(revoked.key.id)
    for route, method in GUARDED:
        for key in ("", "wk_wrong", "x" * 10_000, "wk_é", revoked.secret):
            reply = await house.ask(method, path(route, house.project), key=key, json={})
            assert (reply.status, "WWW-Authenticate" in reply.headers) == (401, True), route.path
            assert "wk_wrong" not in reply.error


async def test_another_project_s_key_and_id_open_nothing(house: House) -> None:
    other = await house.another()
    await house.log(userId="u1", inputTokens=60_000)
    pairs = ((house.project, other.admin), (other.project, house.admin), ("prj_none", house.admin))
    for route, method in SCOPED:
        for project, key in pairs:
            reply = await house.ask(method, path(route, project), key=key, json={})
            assert (reply.status, reply.error) == (404, "this key knows no such project"), route.path
    user = await house.server.store.users.get(house.project, "u1")
    assert user is not None
    assert not user.blocked


async def test_what_changes_something_needs_an_administrator(house: House) -> None:
    for route, method in ADMIN:
        reply = await house.ask(method, path(route, house.project), json={})
        assert (reply.status, "--admin" in reply.error) == (403, True), route.path


async def test_the_other_project_s_calls_are_nowhere(house: House) -> None:
    other = await house.another()
    await other.log(userId="secret-user", feature="secret-feature", model="secret-model", inputTokens=60_000)
    for route, method in SCOPED:
        if method == "GET":
            reply = await house.ask("GET", path(route, house.project), key=house.admin)
            assert reply.status == 200
            assert "secret" not in reply.text.replace('"secret"', "")
    asked = await house.get("/api/v1/check?userId=secret-user&planName=pro&model=gpt-4o")
    assert asked["currentSpend"] == 0


async def test_a_path_that_is_none_and_a_method_that_is_none(house: House) -> None:
    assert (await house.ask("GET", "/api/v1/nothing")).error == "Not Found"
    reply = await house.ask("PATCH", "/api/v1/log")
    assert (reply.status, reply.error) == (405, "Method Not Allowed")


async def test_a_key_that_asks_too_often_is_told_when_again(tmp_path: object, clock: ManualClock) -> None:
    async with serving(f"sqlite:///{tmp_path}/a.db", clock, rate=0.5, burst=2) as house:
        statuses = [(await house.log(userId="u1")).status for _ in range(3)]
        assert statuses == [202, 202, 429]
        reply = await house.log(userId="u1")
        assert reply.headers["Retry-After"] == "2"
        assert "batches" in reply.error
        assert (await house.ask("GET", "/api/v1/me", key=house.admin)).status == 200  # each key has its own
        clock.advance(2)
        assert (await house.log(userId="u1")).status == 202


def test_a_bucket_fills_up_and_no_further(clock: ManualClock) -> None:
    buckets = Buckets(clock, rate=2, burst=3)
    assert [buckets.take("a") for _ in range(3)] == [0, 0, 0]
    assert buckets.take("a") == pytest.approx(0.5)
    assert buckets.take("b") == 0
    clock.advance(0.5)
    assert buckets.take("a") == 0
    clock.advance(3_600)
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, pytest.approx(0.5)]


def test_buckets_do_not_grow_without_end(clock: ManualClock) -> None:
    buckets = Buckets(clock)
    for number in range(MOST_KEPT + 10):
        buckets.take(str(number))
    assert len(buckets._kept) == MOST_KEPT
