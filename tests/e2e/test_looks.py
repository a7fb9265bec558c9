"""Every page, light and dark, wide and narrow: nothing serious for axe, nothing wider than the window, a picture."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from tests.e2e.browsers import DESK, PHONE, overflow, serious, shoot, window
from tests.server.console.guest import member
from tests.server.house import House, serving

LOOKS = {
    "light": {"color_scheme": "light", "viewport": DESK},
    "dark": {"color_scheme": "dark", "viewport": DESK},
    "phone": {"color_scheme": "light", "viewport": PHONE},
    "phone-dark": {"color_scheme": "dark", "viewport": PHONE},
}
DEMO = ("/demo", "/demo/users/usr_8f21c9", "/demo/alerts", "/demo/settings", "/demo/settings?add=webhook")
OWN = (
    "/dashboard",
    "/dashboard/alerts",
    "/dashboard/settings",
    "/dashboard/users/usr_1",
    "/members",
    "/account",
    "/dashboard/projects/new",
)
OUTSIDE = ("/sign-in", "/nowhere")


async def look(page: Page, house: House, path: str, name: str) -> None:
    await page.goto(house.url + path)
    await page.wait_for_load_state("load")
    assert await serious(page) == [], path
    assert await overflow(page) == 0, path
    await shoot(page, f"{path.strip('/').replace('/', '_').replace('?', '_') or 'home'}-{name}")


@pytest.mark.parametrize("name", LOOKS)
async def test_every_page(browser: Browser, tmp_path: Path, name: str) -> None:
    async with serving(tmp_path / "a.db") as house, member(house) as guest:
        await house.log(
            userId="usr_1", inputTokens=61_400, feature="research-agent", plan="pro", planRevenueUsd=49
        )
        async with window(browser, **LOOKS[name]) as page:
            for path in (*DEMO, *OUTSIDE[:1]):
                await look(page, house, path, name)
            assert await page.locator(".uplot").count() == 0
            cookies = [
                {"name": one.key, "value": one.value, "url": house.url} for one in guest.session.cookie_jar
            ]
            await page.context.add_cookies(cookies)  # type: ignore[arg-type]
            for path in OWN:
                await look(page, house, path, name)


async def test_charts_are_drawn_and_the_theme_can_be_chosen(browser: Browser, tmp_path: Path) -> None:
    async with serving(tmp_path / "a.db") as house, window(browser) as page:
        await page.goto(f"{house.url}/demo")
        assert await page.locator(".chart.drawn canvas").count() == 3
        before = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        await page.get_by_role("button", name="Switch between light and dark").click()
        after = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert before != after
        await page.reload()
        assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == after


async def test_it_works_without_script(browser: Browser, tmp_path: Path) -> None:
    async with serving(tmp_path / "a.db") as house, window(browser, java_script_enabled=False) as page:
        await page.goto(f"{house.url}/demo")
        await page.locator("#search").fill("8f21")
        await page.get_by_role("button", name="Show").click()
        assert await page.locator("#table-users tbody tr").count() == 1
        await page.locator("#table-users tbody a").click()
        assert "Still going on" in await page.content()
        await page.get_by_role("button", name="Block", exact=True).click()
        assert "nothing was kept" in await page.content()
