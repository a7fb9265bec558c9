from datetime import UTC, datetime, timedelta

import pytest

from loopwatch.alerts.digest import Spender, Week, digest_id, digest_message, next_digest_at, week_before
from loopwatch.alerts.message import plain_text
from tests.alerts.samples import HOSTILE, PUBLIC, digest

MONDAY = datetime(2026, 11, 30, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "at"),
    [
        (MONDAY - timedelta(seconds=1), MONDAY),
        (MONDAY, MONDAY + timedelta(days=7)),
        (MONDAY + timedelta(days=6, hours=14), MONDAY + timedelta(days=7)),
        (datetime.fromisoformat("2026-11-30T10:30:00+02:00"), MONDAY),
        (datetime.fromisoformat("2026-11-30T11:30:00+02:00"), MONDAY + timedelta(days=7)),
    ],
)
def test_the_digest_is_due_on_mondays_at_nine(now: datetime, at: datetime) -> None:
    assert next_digest_at(now) == at


def test_it_is_about_the_seven_whole_days_before() -> None:
    assert week_before(MONDAY) == (datetime(2026, 11, 23, tzinfo=UTC), datetime(2026, 11, 30, tzinfo=UTC))
    assert digest_id("acme", week_before(MONDAY)[1]) == "digest-acme-2026-11-30"


def test_what_it_says() -> None:
    assert (
        plain_text(digest())
        == """\
📊  loopwatch: the week of 23 November to 29 November 2026

total spend:    $42.50 + 3 calls without a known price (+112% on the week before)
calls:          1,204
tokens:         3,400,000
users:          2
alerts:         1

Top spenders
usr_1:          $40.00, 3,000,000 tokens, 1 alert
steady:         $2.50, 400,000 tokens

Unusual
usr_1:          $40.00, after $1.00 the week before

→ https://watch.example.com/dashboard"""
    )


def test_what_programs_get() -> None:
    data = digest().data
    assert (data["since"], data["until"], data["cost"], data["costBefore"]) == (
        "2026-11-23",
        "2026-11-30",
        42.5,
        20,
    )
    assert [one["userId"] for one in data["spenders"]] == ["usr_1", "steady"]
    assert [one["url"] for one in data["unusual"]] == [f"{PUBLIC}/dashboard/users/usr_1"]


def test_a_week_in_which_nothing_happened() -> None:
    week = Week("acme", datetime(2026, 11, 30, tzinfo=UTC), calls=0, users=0, tokens=0, cost=None)
    said = digest_message(week, MONDAY, PUBLIC)
    assert "total spend:    unknown\n" in plain_text(said)
    assert said.sections == ()
    assert said.data["cost"] is None


@pytest.mark.parametrize(
    ("cost", "before", "jumped"),
    [(3 * 10**9, 10**9, True), (3 * 10**9 - 1, 10**9, False), (10**9, 0, True), (10**9 - 1, 0, False)],
)
def test_what_stands_out(cost: int, before: int, jumped: bool) -> None:  # noqa: FBT001
    assert Spender("u", cost, 1, before).jumped == jumped


@pytest.mark.parametrize("user_id", HOSTILE)
def test_no_spender_makes_or_breaks_a_line(user_id: str) -> None:
    assert plain_text(digest(user_id)).count("\n") == plain_text(digest()).count("\n")


def test_only_ten_of_many_are_listed() -> None:
    spenders = tuple(Spender(f"u{n}", n * 10**10, 1) for n in range(50))
    week = Week("acme", MONDAY, calls=1, users=50, tokens=50, cost=1, spenders=spenders)
    top, unusual = digest_message(week, MONDAY, PUBLIC).sections
    assert [row.label for row in top.rows] == [f"u{n}" for n in range(49, 39, -1)]
    assert len(unusual.rows) == 10
