"""Debian's Chromium, driven as a person would; its own downloads are never used."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, async_playwright

INSTALL = "tools/install-servers installs it on Debian and Ubuntu"
FLAGS = (
    "--no-sandbox",  # root may not have one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",  # else it asks for Google's hosts at every start
    "--disable-component-update",
    "--disable-sync",
)
AXE = Path(__file__).parents[2] / "tools/console/node_modules/axe-core/axe.min.js"
SHOTS = Path(__file__).parent / "screenshots"
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A browser for the block."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip(f"Chromium is not installed: {INSTALL}")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def window(browser: Browser, **options: Any) -> AsyncIterator[Page]:
    """A window of its own; whatever it complains about fails the test, a broken policy above all."""
    complaints: list[str] = []
    context = await browser.new_context(**{"viewport": DESK, "color_scheme": "light", **options})
    page = await context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None
    )
    try:
        yield page
    finally:
        await context.close()
    # A form that is refused is an answer, although Chromium calls it a failure.
    assert [one for one in complaints if "a status of 422" not in one] == []


async def serious(page: Page) -> list[str]:
    """What axe finds on the page that keeps people out: serious and critical violations, with their places."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed: tools/console-assets does it, with npm")
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = await page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


async def overflow(page: Page) -> int:
    """How many pixels the page is wider than its window."""
    wide: int = await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return wide


async def shoot(page: Page, name: str) -> None:
    """Keep a picture of the whole page, to be looked at."""
    SHOTS.mkdir(exist_ok=True)
    await page.screenshot(path=SHOTS / f"{name}.png", full_page=True)
