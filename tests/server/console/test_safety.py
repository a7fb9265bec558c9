"""What every page is protected by."""

from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from starlette.routing import Route

from loopwatch.server.console.routes import ROUTES as CONSOLE
from loopwatch.server.demo.routes import ROUTES as DEMO
from tests.server.console.guest import Guest, member
from tests.server.house import House

MARKUP = '<img src=x onerror="alert(1)">\'&;'
FORMULA = "=cmd|' /C calc'!A0"


def changes() -> Iterator[str]:
    """An address of every route that changes something."""
    for route in (*CONSOLE, *DEMO):
        if isinstance(route, Route) and "POST" in (route.methods or ()):
            path = route.path
            for name in route.param_convertors:
                path = path.replace(f"{{{name}}}", "x").replace(f"{{{name}:whole}}", "x")
            yield path


CHANGES = sorted(set(changes()))


class Dangers(HTMLParser):
    """Notes what would run: scripts that are no files of ours, handlers, styles in attributes, images."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag in ("img", "style", "iframe") or (
            tag == "script" and not (named.get("src") or "").startswith("/static/")
        ):
            self.found.append(tag)
        self.found += [name for name in named if name.startswith("on") or name == "style"]


def dangers(html: str) -> list[str]:
    parser = Dangers()
    parser.feed(html)
    return parser.found


def test_there_are_changes() -> None:
    assert len(CHANGES) > 20
    assert not [path for path in CHANGES if "{" in path]


async def test_no_change_without_the_forms_token(owner: Guest, stranger: Guest) -> None:
    for guest in (owner, stranger):
        for path in CHANGES:
            for token in ("", "forged", "é"):
                guest.csrf = token
                seen = await guest.send(path)
                assert seen.status in (403, 404), path
                assert seen.status == 403 or "block" in path or "join" in path, path


async def test_no_change_from_another_site(owner: Guest) -> None:
    token = owner.csrf
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        for path in CHANGES:
            owner.csrf = token
            seen = await owner.send(path, headers=headers)
            assert (seen.status, "another site" in seen.text) == (403, True), path


async def test_a_viewer_changes_nothing(viewer: Guest) -> None:
    own = ("/sign-in", "/sign-out", "/account", "/join", "/dashboard/block", "/demo")
    for path in CHANGES:
        tries = path.startswith("/configs") and path.endswith("/edit")  # a reply, and keeps nothing
        if not path.startswith(own) and not tries:
            assert (await viewer.send(path)).status == 403, path


async def test_whoever_is_not_signed_in_sees_nothing(house: House, stranger: Guest) -> None:
    await house.log(userId="u1", inputTokens=60_000)
    paths = [one.path for one in CONSOLE if isinstance(one, Route) and "GET" in (one.methods or ())]
    asked = [path for path in paths if path.startswith(("/dashboard", "/members", "/account", "/configs"))]
    assert len(asked) > 8
    for path in asked:
        if "block" in path:
            continue
        plain = path.replace("{user_id:whole}", "u1").replace("{file}", "users.csv")
        seen = await stranger.open(plain)
        assert seen.url.startswith("/sign-in"), path
        assert "u1" not in seen.text


async def test_pages_have_the_headers(owner: Guest) -> None:
    for path in ("/dashboard", "/sign-in", "/nowhere", "/static/console.css", "/dashboard/tables/users.csv"):
        seen = await owner.open(path)
        policy = seen.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert seen.headers["X-Content-Type-Options"] == "nosniff"
        assert seen.headers["Cache-Control"] == ("no-cache" if "static" in path else "no-store")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 421),
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("", 421),
        ("[", 421),
    ],
)
async def test_a_name_that_is_not_ours_is_refused(owner: Guest, host: str, status: int) -> None:
    assert (await owner.open("/dashboard", headers={"Host": host})).status == status


async def test_the_api_does_not_mind_by_which_name_it_is_asked(house: House) -> None:
    assert (await house.ask("GET", "/healthz", key="", headers={"Host": "loopwatch.internal"})).status == 200


async def test_markup_in_names_stays_text(house: House, owner: Guest) -> None:
    names = {"feature": f"f{MARKUP}", "plan": f"p{MARKUP}", "model": f"m{MARKUP}", "provider": f"v{MARKUP}"}
    reply = await house.log(userId=MARKUP, inputTokens=60_000, **names)
    assert reply.status == 202, reply.text
    user = f"/dashboard/users/{quote(MARKUP, safe='')}"
    for path in (
        "/dashboard",
        "/dashboard/now",
        "/dashboard/alerts",
        user,
        f"{user}?part=now",
        "/dashboard/settings",
    ):
        seen = await owner.open(path)
        assert seen.status == 200, path
        assert "<img" not in seen.html, path
        assert not dangers(seen.html), path
    found = await owner.open(user)
    assert MARKUP in found.text
    await owner.send(user, {"action": "block"})
    assert "<img" not in (await owner.open(user)).html


async def test_a_table_is_no_spreadsheet_program(house: House, owner: Guest) -> None:
    await house.log(userId=FORMULA, feature="+1", model="@x", inputTokens=10)
    for name in ("users", "features", "models"):
        csv = (await owner.open(f"/dashboard/tables/{name}.csv")).html
        assert not [
            cell
            for line in csv.splitlines()[1:]
            for cell in line.split(",")
            if cell.strip('"')[:1] in "=+@" and cell
        ]
    rows = await owner.open("/dashboard/tables/users.json")
    assert FORMULA in rows.html


async def test_pages_are_of_their_project(house: House, owner: Guest) -> None:
    store = house.server.store
    other = await store.projects.create("Other")
    await house.log(userId="secret-user", inputTokens=60_000)
    key = (await store.keys.list(house.project))[0]
    for path in ("", "/alerts", "/settings", "/users/secret-user", "/tables/users.csv"):
        seen = await owner.open(f"/dashboard{path}?project={other.id}")
        assert seen.status == 200
        assert key.prefix not in seen.html
        assert "60,000" not in seen.text.replace("than 50,000", "")
    seen = await owner.send(f"/dashboard/settings/keys/{key.id}?project={other.id}", {"action": "revoke"})
    assert seen.status == 400
    assert (await owner.open("/dashboard?project=nowhere")).status == 404


async def test_a_link_of_an_alert_finds_its_project(house: House, owner: Guest) -> None:
    await house.server.store.projects.create("Another one, which comes first in no list")
    await house.log(userId="usr_1", inputTokens=60_000)
    async with member(house, name="new@example.com") as guest:
        assert "Still going on" in (await guest.open("/dashboard/users/usr_1")).text
    assert "Still going on" in (await owner.open("/dashboard/users/usr_1")).text
