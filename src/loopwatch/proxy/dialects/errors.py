"""Errors as each provider words them, so that a client's own handling of errors fits ours."""

from http import HTTPStatus
from typing import Any

from loopwatch.proxy.dialects.dialect import Vendor

LOOP = "model_response_loop"
"""The code of a reply that became a loop, as in a run's records."""
STEPS = "agent_loop"
"""The code of an agent that goes in circles."""

_OPENAI = {401: "authentication_error", 429: "rate_limit_error"}
_ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
_GOOGLE = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    413: "INVALID_ARGUMENT",
    422: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    504: "DEADLINE_EXCEEDED",
}


def error_document(vendor: Vendor, status: int, message: str, code: str | None = None) -> dict[str, Any]:
    """The body of an error with this status."""
    is_server = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if vendor == "anthropic":
        kind = _ANTHROPIC.get(status, "api_error" if is_server else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}}
    if vendor == "gemini":
        name = _GOOGLE.get(status, "UNAVAILABLE" if is_server else "FAILED_PRECONDITION")
        return {"error": {"code": status, "message": message, "status": name}}
    if vendor == "ollama":
        return {"error": message}
    kind = _OPENAI.get(status, "server_error" if is_server else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
