"""A project's settings: when its users are alerted about, where alerts go, what plans may cost.

One flat document in camelCase, kept by the store with a version, changed from the console, the settings
route and the shell alike. Every key has a default, so ``{}`` is a project as it comes: 50,000 tokens in
5 minutes, at most one alert about a user in 30, nothing else armed (the second seed's figures).
"""

from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field

from loopwatch.config.destinations import REVEAL, AnyDestination
from loopwatch.config.fields import Block, Items, Maybe, Name
from loopwatch.config.numbers import Amount, Number, Share, refuse, whole
from loopwatch.velocity.defaults import COOLDOWN_SECONDS, TOKEN_THRESHOLD, WINDOW_SECONDS

MOST_TOKENS = 1_000_000_000_000
MOST_BURST = 100_000
MOST_WINDOW = 360.0
"""Minutes: beyond six hours it is a budget, and a window has a sum for every five seconds of it."""
MOST_COOLDOWN = 44_640.0
"""Minutes: a month."""


def _minutes(most: float) -> Number:
    def read(value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 1 / 60 <= value <= most:
            raise refuse(f"must be minutes, at least 1/60 (one second) and at most {most:g}")
        return float(value)

    return Number(read, {"type": "number", "minimum": 1 / 60, "maximum": most})


def _loss(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not -1e9 <= value <= 0:  # noqa: PLR2004  a thousand million dollars
        raise refuse("must be US dollars, 0 or below: -5 means a user who costs 5 more than the plan's price")
    return float(value)


def _price(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1e6:  # noqa: PLR2004  as records.row believes
        raise refuse("must be US dollars a month, from 0 to 1000000")
    return float(value)


Minutes = Annotated[float, _minutes(MOST_WINDOW)]
Price = Annotated[float, Number(_price, {"type": "number", "minimum": 0})]


class Cap(Block):
    """What a plan's user may cost in a month, and what happens then."""

    monthly_usd: Amount = Field(description="US dollars a month; at or above it the cap is reached.")
    action: Literal["block", "downgrade"] = Field(
        default="block", description="Refuse the next call, or answer with a cheaper model."
    )


class ProjectSettings(Block):
    """All settings of one project."""

    model_config = ConfigDict(title="Project settings")

    token_threshold: Annotated[int, whole(1, MOST_TOKENS)] = Field(
        default=TOKEN_THRESHOLD, description="Tokens of one user in the window; strictly more alerts."
    )
    window_minutes: Minutes = Field(
        default=WINDOW_SECONDS / 60, description="Length of the window, in minutes."
    )
    cooldown_minutes: Annotated[float, _minutes(MOST_COOLDOWN)] = Field(
        default=COOLDOWN_SECONDS / 60,
        description="Minutes after an alert about a user before there is another.",
    )
    velocity_alerts: bool = Field(default=True, description="Whether the token window alerts.")
    cached_weight: Share = Field(
        default=1.0, description="What a token read from a cache weighs in the window."
    )
    cost_threshold_usd: Maybe[Amount] = Field(
        default=None, description="US dollars of one user in the window; strictly more alerts."
    )
    margin_threshold_usd: Maybe[Annotated[float, Number(_loss, {"type": "number", "maximum": 0})]] = Field(
        default=None, description="Margin of one user in a month, in US dollars; strictly below alerts."
    )
    unknown_share: Maybe[Share] = Field(
        default=None, description="Share of a user's calls in the window without a known price; above alerts."
    )
    block_while_hot: bool = Field(
        default=False, description="Refuse a user's calls while an alert about them is in its cooldown."
    )
    channels: Items[Annotated[AnyDestination, Discriminator("type")]] = Field(
        default=(), description="Where messages go; without any, alerts are recorded all the same."
    )
    alert_burst: Annotated[int, whole(1, MOST_BURST)] = Field(
        default=10,
        description="Alerts within a minute that are sent one by one; those beyond go out together.",
    )
    weekly_digest: bool = Field(
        default=False, description="Whether a summary of the week is sent on Mondays, 09:00 UTC."
    )
    plans: dict[Name, Price] = Field(
        default={}, description="Monthly price of each plan in US dollars, where calls do not say it."
    )
    caps: dict[Name, Cap] = Field(default={}, description="What a user of each plan may cost in a month.")
    downgrades: dict[Name, Name] = Field(
        default={}, description="The cheaper model that stands in for each, once a cap says so."
    )
    prices: dict[Name, Any] = Field(
        default={},
        description="The project's own prices by model, in US dollars per million tokens: "
        '{"my-model": {"input": 2.5, "output": 10}}.',
    )
    pseudonymise: bool = Field(
        default=False, description="Hash ids that look like an e-mail address or a card, instead of refusing."
    )
    retention_days: Annotated[int, whole(1, 3_660)] = Field(
        default=90, description="Days that single calls are kept; hourly and monthly sums stay."
    )

    @property
    def window(self) -> timedelta:
        """Length of the window."""
        return timedelta(minutes=self.window_minutes)

    @property
    def cooldown(self) -> timedelta:
        """How long an alert keeps its user quiet."""
        return timedelta(minutes=self.cooldown_minutes)

    def destination(self, key: str) -> AnyDestination | None:
        """The channel of that name, if there is one and it is on."""
        return next((one for one in self.channels if one.key == key and one.enabled), None)

    def document(self) -> dict[str, Any]:
        """The settings that differ from their defaults, as JSON values. Holds secrets: for the database."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True, context=REVEAL)

    def shown(self) -> dict[str, Any]:
        """All settings as JSON values for whoever may see them: secrets masked, what is off left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
