"""Many users over their limit at once, told in one message: the worst by name, the others by their number.

Every one of them has an alert of its own all the same, in the console and in the read API. Pure.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from loopwatch.alerts.alert import HEADINGS, NAME, cost_so_far, entry, known_cost
from loopwatch.alerts.message import Message, Row, Section
from loopwatch.alerts.wording import camel, one_line
from loopwatch.records.alert import Alert, Rule

MOST_NAMED = 10
_ID = 60
"""Characters of a user id in the list."""


def storm_message(alerts: Sequence[Alert], at: datetime, public_url: str) -> Message:
    """What is said about alerts of one project, at least one, the worst first."""
    worst = alerts[:MOST_NAMED]
    count = len({alert.user_id for alert in alerts})
    users = "one more user" if count == 1 else f"{count:,} more users"
    title = f"{users} crossed a limit within a minute"
    unnamed = len(alerts) - len(worst)
    return Message(
        kind="storm",
        id=f"storm-{worst[0].id}",
        project=worst[0].project_id,
        at=at,
        heading=f"⚠️  {NAME}: {title}",
        subject=f"{NAME}: {title}",
        rows=(
            Row("users", f"{count:,}"),
            Row("tokens", f"{sum(alert.tokens for alert in alerts):,}"),
            Row("cost so far", _cost(alerts)),
            *(Row(HEADINGS[rule], f"{times:,}") for rule, times in _rules(alerts)),
        ),
        link=f"{public_url.rstrip('/')}/dashboard",
        sections=(Section("The worst of them", tuple(_named(alert) for alert in worst)),),
        notes=(f"{unnamed:,} more are in the list of alerts.",) if unnamed else (),
        incident=f"{worst[0].project_id}\0storm",
        data=camel(
            {
                "alerts": len(alerts),
                "users": count,
                "rules": dict(_rules(alerts)),
                "worst": [entry(alert, public_url) for alert in worst],
            }
        ),
    )


def _rules(alerts: Sequence[Alert]) -> list[tuple[Rule, int]]:
    counted = Counter(alert.rule for alert in alerts)
    return [(rule, counted[rule]) for rule in HEADINGS if counted[rule]]


def _cost(alerts: Sequence[Alert]) -> str:
    known = [cost for alert in alerts if (cost := known_cost(alert)) is not None]
    return cost_so_far(sum(known) if known else None, sum(alert.month_unpriced for alert in alerts))


def _named(alert: Alert) -> Row:
    cost = cost_so_far(known_cost(alert), alert.month_unpriced)
    model = one_line(alert.model, _ID)
    return Row(one_line(alert.user_id, _ID), f"{alert.tokens:,} tokens, {cost} so far, {model}")
