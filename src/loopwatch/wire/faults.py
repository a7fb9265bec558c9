"""The errors that providers report in the middle of an answer, when HTTP has long said 200."""

from typing import Any

from loopwatch.errors import ProviderFault, one_line

LONGEST = 4_096
"""Characters of a provider's error message that are read."""

SHOWN = 200
"""Characters of a provider's error message that are passed on."""

STATUSES = {
    **dict.fromkeys(("invalid_request", "invalid_request_error", "invalid_prompt"), 400),
    "context_length_exceeded": 400,
    **dict.fromkeys(("authentication", "authentication_error"), 401),
    **dict.fromkeys(("payment_required", "billing_error"), 402),
    **dict.fromkeys(("permission_denied", "permission_error"), 403),
    **dict.fromkeys(("not_found", "not_found_error"), 404),
    **dict.fromkeys(("payload_too_large", "request_too_large"), 413),
    **dict.fromkeys(("rate_limit_exceeded", "rate_limit_error", "insufficient_quota"), 429),
    **dict.fromkeys(("server", "server_error", "api_error"), 500),
    "provider_unavailable": 502,
    "provider_overloaded": 503,
    **dict.fromkeys(("timeout", "timeout_error"), 504),
    "overloaded_error": 529,
}
"""The HTTP statuses that the providers send with these errors where they still can."""


def error_of(value: Any) -> Any:
    """What ``value``, parsed JSON, says went wrong; something false where it is no error."""
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    if not error and "error" in (value.get("object"), value.get("type")):
        return value
    if not error and value.get("type") == "response.failed":
        response = value.get("response")
        return (response.get("error") if isinstance(response, dict) else None) or "the response failed"
    return error


def complaint(value: Any) -> str | None:
    """The message of the error that ``value`` is, in one line; None where it is none."""
    error = error_of(value)
    return _line(error)[:SHOWN] if error else None


def fault(error: Any) -> ProviderFault:
    """What to raise for an error."""
    return ProviderFault(f"the provider reports an error: {_line(error)}", status_of(error))


def fault_of(value: Any) -> ProviderFault | None:
    """What to raise for ``value``, parsed JSON, or for the first error of a list; None for none."""
    errors = map(error_of, value if isinstance(value, list) else [value])
    return next((fault(error) for error in errors if error), None)


def status_of(error: Any) -> int | None:
    """The HTTP status that an error stands for: its number, or else its name."""
    if not isinstance(error, dict):
        return None
    numbers = (_number(error.get(key)) for key in ("code", "status"))
    metadata = error.get("metadata")
    kind = metadata.get("error_type") if isinstance(metadata, dict) else None  # OpenRouter's own names
    names = (
        STATUSES.get(name) for name in (kind, error.get("code"), error.get("type")) if isinstance(name, str)
    )
    return next((status for status in (*numbers, *names) if status is not None), None)


def _line(error: Any) -> str:
    if isinstance(error, dict):
        error = next((error[key] for key in ("message", "type", "code") if error.get(key)), error)
    return one_line(str(error)[:LONGEST])


def _number(value: Any) -> int | None:
    """An HTTP status of an error; some providers number their errors otherwise."""
    if isinstance(value, str) and value.isdecimal() and len(value) == len("429"):
        value = int(value)
    return value if type(value) is int and value in range(400, 600) else None
