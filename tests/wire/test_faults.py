from typing import Any

import pytest

from loopwatch.errors import ProviderFault
from loopwatch.wire.faults import LONGEST, SHOWN, complaint, fault, fault_of, status_of


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": 429}, 429),
        ({"code": "503", "message": "x"}, 503),
        ({"code": 500, "metadata": {"error_type": "provider_overloaded"}}, 500),
        ({"code": "server_error", "metadata": {"error_type": "provider_overloaded"}}, 503),
        ({"code": "server_error"}, 500),
        ({"metadata": {"error_type": "provider_unavailable"}}, 502),
        ({"metadata": {"error_type": "rate_limit_exceeded"}}, 429),
        ({"metadata": {"error_type": "timeout"}}, 504),
        ({"metadata": {"error_type": "server"}}, 500),
        ({"metadata": {"error_type": ["x"]}, "type": "timeout"}, 504),
        ({"metadata": "x", "type": "api_error"}, 500),
        ({"type": "overloaded_error", "message": "Overloaded"}, 529),
        ({"type": "rate_limit_error"}, 429),
        ({"type": "authentication_error"}, 401),
        ({"status": "RESOURCE_EXHAUSTED", "code": 429}, 429),
        ({"status": 503}, 503),
        ({"code": None, "type": "unheard_of"}, None),
        ({"code": 1302}, None),
        ({"code": "1302"}, None),
        ({"code": 200}, None),
        ({"code": True}, None),
        ({"code": 429.0}, None),
        ({"code": "4२9x"}, None),
        ({"code": {"a": 1}}, None),
        ({}, None),
        ("out of memory", None),
        (None, None),
    ],
)
def test_an_error_tells_its_status_by_number_or_by_name(error: Any, status: int | None) -> None:
    assert status_of(error) == status
    assert fault(error).code == status


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"error": {"message": "slow\n down", "code": 429}}, "slow down"),
        ({"error": {"type": "overloaded_error"}}, "overloaded_error"),
        ({"error": {"code": 7}}, "7"),
        ({"error": {"why": "x"}}, "{'why': 'x'}"),
        ({"error": "out of memory"}, "out of memory"),
        ({"object": "error", "message": "too long", "code": 400}, "too long"),
        ({"type": "error", "code": "server_error", "message": "sorry"}, "sorry"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "Overloaded"),
        ({"type": "response.failed", "response": {"error": {"message": "sorry"}}}, "sorry"),
        ({"type": "response.failed", "response": {"error": None}}, "the response failed"),
        ({"type": "response.failed", "response": 7}, "the response failed"),
        ({"error": {"message": "x" * 10_000}}, "x" * LONGEST),
        ([7, {"error": "a"}, {"error": "b"}], "a"),
    ],
)
def test_the_message_of_an_error_is_one_short_line(value: Any, said: str) -> None:
    got = fault_of(value)
    assert isinstance(got, ProviderFault)
    assert str(got) == f"the provider reports an error: {said}"
    if isinstance(value, dict):
        assert complaint(value) == said[:SHOWN]


@pytest.mark.parametrize(
    "value", [None, 7, "error", [], ["error"], {}, {"error": None}, {"error": {}}, {"type": "x"}]
)
def test_what_is_no_error_is_none(value: Any) -> None:
    assert fault_of(value) is None
    assert complaint(value) is None
