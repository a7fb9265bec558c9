"""Signing in and out, and the one-time links that make members."""

from datetime import timedelta
from pathlib import Path

import pytest

from loopwatch.clock import ManualClock
from tests.server.console.guest import PASSWORD, Guest, visitor
from tests.server.house import House, serving

NAME = "ana@example.com"


async def sign_in(guest: Guest, **fields: str) -> int:
    await guest.open("/sign-in")
    seen = await guest.send("/sign-in", {"name": NAME, "password": PASSWORD, **fields}, allow_redirects=False)
    return seen.status


@pytest.mark.usefixtures("owner")
async def test_whoever_is_not_signed_in_is_sent_to_sign_in_and_comes_back(
    house: House, stranger: Guest
) -> None:
    seen = await stranger.open("/dashboard?project=" + house.project)
    assert seen.url.startswith("/sign-in?next=/dashboard")
    fields = {"name": " Ana@Example.com ", "password": PASSWORD, "next": "/dashboard?x=1"}
    back = await stranger.send("/sign-in", fields)
    assert (back.status, back.url) == (200, "/dashboard?x=1")


@pytest.mark.usefixtures("owner")
@pytest.mark.parametrize(
    "target", ["https://evil.example", "//evil.example", "/\\evil", "\\/evil", "evil", "/a\nb"]
)
async def test_it_never_leads_elsewhere(stranger: Guest, target: str) -> None:
    await stranger.open("/sign-in")
    fields = {"name": NAME, "password": PASSWORD, "next": target}
    assert (await stranger.send("/sign-in", fields)).url == "/dashboard"


async def test_a_link_makes_one_member_once(house: House, stranger: Guest) -> None:
    token = await house.server.store.members.invite("owner", "")
    for _ in range(2):
        assert "owner" in (await stranger.open(f"/join/{token}")).text
    fields = {"name": "Bob", "password": PASSWORD, "again": PASSWORD}
    assert (await stranger.send(f"/join/{token}", fields)).url == "/dashboard"
    await stranger.open("/dashboard")
    assert (await stranger.send(f"/join/{token}", fields)).status == 404
    (bob,) = await house.server.store.members.list()
    assert (bob.name, bob.role) == ("bob", "owner")


async def test_the_first_owner_ends_all_links_of_first_starts(house: House, stranger: Guest) -> None:
    first, second = [await house.server.store.members.invite("owner", "") for _ in range(2)]
    await stranger.open(f"/join/{first}")
    await stranger.send(f"/join/{first}", {"name": "bob", "password": PASSWORD, "again": PASSWORD})
    assert (await stranger.open(f"/join/{second}")).status == 404


async def test_a_link_grows_too_old(house: House, stranger: Guest, clock: ManualClock) -> None:
    token = await house.server.store.members.invite("viewer", NAME)
    clock.advance(timedelta(days=4).total_seconds())
    seen = await stranger.open(f"/join/{token}")
    assert (seen.status, "too old" in seen.text) == (404, True)


@pytest.mark.usefixtures("owner")
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"password": "short", "again": "short"}, "12 to 200 characters"),
        ({"password": "a" * 20, "again": "a" * 20}, "guessed at once"),
        ({"password": "bob@example.com", "again": "bob@example.com"}, "guessed at once"),
        ({"again": "another one altogether"}, "not the same password"),
        ({"name": ""}, "1 to 100 characters"),
        ({"name": "ANA@example.com"}, "somebody else has this name"),
    ],
)
async def test_what_will_not_do_is_said_beside_its_field(
    house: House, stranger: Guest, fields: dict[str, str], words: str
) -> None:
    token = await house.server.store.members.invite("viewer", NAME)
    await stranger.open(f"/join/{token}")
    given = {"name": "bob@example.com", "password": PASSWORD, "again": PASSWORD, **fields}
    seen = await stranger.send(f"/join/{token}", given)
    assert (seen.status, words in seen.text) == (422, True)
    assert PASSWORD not in seen.html
    assert (await stranger.open(f"/join/{token}")).status == 200


@pytest.mark.usefixtures("owner")
async def test_wrong_and_unknown_are_told_alike(stranger: Guest) -> None:
    told = []
    for fields in ({"password": "wrong horse battery"}, {"name": "nobody"}, {"password": ""}):
        await stranger.open("/sign-in")
        seen = await stranger.send("/sign-in", {"name": NAME, "password": PASSWORD, **fields})
        told.append((seen.status, "do not belong together" in seen.text, PASSWORD in seen.html))
    assert set(told) == {(403, True, False)}


@pytest.mark.usefixtures("owner")
async def test_attempts_are_throttled_and_forgiven(house: House, stranger: Guest, clock: ManualClock) -> None:
    for _ in range(5):
        assert await sign_in(stranger, password="wrong horse battery") == 403
    assert await sign_in(stranger) == 429
    assert await sign_in(stranger, name="somebody else") == 403
    clock.advance(timedelta(minutes=16).total_seconds())
    assert await sign_in(stranger) == 303
    async with visitor(house) as another:
        for _ in range(4):
            assert await sign_in(another, password="wrong horse battery") == 403
        assert await sign_in(another) == 303
        async with visitor(house) as third:
            assert await sign_in(third, password="wrong horse battery") == 403


async def test_signing_out_ends_the_session_on_the_server(owner: Guest) -> None:
    await owner.open("/dashboard")
    kept = "; ".join(f"{one.key}={one.value}" for one in owner.session.cookie_jar)
    assert (await owner.send("/sign-out")).url == "/sign-in"
    owner.session.cookie_jar.clear()
    seen = await owner.open("/dashboard", headers={"Cookie": kept}, allow_redirects=False)
    assert seen.status == 303


async def test_signing_out_everywhere_ends_all_sessions(owner: Guest, stranger: Guest) -> None:
    assert await sign_in(stranger) == 303
    assert (await stranger.open("/account")).text.count("Another browser") == 1
    await owner.open("/account")
    assert (await owner.send("/account/sessions")).url == "/sign-in"
    for guest in (owner, stranger):
        assert (await guest.open("/dashboard")).url.startswith("/sign-in")


async def test_a_new_password_ends_other_sessions_and_keeps_this_one(owner: Guest, stranger: Guest) -> None:
    assert await sign_in(stranger) == 303
    await owner.open("/account")
    fresh = "another few words here"
    wrong = await owner.send("/account/password", {"old": "no", "password": fresh, "again": fresh})
    assert (wrong.status, "This is not your password" in wrong.text) == (422, True)
    done = await owner.send("/account/password", {"old": PASSWORD, "password": fresh, "again": fresh})
    assert "was changed" in done.text
    assert (await stranger.open("/dashboard")).url.startswith("/sign-in")
    assert await sign_in(stranger) == 403
    assert await sign_in(stranger, password=fresh) == 303


async def test_sessions_end_when_idle_and_when_old(owner: Guest, clock: ManualClock) -> None:
    for _ in range(4):
        clock.advance(timedelta(days=6).total_seconds())
        assert (await owner.open("/dashboard")).url == "/dashboard"
    clock.advance(timedelta(days=6, hours=23).total_seconds())
    assert (await owner.open("/dashboard")).url.startswith("/sign-in")


@pytest.mark.parametrize("public", ["http://127.0.0.1:9", "https://watch.example.com"])
async def test_cookies_keep_to_themselves(tmp_path: Path, public: str) -> None:
    async with serving(tmp_path / "a.db", public_url=public) as house, visitor(house) as guest:
        cookie = (await guest.open("/sign-in")).headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        is_https = public.startswith("https")
        assert ("; Secure" in cookie, cookie.startswith("__Host-")) == (is_https, is_https)


async def test_a_cookie_that_we_did_not_sign_is_none(owner: Guest) -> None:
    (cookie,) = owner.session.cookie_jar
    owner.session.cookie_jar.clear()
    token, _, _ = cookie.value.rpartition(".")
    for forged in (token, f"{token}.AAAA", "x" * 600, ""):
        headers = {"Cookie": f"{cookie.key}={forged}"}
        seen = await owner.open("/dashboard", headers=headers, allow_redirects=False)
        assert seen.status == 303, forged
    headers = {"Cookie": f"{cookie.key}={cookie.value}"}
    assert (await owner.open("/dashboard", headers=headers, allow_redirects=False)).status == 200
