"""OpenTelemetry's spans: leaves become calls, whatever holds a text is let go."""

import gzip
import json
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from loopwatch.errors import InputError
from loopwatch.server.otlp.protobuf import decode_request, encode_answer
from loopwatch.server.otlp.spans import spans
from tests.server.house import House

TRACE = "0af7651916cd43dd8448eb211c80319c"
BINARY = {"Content-Type": "application/x-protobuf"}
START = 1_763_467_200_000_000_000  # 2025-11-18, 12:00


def attribute(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"key": key, "value": {"boolValue": value}}
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    if isinstance(value, float):
        return {"key": key, "value": {"doubleValue": value}}
    return {"key": key, "value": {"stringValue": value}}


def span(number: int, parent: int = 0, **attributes: Any) -> dict[str, Any]:
    """A span; the attributes' dots are written as __."""
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": "chat gpt-4o-mini",
        "startTimeUnixNano": str(START),
        "endTimeUnixNano": str(START + 1_500_000_000),
        "attributes": [attribute(key.replace("__", "."), value) for key, value in attributes.items()],
    }


def chat(number: int, parent: int = 0, tokens: int = 1_000, **more: Any) -> dict[str, Any]:
    said: dict[str, Any] = {
        "gen_ai__operation__name": "chat",
        "gen_ai__provider__name": "openai",
        "gen_ai__request__model": "gpt-4o-mini",
        "gen_ai__response__model": "gpt-4o-mini-2024-07-18",
        "gen_ai__usage__input_tokens": tokens,
        "gen_ai__usage__output_tokens": 500,
        "gen_ai__usage__cache_read__input_tokens": 600,
        "user__id": "u1",
    }
    return span(number, parent, **said | more)


def export(*every: dict[str, Any], **resource: Any) -> dict[str, Any]:
    attributes = [attribute(key.replace("__", "."), value) for key, value in resource.items()]
    return {
        "resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": list(every)}]}]
    }


def packed(request: dict[str, Any]) -> bytes:
    """The same in the binary form, by OpenTelemetry's own classes."""
    message = ExportTraceServiceRequest()
    for group in request["resourceSpans"]:
        resource = message.resource_spans.add()
        _attributes(resource.resource, group["resource"]["attributes"])
        for scope in group["scopeSpans"]:
            holder = resource.scope_spans.add()
            holder.scope.name = "test"
            for one in scope["spans"]:
                written = holder.spans.add()
                written.trace_id = bytes.fromhex(one["traceId"])
                written.span_id = bytes.fromhex(one["spanId"])
                written.parent_span_id = bytes.fromhex(one["parentSpanId"])
                written.name = one["name"]
                written.start_time_unix_nano = int(one["startTimeUnixNano"])
                written.end_time_unix_nano = int(one["endTimeUnixNano"])
                written.flags = 1
                written.status.message = "CANARY"
                _attributes(written, one["attributes"])
                event = written.events.add()
                event.name = "CANARY"
    data: bytes = message.SerializeToString()
    return data


def _attributes(owner: Any, attributes: list[dict[str, Any]]) -> None:
    for one in attributes:
        holder = owner.attributes.add()
        holder.key = one["key"]
        ((kind, value),) = one["value"].items()
        name = {"stringValue": "string_value", "boolValue": "bool_value", "doubleValue": "double_value"}
        if kind == "intValue":
            holder.value.int_value = int(value)
        else:
            setattr(holder.value, name[kind], value)


async def post(house: House, request: Any, *, binary: bool) -> Any:
    if not binary:
        headers = {"Content-Type": "application/json"}
        return await house.ask("POST", "/v1/traces", data=json.dumps(request), headers=headers)
    return await house.ask("POST", "/v1/traces", data=packed(request), headers=BINARY)


@pytest.mark.parametrize("binary", [False, True])
async def test_a_model_span_becomes_a_call(house: House, *, binary: bool) -> None:
    request = export(chat(1, loopwatch__feature="agent"), deployment__environment="prod")
    for _ in range(2):  # exporters send again
        reply = await post(house, request, binary=binary)
        assert reply.status == 200, reply.text
    (call,) = await house.server.store.reports.recent(house.project)
    assert (call.event_id, call.user_id, call.feature) == (f"{TRACE}:{1:016x}", "u1", "agent")
    assert (call.provider, call.request_model, call.response_model) == (
        *("openai", "gpt-4o-mini"),
        "gpt-4o-mini-2024-07-18",
    )
    assert (call.input_tokens, call.output_tokens, call.cache_read_input_tokens) == (1_000, 500, 600)
    assert (call.latency_ms, call.cost_nano) == (1_500, 405_000)


@pytest.mark.parametrize("binary", [False, True])
async def test_parents_repeat_their_leaves_and_are_not_counted(house: House, *, binary: bool) -> None:
    agent: dict[str, Any] = {"gen_ai__operation__name": "invoke_agent", "gen_ai__usage__input_tokens": 3_000}
    request = export(
        span(1, **agent),
        chat(2, 1, 3_000),  # a framework's span around …
        span(3, 2, http__method="POST"),
        chat(4, 3),  # … the calls that were made
        chat(5, 3),
        chat(6, 3),
        span(7, 1, gen_ai__operation__name="execute_tool"),
        span(8, 0, db__system="postgresql"),
        span(9, 9, gen_ai__usage__input_tokens=5),  # its own parent
    )
    assert (await post(house, request, binary=binary)).status == 200
    stats = await house.get(f"/api/v1/stats/{house.project}")
    assert (stats["requestCount"], stats["totalTokens"]) == (3, 4_500)


@pytest.mark.parametrize("binary", [False, True])
async def test_bad_spans_are_told_and_refuse_no_other(house: House, *, binary: bool) -> None:
    request = export(chat(1), chat(2, user__id="bob@x.io"), chat(3, gen_ai__usage__output_tokens=-5))
    reply = await post(house, request, binary=binary)
    assert reply.status == 200
    if binary:
        answer = ExportTraceServiceResponse.FromString(reply.text.encode("utf-8", "surrogateescape"))
        rejected, reason = answer.partial_success.rejected_spans, answer.partial_success.error_message
    else:
        partial = reply.json["partialSuccess"]
        rejected, reason = int(partial["rejectedSpans"]), partial["errorMessage"]
    assert rejected == 2
    assert "e-mail address" in reason
    assert len(await house.server.store.reports.recent(house.project)) == 1


@pytest.mark.parametrize("binary", [False, True])
async def test_no_text_of_a_span_is_kept(house: House, tmp_path: Any, *, binary: bool) -> None:
    texts: dict[str, Any] = {
        "gen_ai__input__messages": "CANARY",
        "gen_ai__prompt": "CANARY",
        "input__value": "CANARY",
    }
    request = export(chat(1, **texts), span(2, note="CANARY"))
    reply = await post(house, request, binary=binary)
    assert "CANARY" not in reply.text
    for file in tmp_path.iterdir():
        assert b"CANARY" not in file.read_bytes()


async def test_packed_empty_and_foreign_bodies(house: House) -> None:
    headers = {**BINARY, "Content-Encoding": "gzip"}
    assert (
        await house.ask("POST", "/v1/traces", data=gzip.compress(packed(export(chat(1)))), headers=headers)
    ).status == 200
    assert (await house.ask("POST", "/v1/traces", data=b"", headers=BINARY)).status == 200
    foreign: list[Any] = [
        {},
        [],
        None,
        1,
        {"resourceSpans": 1},
        {"resourceSpans": [1, {"scopeSpans": [{"spans": 2}]}]},
    ]
    for body in foreign:
        assert (await post(house, body, binary=False)).status == 200
    reply = await house.ask("POST", "/v1/traces", json=export({"spanId": 1}))
    assert reply.json["partialSuccess"]["rejectedSpans"] == "1"
    assert (
        await house.ask("POST", "/v1/traces", data="x", headers={"Content-Type": "text/plain"})
    ).status == 415
    reply = await house.ask("POST", "/v1/traces", data=b"\xff\xff\xff", headers=BINARY)
    assert (reply.status, "protobuf" in reply.error) == (400, True)


def test_the_binary_form_is_read_as_the_other_one() -> None:
    request = export(
        chat(1), chat(2, 1, ratio=0.5, flag=True, gen_ai__usage__output_tokens=-7), service__name="x"
    )
    assert list(spans(decode_request(packed(request)))) == list(spans(request))


def test_whatever_the_bytes_are_they_are_read_or_refused() -> None:
    whole = packed(export(chat(1), chat(2)))
    for end in range(len(whole)):
        try:
            list(spans(decode_request(whole[:end])))
        except InputError:
            continue
    for place in range(len(whole)):
        for byte in (0, 0x7F, 0xFF):
            try:
                list(spans(decode_request(whole[:place] + bytes([byte]) + whole[place + 1 :])))
            except InputError:
                continue
    deep = b""
    for _ in range(100):
        size, head = len(deep), b""
        while size > 0x7F:
            head += bytes([size & 0x7F | 0x80])
            size >>= 7
        deep = b"\x0a" + head + bytes([size]) + deep
    decode_request(deep)


def test_an_answer_is_read_by_opentelemetry_s_own_classes() -> None:
    assert encode_answer(0, "") == b""
    for rejected, reason in ((1, "x"), (300, "ü" * 200), (2**40, "")):
        partial = ExportTraceServiceResponse.FromString(encode_answer(rejected, reason)).partial_success
        assert (partial.rejected_spans, partial.error_message) == (rejected, reason)
