"""The API as a document: OpenAPI 3.1, written by hand, held to the routes by the tests."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.config.project import ProjectSettings
from loopwatch.records.call import USAGE_SOURCES
from loopwatch.records.row import MOST_CHARS, MOST_TOKENS, MOST_USD
from loopwatch.server.answers import Json
from loopwatch.server.queries import MOST_LISTED, MOST_OFFSET

Schema = Mapping[str, Any]

_REF = "#/components/schemas/{model}"
_TEXT: Schema = {"type": ["string", "null"], "maxLength": MOST_CHARS}
_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0, "maximum": MOST_TOKENS}
_PRICE: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": MOST_USD}
_MOMENT: Schema = {"type": ["string", "number", "null"], "description": "ISO 8601, or a number since 1970."}
_OBJECT: Schema = {"type": "object"}

_SHARED: Schema = {
    "eventId": {**_TEXT, "description": "The same in every attempt: a call counts once."},
    "userId": _TEXT,
    "feature": _TEXT,
    "provider": _TEXT,
    "inputTokens": {**_COUNT, "description": "Cached reads included."},
    "outputTokens": {**_COUNT, "description": "Reasoning included."},
    "latencyMs": _COUNT,
    "planRevenueUsd": {**_PRICE, "description": "The plan's monthly price."},
}
_EVENT: Schema = {
    **_SHARED,
    "model": _TEXT,
    "planName": _TEXT,
    "cachedInputTokens": _COUNT,
    "cacheCreationTokens": {**_COUNT, "description": "On top of inputTokens."},
    "costUsd": {"description": "Not read: the server computes it."},
    "marginUsd": {"description": "Not read."},
    "timestamp": _MOMENT,
}
_CALL: Schema = {
    **_SHARED,
    "requestModel": _TEXT,
    "responseModel": _TEXT,
    "plan": _TEXT,
    "cacheReadInputTokens": _COUNT,
    "cacheCreationInputTokens": {**_COUNT, "description": "A part of inputTokens."},
    "reasoningOutputTokens": _COUNT,
    "usageSource": {"enum": [*USAGE_SOURCES, None]},
    "estimateMethod": _TEXT,
    "providerCostUsd": {**_PRICE, "description": "What was billed; read of reconciled rows."},
    "loopAborts": _COUNT,
    "loopAbortWords": _COUNT,
    "loopAbortChars": _COUNT,
    "loopRule": _TEXT,
    "generationIds": {"type": ["array", "null"], "items": {"type": "string", "maxLength": MOST_CHARS}},
    "at": _MOMENT,
}
_ERRORS: Mapping[str, str] = {
    "400": "The request is not as it should be; error says what to change.",
    "401": "No key, or none that holds.",
    "403": "An administrator's key is needed.",
    "404": "The key knows no such project.",
    "413": "More than is taken at once.",
    "415": "A form that is not read.",
    "429": "Asked too often: Retry-After says when again.",
    "503": "Nothing was stored: send it again after Retry-After.",
}


def _answer(meaning: str, schema: Schema = _OBJECT) -> Schema:
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}


def _responses(code: str, meaning: str, *errors: str) -> Schema:
    refusal = {"$ref": _REF.format(model="Refusal")}
    return {code: _answer(meaning)} | {error: _answer(_ERRORS[error], refusal) for error in errors}


def _query(name: str, schema: Schema) -> Schema:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _path(name: str) -> Schema:
    text = {"type": "string", "minLength": 1, "maxLength": MOST_CHARS}
    return {"name": name, "in": "path", "required": True, "schema": text}


def _body(schema: Schema, others: Mapping[str, Schema] | None = None) -> Schema:
    kinds = {"application/json": schema, **(others or {})}
    return {"required": True, "content": {kind: {"schema": one} for kind, one in kinds.items()}}


def _read(summary: str, *parameters: Schema, admin: bool = False) -> Schema:
    errors = ("400", "401", *(("403",) if admin else ()), "404", "429", "503")
    asked = {"parameters": list(parameters)} if parameters else {}
    return {"summary": summary, "responses": _responses("200", summary, *errors), **asked}


def _write(summary: str, body: Schema | None = None, code: str = "200") -> Schema:
    errors = ("400", "401", "403", "404", "413", "415", "429", "503")
    sent = {} if body is None else {"requestBody": body}
    return {"summary": summary, "responses": _responses(code, summary, *errors), **sent}


def _open(summary: str, *, kind: str = "application/json", code: str = "") -> Schema:
    found: dict[str, Any] = {"200": {"description": summary, "content": {kind: {}}}}
    if code:
        found |= _responses(code, _ERRORS[code])
    return {"summary": summary, "responses": found, "security": []}


def _of_project(method: str, operation: Schema, *more: str) -> Schema:
    return {"parameters": [_path("projectId"), *(_path(name) for name in more)], method: operation}


def _taking_in() -> Schema:
    event = {"type": "object", "properties": _EVENT}
    batch = {"type": "array", "items": {"type": "object", "properties": _CALL}}
    lines = {"type": "string", "description": "One JSON object a line."}
    export = {"type": "object", "properties": {"resourceSpans": {"type": "array", "items": _OBJECT}}}
    binary = {"type": "string", "format": "binary", "description": "An ExportTraceServiceRequest."}
    every = _body(batch, {"application/x-ndjson": lines})
    spans = _body(export, {"application/x-protobuf": binary})
    return {
        "/api/v1/log": {"post": _write("One call is stored.", _body(event), "202")},
        "/api/v1/calls": {
            "post": _write("Calls are stored; rejected has the rows that are none.", every, "202")
        },
        "/v1/traces": {"post": _write("Model spans of an OpenTelemetry export are stored.", spans)},
    }


def _asking() -> Schema:
    limit = _query("limit", {"type": "integer", "minimum": 1, "maximum": MOST_LISTED})
    offset = _query("offset", {"type": "integer", "minimum": 0, "maximum": MOST_OFFSET})
    named = {"type": "string", "maxLength": MOST_CHARS}
    asked = [_query(name, named) for name in ("userId", "planName", "model")]
    alerts = (limit, _query("userId", named), _query("before", {"type": "string", "format": "date-time"}))
    proposed = {
        "models": "Features that a cheaper model would do for.",
        "pricing": "Plans whose price does not cover what their users cost.",
        "downgrades": "A cheaper stand-in for each model of the month.",
    }
    of_project = {
        "stats/{projectId}": _read("The month's totals."),
        "users/{projectId}": _read("The month's users, worst margin first.", limit, offset),
        "alerts/{projectId}": _read("The latest alerts.", *alerts),
        **{f"recommendations/{kind}/{{projectId}}": _read(meaning) for kind, meaning in proposed.items()},
    }
    return {
        "/api/v1/check": {"get": _read("Whether a user's next call may go ahead.", *asked)},
        "/api/v1/me": {"get": _read("Whose key this is.")},
        **{f"/api/v1/{path}": _of_project("get", operation) for path, operation in of_project.items()},
    }


def _changing() -> Schema:
    user, settings = "/api/v1/users/{projectId}/{userId}", "/api/v1/settings/{projectId}"
    body = _body({"$ref": _REF.format(model="Settings")})
    return {
        user: _of_project("delete", _write("A user is forgotten."), "userId"),
        f"{user}/block": _of_project("post", _write("A user is blocked."), "userId"),
        f"{user}/unblock": _of_project("post", _write("A user is let through again."), "userId"),
        settings: {
            **_of_project("get", _read("All settings, secrets masked.", admin=True)),
            "put": _write("The keys that are sent are set; null is the default.", body),
        },
        f"{settings}/channels/{{channel}}/test": _of_project(
            "post", _write("A test was sent through a channel."), "channel"
        ),
    }


def _watching() -> Schema:
    return {
        "/healthz": {"get": _open("The process answers.")},
        "/readyz": {"get": _open("The database can be used.", code="503")},
        "/metrics": {"get": _open("Counters, for Prometheus.", kind="text/plain")},
        "/openapi.json": {"get": _open("This document.")},
    }


@cache
def document() -> Schema:
    """The whole document."""
    settings = ProjectSettings.model_json_schema(by_alias=True, ref_template=_REF)
    blocks = settings.pop("$defs", {})
    refusal = {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {"type": "string"},
            "defects": {"type": "array", "items": {"type": "string"}},
        },
    }
    schemes = {
        "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
        "bearer": {"type": "http", "scheme": "bearer"},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "loopwatch", "version": version("loopwatch")},
        "security": [{name: []} for name in schemes],
        "paths": {**_taking_in(), **_asking(), **_changing(), **_watching()},
        "components": {
            "securitySchemes": schemes,
            "schemas": {**blocks, "Settings": settings, "Refusal": refusal},
        },
    }


async def show(_: Request) -> Response:
    """The document, for whoever asks."""
    return Json(document())
