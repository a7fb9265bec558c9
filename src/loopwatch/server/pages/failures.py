"""The page where there is none: what went wrong in one sentence, and where to go from here."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from loopwatch.server.pages.render import page

Handler = Callable[[Request, Exception], Response]


def failure(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    """A refusal for people."""
    response = page("failure.html", status, title=HTTPStatus(status).phrase, reason=reason)
    response.headers.update(headers or {})
    return response


def for_people(answer: Any, is_page: Callable[[str], bool]) -> Handler:
    """A handler that says on a page what ``answer`` says in JSON, where it is a page that was asked for."""

    def handle(request: Request, error: Exception) -> Response:
        answered: Response = answer(request, error)
        wants_json = "application/json" in request.headers.get("accept", "")
        if wants_json or not is_page(request.url.path) or answered.media_type != "application/json":
            return answered
        kept = {name: value for name, value in answered.headers.items() if name == "retry-after"}
        return failure(answered.status_code, msgspec.json.decode(answered.body)["error"], kept)

    return handle
