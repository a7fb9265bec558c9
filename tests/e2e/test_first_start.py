"""From the first start to the first alert and what is done about it, in a real browser on a real server."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
from playwright.async_api import Browser, Page, expect

from tests.e2e.browsers import serious, shoot, window

PASSWORD = "a few words that nobody says"
USER = "usr_8f21c9"


@contextmanager
def started(folder: Path) -> Iterator[str]:
    """``loopwatch serve``, and the link that it prints."""
    command = [sys.executable, "-m", "loopwatch", "serve", "--db", f"sqlite:///{folder}/a.db", "--port", "0"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LOOPWATCH_")}
    environment["PYTHONASYNCIODEBUG"] = ""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    try:
        assert process.stdout is not None
        link = re.search(r"http://\S+/join/\S+", process.stdout.readline())
        assert link is not None
        yield link[0]
    finally:
        process.terminate()
        try:
            assert process.wait(20) == 0
        finally:
            process.kill()
            assert process.stdout is not None
            process.stdout.close()


async def burst(url: str, key: str, user: str, tokens: int) -> None:
    row = {"userId": user, "feature": "research-agent", "plan": "pro", "planRevenueUsd": 49}
    row |= {"provider": "openai", "model": "gpt-4o-mini", "inputTokens": tokens}
    async with (
        aiohttp.ClientSession(headers={"x-api-key": key}) as session,
        session.post(f"{url}/api/v1/log", json=row) as answer,
    ):
        assert answer.status == 202


async def allowed(url: str, key: str, user: str) -> Any:
    async with (
        aiohttp.ClientSession(headers={"x-api-key": key}) as session,
        session.get(
            f"{url}/api/v1/check", params={"userId": user, "planName": "pro", "model": "x"}
        ) as answer,
    ):
        return (await answer.json())["allowed"]


async def join(page: Page, link: str) -> str:
    """Make the owner by the one-time link, and a project; the key that is shown once."""
    await page.goto(link)
    assert await serious(page) == []
    await page.get_by_label("Name").fill("ana@example.com")
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_label("The same password again").fill(PASSWORD)
    await page.get_by_role("button", name="Make the account").click()
    await page.get_by_label("Name").fill("My product")
    await page.get_by_role("button", name="Make the project").click()
    key = await page.locator("#secret").inner_text()
    assert key.startswith("wk_")
    await shoot(page, "first-key")
    await page.get_by_role("link", name="To the dashboard").click()
    await expect(page.get_by_role("heading", name="Log the first call")).to_be_visible()
    assert key not in await page.content()
    assert await serious(page) == []
    await shoot(page, "empty-dashboard")
    return key


async def see_the_alert(page: Page, url: str, key: str) -> None:
    """A burst arrives: the page shows it by itself, and leads to the user."""
    await expect(page.locator("html.is-live")).to_be_attached()
    await burst(url, key, USER, 61_400)
    toast = page.locator(".toast")
    await expect(toast).to_contain_text(USER)
    await expect(toast).to_contain_text("61.4 k tokens")
    await expect(page.locator("#latest")).to_contain_text(USER)
    await toast.click()
    await expect(page.get_by_role("heading", name=USER)).to_be_visible()
    await expect(page.get_by_text("Still going on")).to_be_visible()
    await shoot(page, "user-now")


async def block(page: Page, url: str, key: str) -> None:
    """Blocked, the next call is refused; unblocked, it is not."""
    assert await allowed(url, key, USER)
    await page.get_by_role("button", name="Block", exact=True).click()
    await expect(page.get_by_text("the user's next call is refused")).to_be_visible()
    assert not await allowed(url, key, USER)
    await page.get_by_role("button", name="Unblock").click()
    await expect(page.get_by_role("button", name="Block", exact=True)).to_be_visible()
    assert await allowed(url, key, USER)


async def lower_the_threshold(page: Page, url: str, key: str) -> None:
    """A lower threshold holds for the next burst, without a restart; what is no number is refused."""
    await burst(url, key, "usr_small", 2_000)
    await page.get_by_role("link", name="Settings").click()
    threshold = page.get_by_label("Token threshold")
    await threshold.fill("none at all")
    await page.get_by_role("button", name="Save").first.click()
    await expect(page.locator("#tokenThreshold-complaint")).to_contain_text("whole number")
    await expect(threshold).to_have_value("none at all")
    await threshold.fill("1,500")
    await page.get_by_role("button", name="Save").first.click()
    await expect(page.get_by_text("Saved. It holds")).to_be_visible()
    assert await serious(page) == []
    await page.get_by_role("link", name="Alerts").click()
    await expect(page.locator("html.is-live")).to_be_attached()
    rows = page.locator("#table-alerts tbody tr")
    await expect(rows).to_have_count(1)
    await burst(url, key, "usr_small", 10)
    await expect(rows).to_have_count(2)
    await expect(page.locator("#table-alerts")).to_contain_text("usr_small")
    assert await serious(page) == []


async def test_from_the_first_start_to_an_alert_and_a_block(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path) as link:
        url = link.partition("/join/")[0]
        async with window(browser) as page:
            key = await join(page, link)
            await see_the_alert(page, url, key)
            await block(page, url, key)
            await lower_the_threshold(page, url, key)
