"""The weekly digest: who spent most, whose spending jumped, and what it all came to. Pure.

Mondays at 09:00 UTC, for projects that asked for it. That it is sent once, however many servers run, is
for the store to see to: a digest's id is the same everywhere (``digest_id``).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from loopwatch.alerts.alert import NAME, cost_so_far, user_url
from loopwatch.alerts.message import Message, Row, Section
from loopwatch.alerts.wording import camel, one_line
from loopwatch.records.money import NANO, shown, usd

HOUR = time(9, tzinfo=UTC)
WEEK = timedelta(days=7)
MOST_SPENDERS = 10
JUMP = 3
"""Times the week before that a user's cost must be to stand out …"""
LEAST_JUMP = NANO
"""… and by how much more it must be, in nano-USD: cents do not stand out."""


@dataclass(frozen=True, slots=True)
class Spender:
    """One user's week: cost and the cost of the week before in nano-USD, tokens, alerts."""

    user_id: str
    cost: int
    tokens: int
    cost_before: int = 0
    alerts: int = 0

    @property
    def jumped(self) -> bool:
        """Whether the week stands out against the one before."""
        return self.cost >= JUMP * self.cost_before and self.cost - self.cost_before >= LEAST_JUMP


@dataclass(frozen=True, slots=True)
class Week:
    """A project's seven days before ``until`` (excluded), in whole UTC days. Money is in nano-USD.

    ``cost`` and ``cost_before`` are None where none of it has a known price; ``unpriced_calls`` have none
    and are not in it. ``spenders`` are all that may be worth a line, in any order.
    """

    project: str
    until: datetime
    calls: int
    users: int
    tokens: int
    cost: int | None
    cost_before: int | None = None
    unpriced_calls: int = 0
    alerts: int = 0
    spenders: tuple[Spender, ...] = ()

    @property
    def since(self) -> datetime:
        """When it began."""
        return self.until - WEEK


def next_digest_at(now: datetime) -> datetime:
    """The next Monday, 09:00 UTC, after ``now``."""
    now = now.astimezone(UTC)
    monday = now.date() - timedelta(days=now.weekday())
    at = datetime.combine(monday, HOUR)
    return at if at > now else at + WEEK


def week_before(digest_at: datetime) -> tuple[datetime, datetime]:
    """The seven whole days (UTC) that a digest is about: from, and until (excluded)."""
    until = datetime.combine(digest_at.astimezone(UTC).date(), time(tzinfo=UTC))
    return until - WEEK, until


def digest_id(project: str, until: datetime) -> str:
    """The same on every server, for a digest that is to be written once."""
    return f"digest-{project}-{until:%Y-%m-%d}"


def digest_message(week: Week, at: datetime, public_url: str) -> Message:
    """What the digest says."""
    title = f"the week of {week.since:%d %B} to {week.until - timedelta(days=1):%d %B %Y}"
    top = sorted(week.spenders, key=lambda one: (-one.cost, one.user_id))
    jumped = [one for one in top if one.jumped]
    sections = (
        Section("Top spenders", tuple(_spender(one) for one in top[:MOST_SPENDERS])),
        Section("Unusual", tuple(_jump(one) for one in jumped[:MOST_SPENDERS])),
    )
    return Message(
        kind="digest",
        id=digest_id(week.project, week.until),
        project=week.project,
        at=at,
        heading=f"📊  {NAME}: {title}",
        subject=f"{NAME}: {title}",
        rows=(
            Row("total spend", cost_so_far(week.cost, week.unpriced_calls) + _change(week)),
            Row("calls", f"{week.calls:,}"),
            Row("tokens", f"{week.tokens:,}"),
            Row("users", f"{week.users:,}"),
            Row("alerts", f"{week.alerts:,}"),
        ),
        link=f"{public_url.rstrip('/')}/dashboard",
        sections=tuple(section for section in sections if section.rows),
        data=_data(week, top[:MOST_SPENDERS], jumped[:MOST_SPENDERS], public_url),
    )


def _change(week: Week) -> str:
    if week.cost is None or not week.cost_before:
        return ""
    return f" ({(week.cost - week.cost_before) / week.cost_before:+,.0%} on the week before)"


def _spender(one: Spender) -> Row:
    alerts = f", {one.alerts:,} {'alert' if one.alerts == 1 else 'alerts'}" if one.alerts else ""
    return Row(one_line(one.user_id, 60), f"{shown(one.cost)}, {one.tokens:,} tokens{alerts}")


def _jump(one: Spender) -> Row:
    return Row(
        one_line(one.user_id, 60), f"{shown(one.cost)}, after {shown(one.cost_before)} the week before"
    )


def _data(week: Week, top: list[Spender], jumped: list[Spender], public_url: str) -> dict[str, object]:
    return camel(
        {
            "since": f"{week.since:%Y-%m-%d}",
            "until": f"{week.until:%Y-%m-%d}",
            "cost": None if week.cost is None else usd(week.cost),
            "cost_before": None if week.cost_before is None else usd(week.cost_before),
            "unpriced_calls": week.unpriced_calls,
            "calls": week.calls,
            "tokens": week.tokens,
            "users": week.users,
            "alerts": week.alerts,
            "spenders": [_spender_data(one, public_url) for one in top],
            "unusual": [_spender_data(one, public_url) for one in jumped],
        }
    )


def _spender_data(one: Spender, public_url: str) -> dict[str, object]:
    return camel(
        {
            "user_id": one.user_id,
            "cost": usd(one.cost),
            "cost_before": usd(one.cost_before),
            "tokens": one.tokens,
            "alerts": one.alerts,
            "url": user_url(public_url, one.user_id),
        }
    )
