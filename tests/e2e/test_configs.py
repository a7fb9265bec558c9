"""The configuration editor in a real browser, as its user goes through it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from loopwatch.clock import SystemClock
from loopwatch.server.configs.trial import MOST_CHARS
from loopwatch.server.pages import assets
from loopwatch.store.members import Role
from tests.config.documents import EVERYTHING, SEED_BLOCK, sound
from tests.e2e.browsers import DESK, PHONE, overflow, serious, shoot, window
from tests.server.console.guest import PASSWORD
from tests.server.house import House, serving

HAS_HTMX = (assets.FOLDER / assets.HTMX).exists()
WINDOW = "agents.0.loopDetection.windowWords"
FIGURES = [str(figure) for figure in list(SEED_BLOCK.values())[1:]]

expect.set_options(timeout=30_000)  # a busy machine is slow, not wrong

pytestmark = pytest.mark.skipif(not HAS_HTMX, reason="no htmx: run tools/console-assets")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(tmp_path / "loopwatch.db", SystemClock()) as opened:
        yield opened


@asynccontextmanager
async def signed_in(
    browser: Browser, house: House, role: Role = "owner", **options: Any
) -> AsyncIterator[Page]:
    """The window of somebody who has just joined."""
    async with window(browser, **options) as page:
        page.set_default_timeout(30_000)
        token = await house.server.store.members.invite(role, "")
        await page.goto(f"{house.url}/join/{token}")
        for name, text in (("name", f"{role}@example.com"), ("password", PASSWORD), ("again", PASSWORD)):
            await page.fill(f"#{name}", text)
        await page.click("main button")
        yield page


def field(page: Page, name: str) -> Any:
    return page.locator(f'[id="{name}"]')


async def knobs(page: Page) -> list[str]:
    return [await field(page, f"agents.0.loopDetection.{knob}").input_value() for knob in [*SEED_BLOCK][1:]]


async def paste(page: Page, text: str) -> None:
    """Put a long text into the field at once; typing it takes a browser half a minute."""
    await page.locator("#try-text").evaluate("(field, text) => { field.value = text }", text)


async def put(house: House, document: Any, name: str = "Coder") -> str:
    kept = await house.server.store.configurations.create(house.project, name, json.dumps(document), "ana")
    return f"{house.url}/configs/{kept.id}"


async def test_arming_fills_in_the_usual_figures_and_a_broken_one_cannot_be_saved(
    house: House, browser: Browser
) -> None:
    async with signed_in(browser, house) as page:
        await page.goto(f"{house.url}/configs")
        await page.click("text=New configuration")
        assert await knobs(page) == [""] * 5
        await page.get_by_role("switch").check()
        await expect(field(page, WINDOW)).to_have_value("256")
        assert await knobs(page) == FIGURES
        await expect(page.locator("#json")).to_contain_text('"minSaturatedRun": 3000')
        await expect(page.locator("#state")).to_contain_text("loop detection: armed — a reply is abandoned")

        await field(page, "name").fill("Coder")
        await field(page, WINDOW).fill("-4")
        await field(page, "agents.0.loopDetection.minOffenders").fill("")
        await expect(page.locator("#state")).to_contain_text("2 things have to change")
        await page.locator(".head").get_by_role("button", name="Save").click()
        summary = page.locator("#summary")
        await expect(summary).to_be_focused()
        await expect(summary).to_contain_text(
            "agent `Implementer`: Window (words) = -4: must be a whole number"
        )
        await expect(page.locator(f'[id="{WINDOW}-complaint"]')).to_have_text(
            "must be a whole number of at least 1"
        )
        assert await house.server.store.configurations.list(house.project) == []

        await summary.get_by_role("link").first.click()
        await expect(field(page, WINDOW)).to_be_focused()
        await field(page, WINDOW).fill("512")
        await expect(page.locator(f'[id="{WINDOW}-complaint"]')).to_have_count(0)
        await page.get_by_role("switch").uncheck()
        await expect(page.locator("#state")).to_contain_text("Sound")
        await page.get_by_role("switch").check()
        await expect(field(page, "agents.0.loopDetection.minOffenders")).to_have_value("2")
        assert await knobs(page) == ["512", *FIGURES[1:]], "off and on again keeps what was tuned"
        await page.locator(".head").get_by_role("button", name="Save").click()
        await expect(page.get_by_text("Version 1")).to_be_visible()
        (one,) = await house.server.store.configurations.list(house.project)
        assert json.loads(one.document)["agents"][0]["loopDetection"] == SEED_BLOCK | {"windowWords": 512}


async def test_what_is_typed_wrong_is_said_as_soon_as_the_field_is_left(
    house: House, browser: Browser
) -> None:
    address = await put(house, sound())
    async with signed_in(browser, house) as page:
        await page.goto(address)
        await field(page, "limits.maxTurns").fill("many")
        await field(page, "limits.maxTurns").blur()
        await expect(page.locator('[id="limits.maxTurns-complaint"]')).to_contain_text(
            "must be a whole number"
        )
        await page.get_by_role("button", name="Add an agent").click()
        await expect(field(page, "agents.1.name")).to_be_focused()
        await page.get_by_role("button", name="Remove this agent").click()
        await expect(field(page, "agents.1.name")).to_have_count(0)
        await expect(field(page, "limits.maxTurns")).to_have_value("many")


async def test_a_reply_is_marked_from_the_onset_by_what_stands_in_the_form(
    house: House, browser: Browser
) -> None:
    document = sound()
    document["agents"][0]["loopDetection"] = SEED_BLOCK
    address = await put(house, document)
    async with signed_in(browser, house) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(address)
        await page.locator("summary", has_text="Try it").click()
        await paste(page, "zebra\n" + "void 0;\n" * 2_000)
        await page.get_by_role("button", name="Try this reply").click()
        await expect(page.locator("#trial")).to_contain_text("by word saturation, 12,267 characters in")
        await expect(page.locator("#trial mark").first).to_be_visible()
        await field(page, "agents.0.loopDetection.minSaturatedRun").fill("1000")
        await page.get_by_role("button", name="Try this reply").click()
        await expect(page.locator("#trial")).to_contain_text("4,267 characters in")
        await page.locator("summary", has_text="a dozen samples").click()
        await page.get_by_role("button", name="A counting song").click()
        await expect(page.locator("#trial")).to_contain_text("Read to its end")
        await shoot(page, "configuration-tried")
        assert page.url == address
        assert not any("zebra" in url for url in asked)


async def test_a_file_far_too_large_is_refused_without_being_sent(
    house: House, browser: Browser, tmp_path: Path
) -> None:
    large, long = tmp_path / "large.txt", tmp_path / "long.txt"
    large.write_bytes(b"x" * (MOST_CHARS * 4 + 1))
    long.write_bytes(b"x" * (MOST_CHARS + 1))
    async with signed_in(browser, house) as page:
        await page.goto(f"{house.url}/configs/new")
        await page.locator("summary", has_text="Try it").click()
        for file, said in ((large, "too large to be tried here"), (long, "at most 500,000 are tried")):
            await page.set_input_files("#try-file", file)
            await page.get_by_role("button", name="Try this reply").click()
            await expect(page.locator("#trial")).to_contain_text(said)


async def test_the_second_of_two_tabs_is_told_and_keeps_its_changes(house: House, browser: Browser) -> None:
    address = await put(house, sound())
    async with signed_in(browser, house) as first:
        second = await first.context.new_page()
        for page, name in ((first, "First"), (second, "Second")):
            await page.goto(address)
            await field(page, "name").fill(name)
        await first.locator(".head").get_by_role("button", name="Save").click()
        await expect(first.get_by_text("Version 2")).to_be_visible()
        await second.locator(".head").get_by_role("button", name="Save").click()
        await expect(second.get_by_role("alert")).to_contain_text("saved version 2")
        await second.get_by_role("button", name="Save mine as a copy").click()
        await expect(second.get_by_text("Version 1")).to_be_visible()
    names = [one.name for one in await house.server.store.configurations.list(house.project)]
    assert names == ["First", "Second"]


async def test_all_of_it_works_without_script(house: House, browser: Browser) -> None:
    async with signed_in(browser, house, java_script_enabled=False) as page:
        await page.goto(f"{house.url}/configs/new")
        await page.get_by_role("switch").check()
        await page.get_by_role("button", name="Fill in the usual figures").click()
        assert await knobs(page) == FIGURES
        await page.locator("summary", has_text="Try it").click()
        await paste(page, "void 0;\n" * 2_000)
        await page.get_by_role("button", name="Try this reply").click()
        await expect(page.locator("#trial")).to_contain_text("12,261 characters in")
        await field(page, "name").fill("Coder")
        await field(page, "name").press("Enter")
        await expect(page.get_by_text("Version 1")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("shape", "viewport"), [("desk", DESK), ("phone", PHONE)])
async def test_it_fits_is_legible_and_says_what_everything_is(
    house: House, browser: Browser, shape: str, viewport: dict[str, int], scheme: str
) -> None:
    address = await put(house, EVERYTHING, "Everything there is")
    async with signed_in(browser, house, color_scheme=scheme, viewport=viewport) as page:
        await page.goto(f"{house.url}/configs")
        assert await overflow(page) <= 0
        assert await serious(page) == []
        await shoot(page, f"configs-{shape}-{scheme}")
        await page.goto(address)
        await try_sample(page, "void 0; for ever")
        await field(page, "agents.0.name").fill("")
        await field(page, "agents.0.name").blur()
        await expect(page.locator('[id="agents.0.name-complaint"]')).to_be_visible()
        assert await overflow(page) <= 0
        assert await serious(page) == []
        await shoot(page, f"configuration-{shape}-{scheme}")


async def test_a_viewer_sees_all_of_it_and_may_try_replies(house: House, browser: Browser) -> None:
    address = await put(house, EVERYTHING, "Everything there is")
    async with signed_in(browser, house, "viewer") as page:
        await page.goto(address)
        await expect(field(page, WINDOW)).to_be_disabled()
        await expect(page.get_by_role("button", name="Save")).to_have_count(0)
        await try_sample(page, "void 0; for ever")
        assert await serious(page) == []


async def try_sample(page: Page, title: str) -> None:
    await page.locator("summary", has_text="Try it").click()
    await page.locator("summary", has_text="a dozen samples").click()
    await page.get_by_role("button", name=title).click()
    await expect(page.locator("#trial mark").first).to_be_visible()
