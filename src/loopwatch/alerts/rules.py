"""What is worth an alert: four rules over the figures of one user. Pure: nothing is read or kept.

Every rule is crossed strictly above its threshold, as in the seed: 50,000 tokens do not alert, 50,001 do.
A rule without the figures that it needs is not crossed; an unknown cost is never taken for 0.
"""

from loopwatch.config.project import ProjectSettings
from loopwatch.config.rule import crossed, velocity
from loopwatch.records.alert import Crossing, Standing
from loopwatch.records.money import nano_usd

MILLION = 1_000_000
"""A share is kept as a whole number of millionths."""
LEAST_CALLS = 20
"""Calls in the window from which on the share of those without a price says something."""


def crossing(standing: Standing, settings: ProjectSettings) -> Crossing | None:
    """The first rule that is on and crossed: tokens, then money, then margin, then missing prices."""
    for rule in (velocity, cost, margin, unknown):
        crossed = rule(standing, settings)
        if crossed is not None:
            return crossed
    return None


def cost(standing: Standing, settings: ProjectSettings) -> Crossing | None:
    """More money in the window than the set amount; calls of unknown cost are not in it."""
    amount = settings.cost_threshold_usd
    return crossed("cost", standing.cost_nano, None if amount is None else nano_usd(amount))


def margin(standing: Standing, settings: ProjectSettings) -> Crossing | None:
    """A user who costs more this month than their plan brings, by more than the set amount."""
    amount, price = settings.margin_threshold_usd, standing.plan_revenue_nano
    if amount is None or price is None:
        return None
    return crossed("margin", standing.month_cost_nano - price, nano_usd(-amount))


def unknown(standing: Standing, settings: ProjectSettings) -> Crossing | None:
    """A larger share of the window's calls without a known price than the set one."""
    share, calls = settings.unknown_share, standing.calls
    if share is None or calls < LEAST_CALLS:
        return None
    threshold = round(share * MILLION)
    if standing.unpriced * MILLION <= threshold * calls:
        return None
    # Rounded up, so that the share that is told lies above the threshold that is told beside it.
    return Crossing(rule="unknown", observed=-(-standing.unpriced * MILLION // calls), threshold=threshold)
