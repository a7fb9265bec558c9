"""Settings from the console: by the same function as the shell's, refusals beside their fields."""

import re

import pytest

from tests.server.console.guest import Guest
from tests.server.house import House, until

PATH = "/dashboard/settings"
DETECTION = {"section": "detection", "tokenThreshold": "1,000", "windowMinutes": "10", "cooldownMinutes": ""}
DETECTION |= {"cachedWeight": "50", "velocityAlerts": "on"}


async def document(house: House) -> dict[str, object]:
    return (await house.server.store.projects.settings(house.project)).settings.document()


async def test_what_is_saved_holds_for_the_next_call(house: House, owner: Guest) -> None:
    await house.log(userId="u1", inputTokens=1_001)
    assert not await house.server.store.alerts.list(house.project)
    seen = await owner.send(PATH, DETECTION)
    assert "Saved. It holds from the next call on" in seen.text
    assert await document(house) == {"tokenThreshold": 1_000, "windowMinutes": 10.0, "cachedWeight": 0.5}
    await house.log(userId="u1", inputTokens=1)
    (raised,) = await house.server.store.alerts.list(house.project)
    assert raised.alert.tokens == 1_002
    assert (
        "ana@example.com settings: cachedWeight, tokenThreshold, windowMinutes"
        in (await owner.open(PATH)).text
    )


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"tokenThreshold": "many"}, "tokenThreshold", "Must be a whole number of at least 1."),
        ({"tokenThreshold": "-4"}, "tokenThreshold", "at least 1"),
        ({"tokenThreshold": "12.5"}, "tokenThreshold", "whole number"),
        ({"windowMinutes": "999"}, "windowMinutes", "at most 360"),
        ({"windowMinutes": "nan"}, "windowMinutes", "minutes"),
        ({"cachedWeight": "150"}, "cachedWeight", "0 to 1"),
    ],
)
async def test_what_is_refused_stands_beside_its_field(
    house: House, owner: Guest, fields: dict[str, str], field: str, words: str
) -> None:
    seen = await owner.send(PATH, DETECTION | fields)
    assert seen.status == 422
    beside = re.search(rf'id="{field}-complaint">([^<]*)<', seen.html)
    assert beside is not None
    assert words in beside[1]
    assert f'value="{fields[field]}"' in seen.html
    assert await document(house) == {}


async def test_plans_caps_and_cheaper_models(house: House, owner: Guest) -> None:
    rows = {"section": "plans", "downgrades": "gpt-4o -> gpt-4o-mini\n\n"}
    rows |= {"plan_name": "pro", "plan_price": "49", "plan_cap": "30.5", "plan_action": "downgrade"}
    await owner.send(PATH, rows)
    assert await document(house) == {
        "plans": {"pro": 49.0},
        "caps": {"pro": {"monthlyUsd": 30.5, "action": "downgrade"}},
        "downgrades": {"gpt-4o": "gpt-4o-mini"},
    }
    for wrong, words in (
        ({"plan_name": ""}, "needs the name of its plan"),
        ({"plan_cap": "0"}, "caps.pro.monthlyUsd"),
        ({"plan_price": "lots"}, "plans.pro"),
        ({"downgrades": "gpt-4o"}, "each line must be"),
    ):
        seen = await owner.send(PATH, rows | wrong)
        assert (seen.status, words.lower() in seen.text.lower()) == (422, True), (wrong, seen.text)


async def test_prices_of_the_projects_own(house: House, owner: Guest) -> None:
    await house.log(userId="u1", model="acme-7b", provider="acme", inputTokens=1_000_000)
    assert "No price is known for acme-7b ( 1 calls this month)" in (await owner.open(PATH)).text.replace(
        "(1", "( 1"
    )
    fields = {
        "section": "prices",
        "prices": "",
        "price_model": "acme-7b",
        "price_input": "0.5",
        "price_output": "2",
    }
    assert "Saved" in (await owner.send(PATH, fields)).text
    await house.log(userId="u2", model="acme-7b", provider="acme", inputTokens=1_000_000)
    assert "u2" in (await owner.open("/dashboard/users?search=u2")).text
    assert "$0.50" in (await owner.open("/dashboard/users?search=u2")).text
    for wrong, words in (
        ({"prices": "{"}, "this is not JSON"),
        ({"prices": "[]"}, "must be an object"),
        ({"price_input": "cheap"}, "prices.acme-7b.input"),
    ):
        seen = await owner.send(PATH, fields | wrong)
        assert (seen.status, words in seen.text.replace("This", "this").replace("Must", "must")) == (
            422,
            True,
        )


async def test_a_channel_is_added_tried_switched_and_removed_and_its_url_never_shown(
    house: House, owner: Guest
) -> None:
    url = house.url + "/api/v1/hook-s3cr3t"  # there is nothing there: 404, which is permanent
    added = await owner.send(f"{PATH}/channels", {"type": "slack", "channel_url": url})
    assert "The channel was added" in added.text
    tried = await owner.send(f"{PATH}/channels/slack", {"action": "test"})
    assert tried.status == 502
    assert "The test was not taken" in tried.text
    await house.log(userId="u1", inputTokens=60_000)
    store = house.server.store

    def dead() -> object:
        return "/api/v1/hook-s3cr3t" in house.front.asked[-1:] or None

    await until(dead)
    for _ in range(100):
        (progress, *_) = await store.outbox.progress(house.project)
        if progress.state == "dead":
            break
    page = await owner.open(PATH)
    assert "404" in page.text
    assert "s3cr3t" not in page.html + tried.html + added.html
    await owner.send(f"{PATH}/channels/slack", {"action": "off"})
    (slack,) = (await store.projects.settings(house.project)).settings.channels
    assert (slack.enabled, slack.url.get_secret_value()) == (False, url)  # type: ignore[union-attr]
    assert "switched off" in (await owner.send(f"{PATH}/channels/slack", {"action": "test"})).text
    assert "was removed" in (await owner.send(f"{PATH}/channels/slack", {"action": "remove"})).text
    assert await document(house) == {}
    assert (await owner.send(f"{PATH}/channels/slack", {"action": "on"})).status == 400


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"type": "slack", "channel_url": "nowhere"}, "channel_url"),
        ({"type": "email", "channel_to": "a@b.example, nobody"}, "channel_to"),
        (
            {"type": "webhook", "channel_url": "https://x.example/y", "channel_secret": "short"},
            "channel_secret",
        ),
        ({"type": "pagerduty", "channel_routingKey": "short"}, "channel_routingKey"),
    ],
)
async def test_a_channel_that_will_not_do(
    house: House, owner: Guest, fields: dict[str, str], field: str
) -> None:
    seen = await owner.send(f"{PATH}/channels", fields)
    assert seen.status == 422
    assert f'id="{field}-complaint"' in seen.html
    assert "short" not in seen.html.replace("shortly", "")
    assert await document(house) == {}


async def test_two_channels_of_one_kind_need_names(house: House, owner: Guest) -> None:
    fields = {"type": "email", "channel_to": "a@example.com b@example.com"}
    await owner.send(f"{PATH}/channels", fields)
    assert "another channel is called email" in (await owner.send(f"{PATH}/channels", fields)).text
    await owner.send(f"{PATH}/channels", fields | {"channel_id": "second"})
    channels = (await house.server.store.projects.settings(house.project)).settings.channels
    assert [one.key for one in channels] == ["email", "second"]


async def test_a_key_is_shown_once_replaced_and_revoked(house: House, owner: Guest) -> None:
    made = await owner.send(f"{PATH}/keys", {"key_name": "production"})
    (secret,) = re.findall(r"wk_[\w-]{43}", made.html)
    assert secret not in (await owner.open(PATH)).html
    key = await house.server.store.keys.authenticate(secret)
    assert key is not None
    assert (key.name, key.admin) == ("production", False)
    replaced = await owner.send(f"{PATH}/keys/{key.id}", {"action": "rotate", "overlap": "24"})
    (second,) = re.findall(r"wk_[\w-]{43}", replaced.html)
    assert "goes on for 1 d" in replaced.text
    for one in (secret, second):
        assert await house.server.store.keys.authenticate(one)
    assert "is revoked" in (await owner.send(f"{PATH}/keys/{key.id}", {"action": "revoke"})).text
    assert await house.server.store.keys.authenticate(secret) is None
    for overlap in ("", "-1", "nan", "99999"):
        assert (
            await owner.send(f"{PATH}/keys/{key.id}", {"action": "rotate", "overlap": overlap})
        ).status == 400
    noted = [one.what for one in await house.server.store.audit.list(house.project)]
    assert [what.split()[2] for what in noted[:3]] == ["revoked:", "replaced", "made:"]
    assert "revoked: production" in (await owner.open(PATH)).text
    assert (await owner.send(f"{PATH}/keys/nothing", {"action": "revoke"})).status == 400


async def test_a_project_is_made_with_a_key_and_deleted_by_its_name(house: House, owner: Guest) -> None:
    await owner.open("/dashboard/projects/new")
    assert (await owner.send("/dashboard/projects/new", {"name": " "})).status == 422
    made = await owner.send("/dashboard/projects/new", {"name": "Other <b>"})
    (secret,) = set(re.findall(r"wk_[\w-]{43}", made.html))
    store = house.server.store
    key = await store.keys.authenticate(secret)
    assert key is not None
    reply = await house.log(userId="u1", inputTokens=60_000)
    assert reply.status == 202
    await owner.open(PATH)
    where = f"{PATH}/delete?project={house.project}"
    refused = await owner.send(where, {"name": "Other <b>"})
    assert (refused.status, "Type the project's name, Acme" in refused.text) == (422, True)
    assert "was deleted" in (await owner.send(where, {"name": "Acme"})).text
    assert [one.name for one in await store.projects.list()] == ["Other <b>"]
    assert await store.alerts.list(house.project) == []
    assert await store.reports.recent(house.project) == []
    assert await store.keys.list(house.project) == []


async def test_members_are_invited_changed_and_removed(house: House, owner: Guest, viewer: Guest) -> None:
    await owner.open("/members")
    invited = await owner.send("/members", {"role": "viewer"})
    (link,) = set(re.findall(r"http://[^<\s]+/join/[\w-]+", invited.html))
    assert link not in (await owner.open("/members")).html
    members = house.server.store.members
    (invitation,) = await members.invitations()
    assert "withdrawn" in (await owner.send(f"/invitations/{invitation.id}")).text
    assert (await viewer.open(link.removeprefix(house.url))).status == 404
    vic = next(one for one in await members.list() if one.name.startswith("vic"))
    ana = next(one for one in await members.list() if one.name.startswith("ana"))
    last = await owner.send(f"/members/{ana.id}", {"action": "remove"})
    assert (last.status, "there must be an owner" in last.text.lower()) == (400, True)
    assert (await owner.send(f"/members/{ana.id}", {"role": "viewer"})).status == 400
    assert (await owner.send(f"/members/{vic.id}", {"role": "king"})).status == 400
    await owner.send(f"/members/{vic.id}", {"role": "owner"})
    assert (await viewer.send(PATH, DETECTION)).status == 200
    await owner.send(f"/members/{vic.id}", {"action": "remove"})
    assert (await viewer.open("/dashboard")).url.startswith("/sign-in")
