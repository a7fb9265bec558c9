"""The link in an alert that blocks a user."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from loopwatch.alerts.links import BlockLinks
from loopwatch.clock import ManualClock
from tests.server.conftest import NOON
from tests.server.house import House, serving

SECRET = b"0123456789abcdef0123456789abcdef"
USER = "usr_<b>8f21c9</b>"


@pytest.fixture
async def signing(tmp_path: Path, clock: ManualClock) -> AsyncIterator[House]:
    async with serving(tmp_path / "loopwatch.db", clock, secret=SECRET) as opened:
        yield opened


def path_of(house: House, user: str = USER) -> str:
    links = house.server.telling.links
    assert links is not None
    link = links.link(house.project, user, "alert-1", NOON)
    assert link is not None
    return link.removeprefix(house.url)


async def is_blocked(house: House, user: str = USER) -> bool:
    state = await house.server.store.users.get(house.project, user)
    return state is not None and state.blocked


async def test_opening_the_link_shows_who_is_meant_and_changes_nothing(signing: House) -> None:
    page = await signing.ask("GET", path_of(signing), key="")
    assert page.status == 200
    assert "usr_&lt;b&gt;8f21c9&lt;/b&gt;" in page.text
    assert "<b>8f21c9" not in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["Cache-Control"] == "no-store"
    assert not await is_blocked(signing)


async def test_an_administrators_key_blocks(signing: House) -> None:
    page = await signing.ask("POST", path_of(signing), key="", data={"key": f" {signing.admin} "})
    assert page.status == 200
    assert "is refused" in page.text
    assert await is_blocked(signing)
    asked = await signing.get(f"/api/v1/check?userId={USER}&planName=pro&model=gpt-4o-mini")
    assert asked["allowed"] is False


async def test_no_other_key_does(signing: House) -> None:
    for key in ("", "wk_nonsense", signing.key):
        page = await signing.ask("POST", path_of(signing), key="", data={"key": key})
        assert page.status == 403
        assert "no administrator" in page.text
    assert not await is_blocked(signing)


async def test_nor_does_a_link_that_was_forged_or_is_too_old(signing: House, clock: ManualClock) -> None:
    forged = BlockLinks(b"x" * 32, signing.url).link(signing.project, USER, "alert-1", NOON)
    assert forged is not None
    path = path_of(signing)
    for wrong in (forged.removeprefix(signing.url), path[:-1], "/dashboard/block/x"):
        answer = await signing.ask("POST", wrong, key="", data={"key": signing.admin})
        assert answer.status == 404
    clock.advance(timedelta(days=4).total_seconds())
    assert "expired" in (await signing.ask("GET", path, key="")).error
    assert not await is_blocked(signing)


async def test_a_form_that_is_too_long_is_refused(signing: House) -> None:
    assert (await signing.ask("POST", path_of(signing), key="", data={"key": "x" * 10_000})).status == 413


async def test_an_alert_has_the_link_where_there_is_a_secret(signing: House, house: House) -> None:
    for server, expected in ((signing, True), (house, False)):
        telling = server.server.telling
        assert (telling.links is not None) is expected
    answer = await house.ask("GET", "/dashboard/block/x", key="")
    assert answer.status == 404
    assert "LOOPWATCH_SECRET" in answer.error


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
