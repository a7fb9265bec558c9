"""Everything that a client can get wrong, or mean ill by, on every route and both databases: never a 5xx."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator

import pytest
from yarl import URL

from loopwatch.server.app import ROUTES
from tests.server.house import House, Reply, serving
from tests.server.test_auth import path
from tests.server.test_serving import run
from tests.store.servers import postgres

TEXTS = [
    *(
        "%00",
        "a%00b",
        "%ff%fe",
        "%ed%a0%80",
        "%0d%0aX-Injected:%201",
        "%F0%9F%98%80",
        "..%2f..%2fetc%2fpasswd",
    ),
    *("%25", "%2500", "%e2%80%ae", "%c0%af", "x" * 300, "'%20OR%201=1--", "block/block", "%20", "%5c%22"),
]
"""Ids in an address, percent-encoded as they are sent."""
VALUES = [
    *(
        "1e400",
        "-1",
        "1.5",
        "9" * 400,
        "-9223372036854775809",
        "9223372036854775808",
        "NaN",
        "Infinity",
        "-0.0",
    ),
    *(
        "1E9",
        "true",
        "null",
        "[]",
        "{}",
        '"5"',
        r'"\u0000"',
        r'"a\u0000b"',
        r'"\ud800"',
        r'"\r\nX-Injected: 1"',
    ),
    *(
        '"0001-01-01T00:00:00+14:00"',
        '"9999-12-31T23:59:59-14:00"',
        '"2026-02-30"',
        '"%s%n"',
        '"' + "é" * 257 + '"',
    ),
]
"""JSON texts of values, where a number, a text or a date should be."""
FIELDS = [
    *(
        "inputTokens",
        "outputTokens",
        "cachedInputTokens",
        "cacheCreationTokens",
        "latencyMs",
        "planRevenueUsd",
    ),
    *("timestamp", "at", "userId", "feature", "model", "provider", "planName", "eventId", "usageSource"),
    *("generationIds", "estimateMethod", "loopRule", "loopAborts", "reasoningOutputTokens"),
]
BODIES = [
    *(b"[" * 30_000, b'{"a":' * 10_000 + b"1" + b"}" * 10_000, b"\xef\xbb\xbf{}", b'{"userId":"x"}garbage'),
    *(b'{"userId":"x"}\x00', b"\x1f\x8b", '{"userId":"x"}'.encode("utf-16"), b'{"userId":1,"userId":"b"}'),
    *(gzip.compress(b"[" + b" " * 20_000_000, 9), b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--"),
]
METHODS = ("GET", "HEAD", "OPTIONS", "PUT", "POST", "DELETE", "PATCH", "TRACE", "PROPFIND")
KINDS = (
    "",
    "text/html",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "application/x-protobuf",
)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
async def attacked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[House]:
    if request.param == "sqlite":
        async with serving(
            tmp_path_factory.mktemp("hostile") / "a.db", rate=1e6, burst=1e6, secret=b"s" * 32
        ) as house:
            yield house
        return
    with postgres() as url:
        upgraded = await asyncio.to_thread(run, "db", "upgrade", "--db", url)
        assert upgraded.returncode == 0, upgraded.stderr
        async with serving(url, rate=1e6, burst=1e6, secret=b"s" * 32) as house:
            yield house


async def ask(house: House, method: str, where: str, **more: object) -> Reply:
    """One request by an administrator, the path as it is written; what comes back is no 5xx, nor injected."""
    headers = {"x-api-key": house.admin, **more.pop("headers", {})}  # type: ignore[dict-item]
    url = URL(house.url + where, encoded=True)
    async with house.session.request(method, url, headers=headers, **more) as answer:  # type: ignore[arg-type]
        text = await answer.text(errors="replace")
        assert answer.status < 500, (method, where, text)
        assert "X-Injected" not in answer.headers
        return Reply(answer.status, answer.headers, text, None)


async def test_methods_and_kinds_of_body_that_a_route_does_not_know(attacked: House) -> None:
    for where in sorted({path(route, attacked.project).replace("{token}", "x") for route in ROUTES}):
        for method in METHODS:
            await ask(attacked, method, where)
        for kind in KINDS:
            await ask(attacked, "POST", where, data=b"\x00\x01{}", headers={"Content-Type": kind})


@pytest.mark.parametrize("text", TEXTS)
async def test_ids_that_are_none(attacked: House, text: str) -> None:
    project = attacked.project
    users = f"/api/v1/users/{project}/{text}"
    asked = [
        *(("POST", f"{users}/block"), ("POST", f"{users}/unblock"), ("DELETE", users)),
        *(("GET", f"/api/v1/stats/{text}"), ("GET", f"/api/v1/alerts/{project}?userId={text}&before={text}")),
        *(("GET", f"/api/v1/alerts/{project}?userId={text}"), ("GET", f"/dashboard/block/{text}")),
        ("GET", f"/api/v1/check?userId={text}&planName={text}&model={text}"),
        ("GET", f"/api/v1/check?userId=u1&planName={text}&model={text}"),
        *(("POST", f"/api/v1/settings/{project}/channels/{text}/test"), ("POST", f"/dashboard/block/{text}")),
        *(
            ("GET", f"/api/v1/users/{project}?limit={text}"),
            ("GET", f"/{text}"),
            ("GET", f"/api/v1/me?{text}"),
        ),
    ]
    for method, where in asked:
        await ask(attacked, method, where)
    for headers in ({"x-api-key": text}, {"x-api-key": "", "Authorization": f"Bearer {text}"}):
        assert (await ask(attacked, "GET", "/api/v1/me", headers=headers)).status == 401


@pytest.mark.parametrize("field", FIELDS)
async def test_values_that_are_none(attacked: House, field: str) -> None:
    rows = [
        f'{{"userId": "{field}{number}", "model": "gpt-4o", "inputTokens": 60000, "{field}": {value}}}'
        for number, value in enumerate(VALUES)
    ]
    reply = await ask(attacked, "POST", "/api/v1/calls", data="\n".join(rows).encode())
    assert reply.status == 202
    for row in rows[::7]:
        assert (await ask(attacked, "POST", "/api/v1/log", data=row.encode())).status in (202, 400)


async def test_bodies_that_are_none(attacked: House) -> None:
    for body in BODIES:
        for where in ("/api/v1/log", "/api/v1/calls", "/v1/traces"):
            for headers in ({}, {"Content-Encoding": "gzip"}, {"Content-Type": "application/json"}):
                await ask(attacked, "POST", where, data=body, headers=headers)
        await ask(attacked, "PUT", f"/api/v1/settings/{attacked.project}", data=body)


async def test_one_bad_row_among_megabytes(attacked: House) -> None:
    rows = [json.dumps({"eventId": f"big{number}", "junk": "x" * 1_600}) for number in range(4_900)]
    rows.insert(2_500, '{"userId": bad')
    packed = gzip.compress("\n".join(rows).encode())
    reply = await attacked.ask("POST", "/api/v1/calls", data=packed, headers={"Content-Encoding": "gzip"})
    assert (reply.status, reply.json["accepted"]) == (202, 4_900)
    assert [one["index"] for one in reply.json["rejected"]] == [2_500]


async def test_a_project_s_id_may_be_percent_encoded(attacked: House) -> None:
    encoded = "".join(f"%{ord(char):02x}" for char in attacked.project)
    assert (await ask(attacked, "GET", f"/api/v1/stats/{encoded}")).status == 200


async def test_settings_at_the_edge_of_reason_leave_calls_and_reads_alone(attacked: House) -> None:
    for changes in (
        *({"costThresholdUsd": 1e308}, {"costThresholdUsd": 1e-300}, {"caps": {"p": {"monthlyUsd": 1e308}}}),
        *({"plans": {"a\x00": 1, "\u202e": 1}}, {"prices": {"m\x00": {"input": 1, "output": 0}}}),
        *({"downgrades": {"a\x00": "b\x00"}}, {"windowMinutes": 1 / 60}, {"cooldownMinutes": 44_640}),
    ):
        assert (await attacked.set(**changes)).status == 200
        assert (await attacked.log(userId="edge", planName="p", inputTokens=10**9)).status == 202
        await attacked.get("/api/v1/check?userId=edge&planName=p&model=m")
    for route in ROUTES:
        if "GET" in (route.methods or ()):
            await ask(attacked, "GET", path(route, attacked.project).replace("{token}", "x"))
