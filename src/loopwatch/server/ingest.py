"""Calls come in: one at a time as ``weckr-sdk`` sends them, in batches, or as OpenTelemetry's spans.

The answer comes once the rows are durable, never before: a client that hears 2xx may forget them. Of what
is sent only the figures and names that ``records.row`` knows are kept; texts go nowhere.
"""

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from loopwatch.records.call import Call
from loopwatch.records.row import Arrival, Refused, read_row
from loopwatch.server.answers import Json
from loopwatch.server.auth import admitted
from loopwatch.server.bodies import MOST_BATCH, MOST_EVENT, decoded, read, why
from loopwatch.server.otlp import genai
from loopwatch.server.otlp.protobuf import decode_request, encode_answer
from loopwatch.server.otlp.spans import MOST_SPANS, Span, spans
from loopwatch.server.services import Services, services

MOST_ROWS = 5_000
"""Rows of a batch: they are stored in one transaction, all or none."""
_PROTOBUF = "application/x-protobuf"
ACCEPTED = int(HTTPStatus.ACCEPTED)
"""As a number: a member of an enumeration is slow to hash and to compare, at every answer."""
KEPT = ("stored", "corrected", "duplicate")
NOT_KEPT = {
    "conflict": "another call was stored under this eventId: give each call one of its own",
    "no project": "the project is gone",
}


async def log(request: Request) -> Response:
    """One call, by ``weckr-sdk``'s protocol."""
    key = await admitted(request)
    row = decoded(await read(request, MOST_EVENT))
    server = services(request)
    call = read_row(row, await server.arrival(key.project_id))
    if isinstance(call, Refused):
        raise HTTPException(HTTPStatus.BAD_REQUEST, call.reason)
    (outcome,) = await server.store.writer.log(key.project_id, [call])
    return Json({"accepted": 1, "outcome": outcome, "eventId": call.event_id}, ACCEPTED)


async def calls(request: Request) -> Response:
    """A batch of calls: a JSON array, or an object a line."""
    key = await admitted(request)
    rows = list(_rows(await read(request, MOST_BATCH)))
    server = services(request)
    taken, rejected = _sorted(rows, await server.arrival(key.project_id))
    outcomes = await server.store.writer.log(key.project_id, [call for _, call in taken])
    for (index, _), outcome in zip(taken, outcomes, strict=True):
        if outcome not in KEPT:
            rejected.append({"index": index, "reason": NOT_KEPT.get(outcome, outcome)})
    rejected.sort(key=lambda one: one["index"])
    return Json({"accepted": len(rows) - len(rejected), "rejected": rejected}, ACCEPTED)


def _rows(body: bytes) -> Iterator[Any]:
    """The rows of a batch, decoded; a ``Refused`` for each line that is not JSON."""
    text = body.strip()
    if text[:1] == b"[":
        array = decoded(text)
        if len(array) > MOST_ROWS:
            raise _too_many()
        yield from array
        return
    lines = [line for line in text.split(b"\n") if line.strip()]
    if len(lines) > MOST_ROWS:
        raise _too_many()
    rows = [_line(line) for line in lines]
    if len(rows) > 1 and isinstance(rows[0], Refused) and not isinstance(whole := _line(text), Refused):
        rows = [whole]  # one object, written over several lines
    yield from rows


def _line(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Refused(f"the line is not JSON: {why(error)}")


def _too_many() -> HTTPException:
    reason = f"the batch has more than {MOST_ROWS} rows: send it in parts"
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)


def _sorted(rows: Sequence[Any], arrival: Arrival) -> tuple[list[tuple[int, Call]], list[dict[str, Any]]]:
    """The calls among the rows with their places, and where and why a row is none."""
    taken: list[tuple[int, Call]] = []
    rejected: list[dict[str, Any]] = []
    for index, row in enumerate(rows):
        call = row if isinstance(row, Refused) else read_row(row, arrival)
        if isinstance(call, Refused):
            rejected.append({"index": index, "reason": call.reason})
        else:
            taken.append((index, call))
    return taken, rejected


async def traces(request: Request) -> Response:
    """OpenTelemetry's trace export over HTTP, in its binary form or as JSON."""
    key = await admitted(request)
    kind = request.headers.get("content-type", _PROTOBUF).partition(";")[0].strip().lower()
    if kind not in (_PROTOBUF, "application/json"):
        reason = f"traces are read as {_PROTOBUF} or application/json"
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, reason)
    body = await read(request, MOST_BATCH, MOST_BATCH)
    document = decode_request(body) if kind == _PROTOBUF else decoded(body)
    found = list(islice(spans(document), MOST_SPANS + 1))
    if len(found) > MOST_SPANS:
        raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {MOST_SPANS} spans: send less")
    rejected, reason = await _store(services(request), key.project_id, found)
    if kind == _PROTOBUF:
        return Response(encode_answer(rejected, reason), media_type=_PROTOBUF)
    partial = {"partialSuccess": {"rejectedSpans": str(rejected), "errorMessage": reason}}
    return Json(partial if rejected else {})


async def _store(server: Services, project_id: str, found: Sequence[Span | None]) -> tuple[int, str]:
    """Store the calls among spans. Returns how many could not be read, and why the first could not."""
    rows = [genai.row(span) for span in genai.leaves(span for span in found if span is not None)]
    taken, rejected = _sorted(rows, await server.arrival(project_id))
    await server.store.writer.log(project_id, [call for _, call in taken])
    unreadable = found.count(None)
    reasons = ["a span has no ids"] * bool(unreadable) + [str(one["reason"]) for one in rejected]
    return unreadable + len(rejected), reasons[0] if reasons else ""
