"""The whole server over PostgreSQL: refused before the upgrade, the same after it, two of them as one."""

import asyncio
import json

import pytest

from tests.alerts.sinks import http_sink
from tests.server.house import serving, until
from tests.server.test_serving import run
from tests.store.servers import postgres


async def test_two_servers_over_one_database_are_one() -> None:
    with postgres() as url:
        refused = await asyncio.to_thread(run, "serve", "--db", url, "--port", "0")
        assert (refused.returncode, "run `loopwatch db upgrade`" in refused.stderr) == (1, True)
        upgraded = await asyncio.to_thread(run, "db", "upgrade", "--db", url)
        assert (upgraded.returncode, upgraded.stdout) == (0, "")
        async with serving(url) as house, serving(url) as other, http_sink() as sink:
            other.project, other.key, other.admin = house.project, house.key, house.admin
            await house.set(
                channels=[{"type": "slack", "url": sink.url.get_secret_value()}],
                caps={"free": {"monthlyUsd": 0.01, "action": "downgrade"}},
            )
            row = {"userId": "u1", "model": "gpt-4o", "inputTokens": 6_000, "eventId": "0"}
            rows = [{**row, "eventId": str(number)} for number in range(20)]
            sides = [house, other] * 10
            replies = await asyncio.gather(*(side.log(**row) for side, row in zip(sides, rows, strict=True)))
            assert {reply.status for reply in replies} == {202}
            again = [await side.log(**row) for side in (house, other)]
            assert [reply.json["outcome"] for reply in again] == ["duplicate", "duplicate"]
            await until(lambda: sink.received)
            found = [await side.get(f"/api/v1/alerts/{side.project}") for side in (house, other)]
            assert [len(one["alerts"]) for one in found] == [1, 1]
            stats = await other.get(f"/api/v1/stats/{other.project}")
            assert (stats["requestCount"], stats["totalCostUsd"]) == (20, 0.3)
            may = await other.get("/api/v1/check?userId=u1&planName=free&model=gpt-4o")
            assert (may["allowed"], may["alternativeModel"]) == (False, "gpt-4o-mini")
            await asyncio.sleep(0.2)
            assert len(sink.received) == 1
            assert "u1" in json.dumps(sink.received[0].json)


@pytest.mark.parametrize("url", ["postgresql://u:s3cr3t@127.0.0.1:9/x"])
def test_no_command_shows_the_password_of_a_database(url: str) -> None:
    for args in (("keys", "list"), ("db", "upgrade"), ("doctor",)):
        done = run(*args, *(() if args == ("doctor",) else ("--db", url)), LOOPWATCH_DB=url)
        assert done.returncode == 1
        assert "s3cr3t" not in done.stdout + done.stderr
