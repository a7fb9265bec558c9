"""What a rule is shown, what it finds, and what is told about it.

The store measures a ``Standing`` inside the transaction that logged the call, a rule answers with a
``Crossing`` or nothing, and where the user is not in cooldown the two become an ``Alert``.
"""

from datetime import datetime
from typing import Literal

import msgspec

Rule = Literal["velocity", "cost", "margin", "unknown"]


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How one user stands after a batch of calls. Money in nano-USD, times in seconds.

    ``tokens``, ``cost_nano``, ``calls`` and ``unpriced`` are the window's; ``unpriced`` counts calls
    whose cost is unknown, which ``cost_nano`` lacks. The month's are those of the calendar month, in
    UTC; they are 0 unless the project's settings have a rule that reads them.
    """

    project_id: str
    user_id: str
    tokens: int
    cost_nano: int
    calls: int
    unpriced: int
    month_cost_nano: int = 0
    month_unpriced: int = 0
    plan: str | None = None
    plan_revenue_nano: int | None = None


class Crossing(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule found: its name, and the figure over its threshold.

    Both are whole numbers in the rule's own unit: tokens (velocity), nano-USD (cost, and margin: the
    month's cost above the plan's price), millionths of the window's calls (unknown).
    """

    rule: Rule
    observed: int
    threshold: int


class Alert(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One alert about one user, as it is stored. ``feature`` and ``model`` are the crossing call's.

    ``month_cost_nano`` is the "cost so far"; ``month_unpriced`` calls of the month are not in it.
    ``suppressed`` crossings were held back by the cooldown since the alert before.
    """

    id: str
    project_id: str
    user_id: str
    rule: Rule
    observed: int
    threshold: int
    tokens: int
    window_seconds: float
    window_cost_nano: int
    window_calls: int
    window_unpriced: int
    month_cost_nano: int
    month_unpriced: int
    feature: str | None
    provider: str
    model: str
    plan: str | None
    at: datetime
    suppressed: int
