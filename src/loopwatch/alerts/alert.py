"""What an alert says: to people, in the seed's words and order, and to programs."""

from typing import Any
from urllib.parse import quote

from loopwatch.alerts.message import Message, Row
from loopwatch.alerts.rules import MILLION
from loopwatch.alerts.wording import camel, cut, one_line
from loopwatch.records.alert import Alert, Rule
from loopwatch.records.money import shown, usd

NAME = "loopwatch"
HEADINGS: dict[Rule, str] = {
    "velocity": "possible agent loop detected",
    "cost": "a user is spending fast",
    "margin": "a user costs more than their plan",
    "unknown": "calls without a known price",
}
MOST_LINK = 1_000
"""Longest link to a user's page: beyond it (an id of hundreds of characters) the list of users is linked."""
_SUBJECT_ID = 60
"""Characters of a user id in an e-mail's subject."""


def entry(alert: Alert, public_url: str) -> dict[str, Any]:
    """The alert as JSON, in the spelling of the wire: money in dollars, a share from 0 to 1."""
    money = known_cost(alert)
    return camel(
        {
            "id": alert.id,
            "user_id": alert.user_id,
            "rule": alert.rule,
            "tokens": alert.tokens,
            "value": in_unit(alert.rule, alert.observed),
            "threshold": in_unit(alert.rule, alert.threshold),
            "window_minutes": alert.window_seconds / 60,
            "cost_so_far": None if money is None else usd(money),
            "unpriced_calls": alert.month_unpriced,
            "feature": alert.feature,
            "model": alert.model,
            "at": alert.at.isoformat().replace("+00:00", "Z"),
            "suppressed": alert.suppressed,
            "url": user_url(public_url, alert.user_id),
        }
    )


def known_cost(alert: Alert) -> int | None:
    """The user's cost since the month began (UTC), in nano-USD; None where none of it has a known price."""
    return None if alert.month_unpriced and not alert.month_cost_nano else alert.month_cost_nano


def in_unit(rule: Rule, value: int) -> float:
    """A crossing's value or threshold for JSON: tokens, US dollars, or a share from 0 to 1."""
    if rule == "velocity":
        return value
    return value / MILLION if rule == "unknown" else usd(value)


def user_url(public_url: str, user_id: str) -> str:
    """The link to a user's page, as the seed has it: ``<public_url>/dashboard/users/<id>``."""
    users = f"{public_url.rstrip('/')}/dashboard/users"
    link = f"{users}/{quote(user_id, safe='', errors='replace')}"
    return link if len(link) <= MOST_LINK else users


def alert_message(alert: Alert, public_url: str, block_url: str | None = None) -> Message:
    """What the alert says: who, tokens in the window, cost so far, feature, model, link, in this order."""
    heading = HEADINGS[alert.rule]
    user = one_line(alert.user_id)
    rows = [
        Row("user_id", user),
        Row(f"tokens ({_minutes(alert)} min)", f"{alert.tokens:,}"),
        Row("cost so far", cost_so_far(known_cost(alert), alert.month_unpriced)),
        Row("feature", one_line(alert.feature)),
        Row("model", one_line(alert.model)),
    ]
    reason = _reason(alert)
    return Message(
        kind="alert",
        id=alert.id,
        project=alert.project_id,
        at=alert.at,
        heading=f"⚠️  {NAME}: {heading}",
        subject=f"{NAME}: {heading} ({cut(user, _SUBJECT_ID)})",
        rows=(*rows, *([reason] if reason else [])),
        link=user_url(public_url, alert.user_id),
        notes=_notes(alert),
        block_url=block_url,
        incident=f"{alert.project_id}\0{alert.user_id}",
        data={**entry(alert, public_url), "blockUrl": block_url},
    )


def cost_so_far(amount: int | None, unpriced: int) -> str:
    """A cost for people. An unknown price is said, never taken for 0."""
    calls = f"{unpriced:,} {'call' if unpriced == 1 else 'calls'} without a known price"
    if amount is None:
        return f"unknown ({calls})" if unpriced else "unknown"
    return f"{shown(amount)} + {calls}" if unpriced else shown(amount)


def _minutes(alert: Alert) -> str:
    return f"{alert.window_seconds / 60:g}"


def _reason(alert: Alert) -> Row | None:
    """What was crossed, where it is not the tokens that every alert shows."""
    if alert.rule == "velocity":
        return None
    say = _percent if alert.rule == "unknown" else shown
    label = {
        "cost": f"cost ({_minutes(alert)} min)",
        "margin": "above plan",
        "unknown": "no known price",
    }[alert.rule]
    return Row(label, f"{say(alert.observed)} (alerts above {say(alert.threshold)})")


def _percent(millionths: int) -> str:
    return f"{millionths / 10_000:.3g} % of calls"


def _notes(alert: Alert) -> tuple[str, ...]:
    count = alert.suppressed
    if not count:
        return ()
    crossings = "crossing" if count == 1 else "crossings"
    return (f"{count:,} more {crossings} since the last alert, kept quiet by the cooldown.",)
