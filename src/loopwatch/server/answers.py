"""Answers: JSON, and every refusal as one line under ``error`` that says what to change."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from loopwatch.errors import ConfigError, InputError, StoreError, StoreUnavailable

_log = logging.getLogger(__name__)


class Json(Response):
    """A JSON document; dates in it are written as ISO 8601."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The document as bytes."""
        return msgspec.json.encode(content)


def refusal(status: int, reason: str, headers: Mapping[str, str] | None = None, **more: object) -> Json:
    """A refusal: the reason on one line, and whatever else helps a program."""
    return Json({"error": " ".join(reason.split()), **more}, status, headers)


def refused(_: Request, error: Exception) -> Response:
    """The answer to a request that one of our own errors ended."""
    match error:
        case HTTPException():
            return refusal(error.status_code, error.detail, error.headers)
        case StoreUnavailable():
            return unavailable(error)
        case ConfigError():
            defects = [str(defect) for defect in error.defects]
            return refusal(HTTPStatus.BAD_REQUEST, str(error), defects=defects)
        case ClientDisconnect():
            return Response(status_code=HTTPStatus.BAD_REQUEST)  # nobody is there to read it
        case _:
            is_theirs = isinstance(error, InputError)
            status = HTTPStatus.BAD_REQUEST if is_theirs else HTTPStatus.INTERNAL_SERVER_ERROR
            return refusal(status, str(error))


def unavailable(error: StoreUnavailable) -> Json:
    """Nothing was stored and nothing is wrong with the request: it is to be sent again."""
    headers = {"Retry-After": str(error.retry_after)}
    return refusal(HTTPStatus.SERVICE_UNAVAILABLE, str(error), headers)


def failed(request: Request, error: Exception) -> Response:
    """A defect of ours: the log has it, the client learns only that."""
    _log.error("%s %s failed: %s", request.method, request.url.path, type(error).__name__, exc_info=error)
    return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "a defect of the server: its log has the reason")


HANDLED: Mapping[Any, Any] = {
    **dict.fromkeys((HTTPException, ConfigError, InputError, StoreError, ClientDisconnect), refused),
    Exception: failed,
}
"""Which errors become answers, and by what."""
