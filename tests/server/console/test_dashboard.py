"""The dashboard, the page of a user, alerts: the figures that they show, and what can be done there."""

import csv
import io
import json
from datetime import timedelta

from loopwatch.clock import ManualClock
from tests.server.console.guest import Guest
from tests.server.house import House

USER = "usr_8f21c9"


async def call(house: House, **row: object) -> None:
    fields = {"userId": USER, "feature": "research-agent", "plan": "pro", "planRevenueUsd": 49, **row}
    reply = await house.log(**fields)
    assert reply.status == 202, reply.text


async def test_a_project_without_a_call_is_told_what_to_do(house: House, owner: Guest, viewer: Guest) -> None:
    page = await owner.open("/dashboard")
    assert "Log the first call" in page.text
    assert f"{house.url}/api/v1/log" in page.text
    assert "Make a key" in page.text
    assert "Make a key" not in (await viewer.open("/dashboard")).text


async def test_money_tokens_users_features_and_models(house: House, owner: Guest) -> None:
    await call(house, inputTokens=40_000, outputTokens=2_000)
    await call(house, userId="usr_free", plan="free", planRevenueUsd=0, inputTokens=1_000_000)
    await call(house, userId=None, feature=None, model="nobody-sells-this", provider="none", inputTokens=10)
    text = (await owner.open("/dashboard")).text
    # 40,000 and 1,000,000 at $0.15, 2,000 at $0.60 a million
    assert "Spend this month $0.16 1 calls without a known price" in text
    assert "1 M" in text
    assert "Unprofitable users 1" in text
    assert text.index("usr_free free unprofitable $0.15 $0.00 −$0.15") < text.index(
        f"{USER} pro profitable $0.0072"
    )
    assert "anonymous" in text
    assert "nobody-sells-this none unknown" in text
    assert "no feature unknown" in text


async def test_loops_cut_and_what_they_would_have_cost(house: House, owner: Guest) -> None:
    row = {"userId": USER, "model": "gpt-4o", "provider": "openai", "inputTokens": 10, "outputTokens": 10}
    row |= {"loopAborts": 2, "loopAbortWords": 300, "loopAbortChars": 4_000, "loopRule": "cycle"}
    await house.ask("POST", "/api/v1/calls", json=[row])
    text = (await owner.open("/dashboard")).text
    # 2 x 250,000 characters uncut, 4,000 thrown away, at 4 a token and $10 a million
    assert "Loops cut 2 about $1.24 saved" in text
    assert "cycle 2 4,000" in text


async def test_users_are_searched_ordered_and_paged(house: House, owner: Guest) -> None:
    rows = [{"userId": f"u{number:02}", "model": "gpt-4o", "inputTokens": number + 1} for number in range(60)]
    await house.ask("POST", "/api/v1/calls", json=rows)
    first = await owner.open("/dashboard/users?order=tokens")
    assert first.text.index("u59") < first.text.index("u35")
    assert "u34" not in first.text
    assert "offset=25" in first.html
    last = await owner.open("/dashboard/users?order=tokens&offset=50")
    assert "u09" in last.text
    assert "More users" not in last.text
    found = await owner.open("/dashboard?search=U42")
    assert ("u42" in found.text, "u41" in found.text) == (True, False)
    assert "No user of this month" in (await owner.open("/dashboard/users?search=zz")).text
    assert (await owner.open("/dashboard/users?offset=-1")).status == 400


async def test_every_table_is_a_file_with_the_same_columns(house: House, owner: Guest) -> None:
    await call(house, inputTokens=60_000)
    for name in ("alerts", "audit", "days", "features", "loops", "models", "users"):
        text = (await owner.open(f"/dashboard/tables/{name}.csv")).html
        rows = list(csv.DictReader(io.StringIO(text)))
        found = json.loads((await owner.open(f"/dashboard/tables/{name}.json")).html)
        assert len(rows) == len(found)
        if rows:
            assert list(rows[0]) == list(found[0])
    for name in ("user-alerts", "user-calls", "user-features", "user-models"):
        seen = await owner.open(f"/dashboard/users/{USER}?table={name}.json")
        assert len(json.loads(seen.html)) == 1, name
    users = json.loads((await owner.open("/dashboard/tables/users.json")).html)
    assert (users[0]["cost"], users[0]["tokens"], users[0]["last"]) == (0.009, 60_000, "2026-11-18T12:00:00Z")
    for wrong in ("nothing.csv", "users.xml", "users", ".csv"):
        assert (await owner.open(f"/dashboard/tables/{wrong}")).status == 404
    assert (await owner.open(f"/dashboard/users/{USER}?table=users.csv")).status == 404


async def test_a_user_over_the_threshold_and_after(house: House, owner: Guest, clock: ManualClock) -> None:
    await call(house, inputTokens=61_400)
    page = await owner.open(f"/dashboard/users/{USER}")
    assert "Still going on: 61,400 tokens within 5 min, about 12,280 a minute" in page.text
    assert "Tokens in 5 min 61,400 alerts above 50,000" in page.text
    assert "&#34;threshold&#34;:50000" in page.html
    assert "Agent loop 61.4 k tokens 50 k tokens" in page.text
    clock.advance(timedelta(minutes=6).total_seconds())
    part = await owner.open(f"/dashboard/users/{USER}?part=now")
    assert "<html" not in part.html
    assert "Still going on" not in part.text
    assert "Tokens in 5 min 0" in part.text


async def test_a_user_at_the_cap(house: House, owner: Guest) -> None:
    await call(house, inputTokens=1_000)
    caps = {"caps": {"pro": {"monthlyUsd": 0.0001}}}
    await house.server.store.projects.change(house.project, caps, "the tests")
    assert (
        "Cap of plan pro $0.00010 reached: calls are refused"
        in (await owner.open(f"/dashboard/users/{USER}")).text
    )


async def test_a_user_is_blocked_muted_and_forgotten(house: House, owner: Guest) -> None:
    await call(house, inputTokens=10)
    path, users = f"/dashboard/users/{USER}", house.server.store.users
    for action, flag, expected in (
        ("block", "blocked", True),
        ("unblock", "blocked", False),
        ("mute", "muted", True),
        ("unmute", "muted", False),
    ):
        assert (await owner.send(path, {"action": action})).status == 200
        state = await users.get(house.project, USER)
        assert getattr(state, flag) is expected, action
    assert (await owner.send(path, {"action": "explode"})).status == 400
    assert "was deleted" in (await owner.send(path, {"action": "forget"})).text
    assert await users.get(house.project, USER) is None


async def test_a_user_of_whom_nothing_is_known_can_be_blocked_in_advance(house: House, owner: Guest) -> None:
    page = await owner.open("/dashboard/users/a%2Fb%20c")
    assert "Nothing has been logged of this user" in page.text
    assert (
        "blocked by ana@example.com"
        in (await owner.send("/dashboard/users/a%2Fb%20c", {"action": "block"})).text
    )
    state = await house.server.store.users.get(house.project, "a/b c")
    assert state is not None
    assert state.blocked


async def test_alerts_are_paged_and_say_whether_anybody_was_told(
    house: House, owner: Guest, clock: ManualClock
) -> None:
    for number in range(52):
        await call(house, userId=f"u{number:02}", inputTokens=60_000)
        clock.advance(1)
    first = await owner.open("/dashboard/alerts")
    assert "nobody is told" in first.text
    assert ("u51" in first.text, "u01" in first.text) == (True, False)
    before = first.html.partition("before=")[2].partition('"')[0].replace("&amp;", "&")
    second = await owner.open(f"/dashboard/alerts?before={before}")
    assert ("u01" in second.text, "u02" in second.text) == (True, False)


async def test_one_project_alone_has_plain_notices(owner: Guest) -> None:
    assert "Saved." in (await owner.open("/dashboard/settings?done=saved")).text
    assert "<script>" not in (await owner.open("/dashboard/settings?done=<script>x")).html.replace(
        "<script src", ""
    )
