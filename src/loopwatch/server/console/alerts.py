"""Alerts: who crossed which line when, by how much, and what became of the messages."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.alerts.alert import HEADINGS, in_unit, known_cost
from loopwatch.records.alert import Alert, Rule
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.notices import notice
from loopwatch.server.pages import formats
from loopwatch.server.pages.render import money
from loopwatch.server.pages.tables import Column, Table
from loopwatch.server.queries import moment
from loopwatch.store.alerts import Raised

LISTED = 50
_MILLION = 1_000_000
_STATES = {"delivered": "delivered", "dead": "failed", "pending": "pending", "leased": "pending"}
KINDS: dict[Rule, str] = {
    "velocity": "Agent loop",
    "cost": "Spending fast",
    "margin": "Above plan",
    "unknown": "Prices unknown",
}
"""What alerts are about, in a table."""
NO_CHANNEL = "no channel"

COLUMNS = (
    Column("at", "When", "time"),
    Column("user", "User", "user"),
    Column("what", "What"),
    Column("value", "Observed", "number"),
    Column("threshold", "Alerts above", "number"),
    Column("cost", "Cost so far", "money", "The user's month up to the alert."),
    Column("feature", "Feature"),
    Column("model", "Model", "code"),
    Column(
        "suppressed", "Kept quiet", "number", "Crossings since the alert before, held back by the cooldown."
    ),
    Column("sent", "Messages"),
)
EMPTY = (
    "No alert yet, which is good. One is raised as soon as a user burns more than the threshold within"
    " the window: Settings, Detection."
)


async def show(request: Request, desk: Desk) -> Response:
    """The alerts of a project, newest first."""
    found = await table(request, desk, LISTED)
    last = found.rows[-1]["at"] if len(found.rows) == LISTED else None
    more = desk.url("/alerts", before=last.isoformat()) if last is not None else ""
    has_channels = any(one.enabled for one in desk.current.settings.channels)
    return desk.page(
        "alerts.html", alerts=found, more=more, has_channels=has_channels, notice_text=notice(request)
    )


async def table(request: Request, desk: Desk, limit: int) -> Table:
    """The alerts before the moment that the request names, if it does."""
    found = await desk.server.store.alerts.list(
        desk.project.id, before=moment(request, "before"), limit=limit
    )
    return Table("alerts", "Alerts", COLUMNS, [row(one) for one in found], EMPTY)


def row(raised: Raised) -> dict[str, Any]:
    """An alert for a table."""
    alert = raised.alert
    return {
        "at": alert.at,
        "user": alert.user_id,
        "what": KINDS[alert.rule],
        "value": in_unit(alert.rule, alert.observed),
        "value_shown": in_words(alert, alert.observed),
        "threshold": in_unit(alert.rule, alert.threshold),
        "threshold_shown": in_words(alert, alert.threshold),
        "cost": known_cost(alert),
        "cost_none": "unknown",
        "feature": alert.feature,
        "model": alert.model,
        "suppressed": alert.suppressed,
        "sent": sent(raised),
    }


def shown(raised: Raised, desk: Desk) -> dict[str, Any]:
    """An alert for the list of the latest: with whether it is still going on."""
    alert = raised.alert
    is_hot = desk.now < alert.at + desk.current.settings.cooldown
    return {**row(raised), "headline": headline(alert), "is_hot": is_hot, "span": _span(alert)}


def _span(alert: Alert) -> str:
    """Within what the value was observed."""
    return "this month" if alert.rule == "margin" else f"in {formats.span(alert.window_seconds)}"


def headline(alert: Alert) -> str:
    """What an alert is about, as a heading."""
    text = HEADINGS[alert.rule]
    return text[:1].upper() + text[1:]


def in_words(alert: Alert, value: int) -> str:
    """A crossing's value or threshold for people: tokens, money, a share."""
    if alert.rule == "velocity":
        return f"{formats.short(value)} tokens"
    return formats.percent(value / _MILLION) if alert.rule == "unknown" else money(value)


def sent(raised: Raised) -> str:
    """How the messages stand, in a few words."""
    if not raised.deliveries:
        return NO_CHANNEL
    return ", ".join(f"{one.channel} {_STATES[one.state]}" for one in raised.deliveries)
