"""Acme AI, made up: forty users on four plans, thirty days of calls. The same company whoever looks."""

import random
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from loopwatch.records.call import Call

NAME = "Acme AI"
DAYS = 30
SETTINGS: Mapping[str, Any] = {
    "plans": {"free": 0, "starter": 19, "pro": 49, "business": 199},
    "caps": {
        "free": {"monthlyUsd": 1, "action": "block"},
        "starter": {"monthlyUsd": 15, "action": "downgrade"},
    },
    "marginThresholdUsd": -5,
    "weeklyDigest": True,
    "channels": [
        {"type": "slack", "url": "https://hooks.slack.com/services/T0DEMO/B0DEMO/thisleadsnowhere"},
        {"type": "email", "to": ["oncall@acme.example"]},
    ],
}
LOOPING = "usr_8f21c9"
"""Whose agent loops right now: the second seed's own example."""

_PLANS = {"free": (16, 0.0), "starter": (10, 19.0), "pro": (10, 49.0), "business": (4, 199.0)}
"""How many users each plan has, and what it costs a month in US dollars."""
_ACTIVITY = {"free": 3, "starter": 5, "pro": 8, "business": 14}
"""Calls on an ordinary day."""


class _Work(NamedTuple):
    """A feature: which model it asks, and how many tokens a call takes."""

    feature: str | None
    provider: str
    model: str
    input_tokens: int
    output_tokens: int


_FEATURES = (
    _Work("support-chat", "openai", "gpt-4o-mini", 1_800, 260),
    _Work("support-chat", "openai", "gpt-4o-mini", 2_600, 340),
    _Work("research-agent", "anthropic", "claude-sonnet-4-5", 19_000, 2_100),
    _Work("doc-summary", "google", "gemini-2.5-flash", 9_500, 700),
    _Work("code-review", "openai", "gpt-4o", 11_200, 1_300),
    _Work("report-writer", "anthropic", "claude-sonnet-4-5", 9_000, 4_100),
    _Work("tagging", "acme", "acme-tagger-7b", 900, 40),
    _Work(None, "openai", "gpt-4o-mini", 700, 120),
)
_HEAVY = frozenset({"research-agent", "code-review", "report-writer"})


_HEAVIEST = {2: 9.0, 5: 7.0}
"""How eager two users of the starter plan are: they cost more than they pay."""


class User(NamedTuple):
    """One of the company's users; ``eager`` multiplies how much they call."""

    id: str
    plan: str
    price: float
    eager: float


class Burst(NamedTuple):
    """An agent of a user that ran away, so many days ago."""

    user: int
    days_ago: float
    minutes: int
    tokens: int


_BURST = "demo-burst"
_MINUTE = timedelta(minutes=1)
_HOURS = timedelta(hours=3)
_BURSTS = (
    Burst(3, 21.4, 4, 5_200),
    Burst(19, 12.1, 9, 4_100),
    Burst(27, 6.7, 3, 7_800),
    Burst(12, 2.3, 6, 4_600),
    Burst(31, 0.6, 5, 6_300),
)


def users() -> list[User]:
    """The forty."""
    chance = random.Random(8_700)  # noqa: S311  a company, no secret
    every = []
    for plan, (count, price) in _PLANS.items():
        for place in range(count):
            eager = chance.choice((0.3, 0.6, 1.0, 1.0, 1.4, 2.2, 5.5))
            if plan == "starter" and place in _HEAVIEST:
                eager = _HEAVIEST[place]
            every.append(User(f"usr_{chance.randrange(16**6):06x}", plan, price, eager))
    return every


def history(now: datetime) -> Iterator[list[Call]]:
    """All calls up to ``now``, in order, in batches: of hours, but of a minute where an agent ran away.

    An alert arises at the end of a batch, so a burst must not be over by then.
    """
    calls = sorted((*_ordinary(now), *_bursts(now)), key=lambda one: one.at)
    batch: list[Call] = []
    for call in calls:
        is_burst = call.event_id.startswith(_BURST)
        if batch and (
            is_burst is not batch[0].event_id.startswith(_BURST)
            or call.at - batch[0].at > (_MINUTE if is_burst else _HOURS)
        ):
            yield batch
            batch = []
        batch.append(call)
    yield batch


def _ordinary(now: datetime) -> Iterator[Call]:
    """What people do: more on weekdays and by day, in sittings of a few calls."""
    chance = random.Random(50_000)  # noqa: S311  as above
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for day in range(DAYS, -1, -1):
        date = midnight - timedelta(days=day)
        weekday = 1.0 if date.weekday() < 5 else 0.35  # noqa: PLR2004  Saturday and Sunday
        for user in users():
            count = round(_ACTIVITY[user.plan] * user.eager * weekday * chance.uniform(0.2, 1.4))
            start = date + timedelta(hours=chance.triangular(6, 22, 14))
            for step in range(count):
                at = start + timedelta(minutes=step * chance.uniform(1, 9))
                work = _work(chance, user)
                if at < now - timedelta(minutes=30):
                    yield _call(user, work, at, f"demo-{day}-{user.id}-{step}", chance)


def _work(chance: random.Random, user: User) -> _Work:
    usual = [one for one in _FEATURES if user.plan != "free" or one.feature not in _HEAVY]
    return chance.choice(usual)


def _call(user: User, work: _Work, at: datetime, name: str, chance: random.Random) -> Call:
    size = chance.lognormvariate(0, 0.45)
    loops = 1 if chance.random() < 0.006 else 0  # noqa: PLR2004  one reply in 170 or so
    return Call(
        event_id=name,
        at=at,
        received_at=at,
        user_id=user.id,
        feature=work.feature,
        plan=user.plan,
        plan_revenue_usd=user.price,
        provider=work.provider,
        request_model=work.model,
        input_tokens=round(work.input_tokens * size),
        output_tokens=round(work.output_tokens * size),
        latency_ms=round(400 + 900 * size),
        loop_aborts=loops,
        loop_abort_words=loops * 310,
        loop_abort_chars=loops * chance.randrange(900, 5_200),
        loop_rule=chance.choice(("cycle", "cycle", "phrases", "words")) if loops else None,
    )


def _bursts(now: datetime) -> Iterator[Call]:
    chance = random.Random(30)  # noqa: S311  as above
    every = users()
    for burst in _BURSTS:
        user, start = every[burst.user], now - timedelta(days=burst.days_ago)
        work = _FEATURES[2] if burst.user % 2 else _FEATURES[4]
        for step in range(burst.minutes * 6):
            tokens = burst.tokens + chance.randrange(900)
            yield _call(
                user,
                work._replace(input_tokens=tokens, output_tokens=180),
                start + timedelta(seconds=10 * step),
                f"{_BURST}-{burst.user}-{step}",
                chance,
            )
