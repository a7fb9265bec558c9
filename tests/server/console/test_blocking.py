"""The link in an alert that blocks a user."""

import os
import subprocess
import sys
from datetime import timedelta

from loopwatch.alerts.links import BlockLinks
from loopwatch.clock import ManualClock
from tests.server.conftest import NOON
from tests.server.console.guest import PASSWORD, Guest
from tests.server.house import House

USER = "usr_<b>8f21c9</b>"


def path_of(house: House, user: str = USER) -> str:
    links = house.server.telling.links
    assert links is not None
    link = links.link(house.project, user, "alert-1", NOON)
    assert link is not None
    return link.removeprefix(house.url)


async def is_blocked(house: House, user: str = USER) -> bool:
    state = await house.server.store.users.get(house.project, user)
    return state is not None and state.blocked


async def test_opening_the_link_shows_who_is_meant_and_changes_nothing(house: House, owner: Guest) -> None:
    page = await owner.open(path_of(house))
    assert page.status == 200
    assert "usr_&lt;b&gt;8f21c9&lt;/b&gt;" in page.html
    assert "<b>8f21c9" not in page.html
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["Cache-Control"] == "no-store"
    assert not await is_blocked(house)


async def test_an_owner_who_is_signed_in_blocks_by_one_click(house: House, owner: Guest) -> None:
    await owner.open(path_of(house))
    page = await owner.send(path_of(house))
    assert (page.status, "is refused" in page.text) == (200, True)
    state = await house.server.store.users.get(house.project, USER)
    assert state is not None
    assert state.blocked_reason == "blocked by ana@example.com, from alert alert-1"


async def test_a_viewer_does_not(house: House, viewer: Guest) -> None:
    await viewer.open(path_of(house))
    assert (await viewer.send(path_of(house))).status == 403
    assert not await is_blocked(house)


async def test_whoever_is_not_signed_in_does_so_and_comes_back(
    house: House, owner: Guest, stranger: Guest
) -> None:
    del owner
    page = await stranger.open(path_of(house))
    assert "Sign in to block" in page.text
    await stranger.open("/sign-in?next=" + path_of(house))
    fields = {"name": "ana@example.com", "password": PASSWORD, "next": path_of(house)}
    assert "Block, as ana@example.com" in (await stranger.send("/sign-in", fields)).text


async def test_an_administrators_key_blocks(house: House, stranger: Guest) -> None:
    await stranger.open(path_of(house))
    page = await stranger.send(path_of(house), {"key": f" {house.admin} "})
    assert page.status == 200
    assert await is_blocked(house)
    asked = await house.get(f"/api/v1/check?userId={USER}&planName=pro&model=gpt-4o-mini")
    assert asked["allowed"] is False


async def test_no_other_key_does(house: House, stranger: Guest) -> None:
    await stranger.open(path_of(house))
    for key in ("", "wk_nonsense", house.key):
        page = await stranger.send(path_of(house), {"key": key})
        assert page.status == 403
        assert "no administrator" in page.text
    assert not await is_blocked(house)


async def test_nor_does_a_form_of_somebody_elses(house: House, owner: Guest) -> None:
    await owner.open(path_of(house))
    owner.csrf = "forged"
    assert (await owner.send(path_of(house))).status == 403
    assert not await is_blocked(house)


async def test_nor_does_a_link_that_was_forged_or_is_too_old(
    house: House, owner: Guest, clock: ManualClock
) -> None:
    forged = BlockLinks(b"x" * 32, house.url).link(house.project, USER, "alert-1", NOON)
    assert forged is not None
    path = path_of(house)
    for wrong in (forged.removeprefix(house.url), path[:-1], "/dashboard/block/x"):
        assert (await owner.send(wrong)).status == 404
    clock.advance(timedelta(days=4).total_seconds())
    assert "expired" in (await owner.open(path)).text
    assert not await is_blocked(house)


async def test_a_form_that_is_too_long_is_refused(house: House, owner: Guest) -> None:
    assert (await owner.send(path_of(house), {"key": "x" * 10_000})).status == 413


def test_a_secret_that_is_too_short_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "loopwatch", "serve", "--port", "0", "--db", "sqlite:///:memory:"],
        env=os.environ | {"LOOPWATCH_SECRET": "short"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "make it at least 32" in done.stderr
    assert "short" not in done.stderr
