"""Whose call it is, and what is never kept of it."""

from typing import Any

import pytest

from loopwatch.proxy.callers import Callers
from loopwatch.proxy.headers import Headers
from loopwatch.proxy.routes import Route
from loopwatch.records.identity import pseudonym
from loopwatch.sdk.labels import Labels

AT = Route("openai", "chat", "/chat/completions")


def user(headers: Headers, at: Route, body: dict[str, Any]) -> str | None:
    return Callers().labels(headers, at, body).user_id


def test_a_header_comes_before_the_path_and_the_path_before_the_request() -> None:
    header: Headers = [(b"X-Loopwatch-User", b"h1")]
    named = AT._replace(user="p1")
    assert user(header, named, {"user": "b1"}) == "h1"
    assert user([], named, {"user": "b1"}) == "p1"
    assert user([], AT, {"user": "b1"}) == "b1"
    assert user([], AT, {"safety_identifier": "s1"}) == "s1"
    assert user([], AT, {"metadata": {"user_id": "m1"}}) == "m1"
    assert user([], AT, {"user": 7, "metadata": "x"}) is None


def test_a_feature_and_a_plan_come_by_headers() -> None:
    headers: Headers = [(b"x-loopwatch-feature", b"research"), (b"x-loopwatch-plan", b"pro")]
    assert Callers().labels(headers, AT, {}) == Labels(None, "research", "pro")


@pytest.mark.parametrize("name", ["ann@example.com", "4111 1111 1111 1111"])
def test_what_looks_personal_is_left_out_and_said_once(name: str, caplog: pytest.LogCaptureFixture) -> None:
    callers = Callers()
    for _ in range(3):
        assert callers.labels([], AT, {"user": name}).user_id is None
    assert len(caplog.records) == 1
    assert name not in caplog.text


def test_what_looks_personal_becomes_a_pseudonym_where_the_project_wants_that() -> None:
    callers = Callers(pseudonym(b"key"))
    found = callers.labels([], AT, {"user": "ann@example.com"}).user_id
    assert found is not None
    assert found.startswith("anon_")


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x\x00y"])
def test_what_is_no_name_is_nobody(name: str) -> None:
    assert user([], AT, {"user": name}) is None


def test_a_long_name_is_cut_to_what_a_row_may_hold() -> None:
    assert user([], AT, {"user": "x" * 999}) == "x" * 256
