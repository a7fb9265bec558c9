"""Calls come in: one by one, in batches, hostile or packed; each answered only once it is stored."""

import asyncio
import gzip
import json
from typing import Any
from urllib.parse import quote

import pytest
from yarl import URL

from loopwatch.clock import ManualClock
from loopwatch.errors import StoreUnavailable
from loopwatch.server.bodies import MOST_BATCH, MOST_EVENT
from loopwatch.server.ingest import MOST_ROWS
from loopwatch.store.reports import LoggedCall
from tests.records.rows import OTEL, WECKR
from tests.server.house import House

OLD = {"userId": "u1", "model": "gpt-4o-mini", "provider": "openai", "inputTokens": 5, "outputTokens": 1}
"""What 0.1.x sent: no event id, no cached tokens."""


async def stored(house: House) -> list[LoggedCall]:
    return await house.server.store.reports.recent(house.project)


async def test_a_call_is_stored_as_it_was_sent_and_priced_here(house: House) -> None:
    sent = {**WECKR, "costUsd": 99.0}
    reply = await house.ask("POST", "/api/v1/log", json=sent)
    assert (reply.status, reply.json["outcome"]) == (202, "stored")
    (call,) = await stored(house)
    assert (call.user_id, call.feature, call.plan) == ("usr_8f21c9", "research-agent", "pro")
    assert (call.input_tokens, call.output_tokens, call.cache_read_input_tokens) == (1_000, 500, 600)
    assert call.cost_nano == 405_000  # W19's figure, not the client's


async def test_the_same_event_counts_once(house: House) -> None:
    replies = [await house.ask("POST", "/api/v1/log", json=WECKR) for _ in range(3)]
    assert [one.json["outcome"] for one in replies] == ["stored", "duplicate", "duplicate"]
    other = await house.ask("POST", "/api/v1/log", json={**WECKR, "outputTokens": 7})
    assert (other.status, other.json["outcome"]) == (202, "conflict")
    assert len(await stored(house)) == 1


async def test_older_shapes_and_nulls_are_taken(house: House) -> None:
    nulls: dict[str, Any] = dict.fromkeys(WECKR)
    for row in (OLD, OLD, nulls, {}, {**WECKR, "userId": None}):
        assert (await house.ask("POST", "/api/v1/log", json=row)).status == 202
    assert len(await stored(house)) == 5


@pytest.mark.parametrize("key", ["x-api-key", "bearer"])
async def test_a_key_is_read_from_either_header(house: House, key: str) -> None:
    headers = {"x-api-key": house.key} if key == "x-api-key" else {"Authorization": f"Bearer {house.key}"}
    assert (await house.ask("POST", "/api/v1/log", key="", headers=headers, json=OLD)).status == 202


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[1]", "no JSON object"),
        (b"null", "no JSON object"),
        (b'"x"', "no JSON object"),
        (b"\xff\xfe", "not JSON"),
        (b'{"inputTokens": 1e400}', "not JSON"),
        (b'{"inputTokens": -1}', "inputTokens must be"),
        (b'{"inputTokens": "5"}', "inputTokens must be"),
        (b'{"userId": 7}', "userId must be"),
        (b'{"userId": "' + b"x" * 300 + b'"}', "userId is longer"),
        (b'{"userId": "a\\u0000b"}', "cannot be stored"),
        (b'{"userId": "\\ud800"}', "not JSON"),
        (b'{"userId": "bob@x.io"}', "looks like an e-mail address"),
        (b'{"feature": "4111 1111 1111 1111"}', "looks like a card number"),
        (b"[" * 50_000, "nested too deeply"),
        (b'{"usageSource": "guessed"}', "usageSource must be one of"),
    ],
)
async def test_what_is_no_call_is_refused_with_one_line(house: House, body: bytes, reason: str) -> None:
    reply = await house.ask("POST", "/api/v1/log", data=body)
    assert reply.status == 400
    assert reason in reply.error
    assert await stored(house) == []


async def test_ids_that_look_personal_are_hashed_where_the_project_chose_so(house: House) -> None:
    await house.set(pseudonymise=True)
    assert (await house.log(userId="bob@x.io")).status == 202
    (call,) = await stored(house)
    assert call.user_id is not None
    assert call.user_id.startswith("anon_")


async def test_a_body_has_a_limit_whether_announced_or_not(house: House) -> None:
    async def endless() -> Any:
        for _ in range(100):
            yield b" " * 1_000

    for data in (b" " * (MOST_EVENT + 1), endless()):
        reply = await house.ask("POST", "/api/v1/log", data=data)
        assert reply.status == 413
        assert "send less" in reply.error


async def test_a_batch_is_an_array_or_lines_and_a_bad_row_refuses_only_itself(house: House) -> None:
    rows = [{**OTEL, "eventId": f"e{number}"} for number in range(4)]
    rows[2] = {"inputTokens": -1}
    expected = {
        "accepted": 3,
        "rejected": [{"index": 2, "reason": "inputTokens must be a whole number from 0 to 1000000000"}],
    }
    reply = await house.ask("POST", "/api/v1/calls", json=rows)
    assert (reply.status, reply.json) == (202, expected)
    lines = "\n".join([json.dumps(row) for row in rows] + ["", "{", "[1]"])
    reply = await house.ask(
        "POST", "/api/v1/calls", data=lines, headers={"Content-Type": "application/x-ndjson"}
    )
    assert reply.status == 202
    assert [one["index"] for one in reply.json["rejected"]] == [2, 4, 5]
    assert reply.json["accepted"] == 3
    assert len(await stored(house)) == 3  # the same three


async def test_a_batch_may_be_one_object_over_several_lines(house: House) -> None:
    reply = await house.ask("POST", "/api/v1/calls", data=json.dumps(OTEL, indent=2))
    assert reply.json == {"accepted": 1, "rejected": []}
    reply = await house.ask("POST", "/api/v1/calls", data=json.dumps(OTEL, indent=2) + ",")
    assert reply.json["accepted"] == 0


async def test_a_batch_may_be_packed(house: House) -> None:
    rows = [{**OTEL, "eventId": f"e{number}"} for number in range(2_000)]
    headers = {"Content-Encoding": "gzip"}
    for packed in (gzip.compress(json.dumps(rows).encode()), gzip.compress(b"[") + gzip.compress(b"]")):
        reply = await house.ask("POST", "/api/v1/calls", data=packed, headers=headers)
        assert reply.status == 202, reply.text
    assert (await house.get(f"/api/v1/stats/{house.project}"))["requestCount"] == 2_000


async def test_what_unpacks_without_end_is_refused(house: House) -> None:
    bomb = gzip.compress(b" " * 200_000_000, 9)
    assert len(bomb) < MOST_BATCH
    headers = {"Content-Encoding": "gzip"}
    reply = await house.ask("POST", "/api/v1/calls", data=bomb, headers=headers)
    assert (reply.status, "unpacked" in reply.error) == (413, True)
    for data, reason in (
        *((b"no gzip", "no gzip"), (gzip.compress(b"[]")[:-9], "breaks off")),
        (gzip.compress(b"") * 1_000, "gzip streams"),  # each is copied with all that is left
    ):
        reply = await house.ask("POST", "/api/v1/calls", data=data, headers=headers)
        assert (reply.status, reason in reply.error) == (400, True)
    reply = await house.ask("POST", "/api/v1/calls", data=b"x", headers={"Content-Encoding": "br"})
    assert reply.status == 415


async def test_a_batch_has_a_limit_of_rows_and_may_be_empty(house: House) -> None:
    for body in (b"[" + b"{}," * MOST_ROWS + b"{}]", b"{}\n" * (MOST_ROWS + 1)):
        reply = await house.ask("POST", "/api/v1/calls", data=body)
        assert (reply.status, "in parts" in reply.error) == (413, True)
    for body in (b"", b"[]", b"\n\n"):
        reply = await house.ask("POST", "/api/v1/calls", data=body)
        assert (reply.status, reply.json) == (202, {"accepted": 0, "rejected": []})


async def test_a_database_that_is_away_is_503_and_nothing_is_said_to_be_stored(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise StoreUnavailable("the database's disk is full: free some space", 7)

    with monkeypatch.context() as patched:
        patched.setattr(house.server.store.writer.__class__, "log", away)
        for path, body in (("/api/v1/log", OLD), ("/api/v1/calls", [OLD])):
            reply = await house.ask("POST", path, json=body)
            assert (reply.status, reply.headers["Retry-After"]) == (503, "7")
            assert "disk is full" in reply.error
    assert await stored(house) == []
    assert (await house.log(**OLD)).status == 202


async def test_many_at_once_are_all_stored(house: House) -> None:
    replies = await asyncio.gather(*(house.log(userId=f"u{number % 7}") for number in range(200)))
    assert {reply.status for reply in replies} == {202}
    assert (await house.get(f"/api/v1/stats/{house.project}"))["requestCount"] == 200
    assert house.server.store.writer.counts.transactions < 200


async def test_texts_that_are_sent_by_mistake_go_nowhere(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    row = {**OLD, "prompt": "CANARY", "messages": [{"content": "CANARY"}], "userId": None}
    replies = [
        await house.ask("POST", "/api/v1/log", json=row),
        await house.ask("POST", "/api/v1/log", json={**row, "inputTokens": "CANARY"}),
        await house.ask("POST", "/api/v1/log", data=b'{"prompt": "CANARY'),
        await house.ask("POST", "/api/v1/calls", json=[row]),
    ]
    assert [reply.status for reply in replies] == [202, 400, 400, 202]
    assert "CANARY" not in " ".join([*(reply.text for reply in replies), caplog.text])
    (path,) = [one for one in [house.server.store.database.engine.url.database] if one]
    from pathlib import Path

    for file in Path(path).parent.iterdir():
        assert b"CANARY" not in file.read_bytes()


async def test_a_clock_that_is_wrong_is_bounded(house: House, clock: ManualClock) -> None:
    await house.log(timestamp="2031-01-01T00:00:00Z", eventId="ahead")
    await house.log(timestamp=0, eventId="behind")
    times = {call.event_id: (call.at - clock.now()).total_seconds() for call in await stored(house)}
    assert times == {"ahead": 5, "behind": 0}


async def test_a_conflict_in_a_batch_is_told(house: House) -> None:
    first = {"eventId": "e1", "userId": "u1", "model": "m", "inputTokens": 10, "outputTokens": 1}
    other = first | {"userId": "u2", "inputTokens": 99}
    answer = await house.ask("POST", "/api/v1/calls", json=[first, first, other])
    assert answer.status == 202
    assert (answer.json["accepted"], [one["index"] for one in answer.json["rejected"]]) == (2, [2])
    assert "eventId" in answer.json["rejected"][0]["reason"]


async def test_a_late_price_corrects_the_row_of_its_event(house: House) -> None:
    row = {
        "eventId": "e1",
        "userId": "u1",
        "provider": "openai",
        "requestModel": "gpt-4o",
        "outputTokens": 9_000,
    }
    await house.ask("POST", "/api/v1/calls", json=[row | {"usageSource": "estimated"}])
    true = row | {"usageSource": "reconciled", "outputTokens": 1_000, "providerCostUsd": 0.5}
    for _ in range(2):
        answer = await house.ask("POST", "/api/v1/calls", json=[true])
        assert answer.json == {"accepted": 1, "rejected": []}
    (call,) = await stored(house)
    assert (call.usage_source, call.output_tokens, call.cost_nano) == ("reconciled", 1_000, 500_000_000)
    stats = await house.get(f"/api/v1/stats/{house.project}")
    assert (stats["requestCount"], stats["totalTokens"], stats["totalCostUsd"]) == (1, 1_000, 0.5)


@pytest.mark.parametrize("price", ["9" * 401, "-1", "true", '"9"'])
async def test_a_figure_beyond_reason_is_one_bad_row(house: House, price: str) -> None:
    body = f'[{{"model": "m", "planRevenueUsd": {price}}}, {{"model": "m", "latencyMs": 12.7}}]'
    answer = await house.ask("POST", "/api/v1/calls", data=body.encode())
    assert (answer.status, answer.json["accepted"]) == (202, 1)


async def test_a_request_of_many_empty_spans_is_refused_before_it_holds_everybody_up(house: House) -> None:
    headers = {"Content-Type": "application/x-protobuf"}
    answer = await house.ask("POST", "/v1/traces", data=b"\x0a\x00" * 300_000, headers=headers)
    assert answer.status == 400
    assert "fields" in answer.error


async def test_an_attribute_of_another_type_than_it_says_is_no_attribute(house: House) -> None:
    attribute = {"key": "gen_ai.operation.name", "value": {"stringValue": [1]}}
    span = {"traceId": "a" * 32, "spanId": "b" * 16, "attributes": [attribute]}
    traces = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    assert (await house.ask("POST", "/v1/traces", json=traces)).status == 200


@pytest.mark.parametrize("user", ["vic\n", "a\nb", "a/b", "x/block"])
async def test_each_user_can_be_acted_upon_and_no_other_is_hit(house: House, user: str) -> None:
    for one in (user, "vic"):
        await house.ask("POST", "/api/v1/log", json={"userId": one, "model": "m", "inputTokens": 1})
    users = f"{house.url}/api/v1/users/{house.project}/{quote(user, safe='')}"
    headers = {"x-api-key": house.admin}
    async with house.session.post(URL(users + "/block", encoded=True), headers=headers) as answer:
        assert answer.status == 200
    async with house.session.delete(URL(users, encoded=True), headers=headers) as answer:
        assert (await answer.json())["deletedCalls"] == 1
    assert (await house.server.store.users.get(house.project, "vic")) is not None
