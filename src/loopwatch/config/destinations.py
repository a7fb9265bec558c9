"""Where a project's messages go: one block of settings for each kind of channel.

Whatever opens a channel to others (a webhook's URL, a signing secret, a routing key) is a ``SecretStr``:
it is in no repr and no message, and leaves only through ``ProjectSettings.document``.
"""

import re
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    SerializationInfo,
    ValidationInfo,
)

from loopwatch.config.fields import SOME, Block, Maybe, Names, Slug
from loopwatch.config.numbers import refuse
from loopwatch.config.reach import Reach, host_of, url_fault

MASK = "••••••••"
"""What is shown in a secret's place; sent back unchanged it means: keep the one there is."""
REVEAL = "reveal"
"""The context of a dump that is to be stored, secrets and all."""

MOST_RECIPIENTS = 20
LEAST_SECRET = 16
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
_MOST_ADDRESS = 254


def _url(value: SecretStr, info: ValidationInfo) -> SecretStr:
    reach = info.context if isinstance(info.context, Reach) else Reach()
    url = value.get_secret_value()
    reason = "is masked: write the whole URL" if is_mask(url) else url_fault(url, reach)
    if reason is not None:
        raise refuse(reason)
    return value


def _long(value: SecretStr) -> SecretStr:
    secret = value.get_secret_value()
    if len(secret) < LEAST_SECRET or not secret.isprintable() or not secret.isascii():
        raise refuse(f"must have at least {LEAST_SECRET} letters, digits or signs: make a random one")
    return value


def _routing_key(value: SecretStr) -> SecretStr:
    if re.fullmatch(r"[A-Za-z0-9]{32}", value.get_secret_value()) is None:
        raise refuse("must be the 32 letters and digits of an Events API v2 integration key")
    return value


def _address(text: str) -> str:
    if len(text) > _MOST_ADDRESS or _ADDRESS.fullmatch(text) is None:
        raise refuse("must be a plain e-mail address, such as oncall@example.com")
    return text


def _few(addresses: tuple[str, ...]) -> tuple[str, ...]:
    if len(addresses) > MOST_RECIPIENTS:
        raise refuse(f"must have at most {MOST_RECIPIENTS} addresses: use a mailing list")
    return addresses


def _shown(value: SecretStr, info: SerializationInfo) -> str:
    return value.get_secret_value() if info.context == REVEAL else MASK


def _shown_url(value: SecretStr, info: SerializationInfo) -> str:
    url = value.get_secret_value()
    return url if info.context == REVEAL else f"{url.partition('://')[0]}://{host_of(url)}/{MASK}"


def is_mask(value: Any) -> bool:
    """Whether a value is what is shown in a secret's place, rather than a secret."""
    return isinstance(value, str) and value.endswith(MASK)


HookUrl = Annotated[SecretStr, AfterValidator(_url), PlainSerializer(_shown_url, return_type=str)]
SigningSecret = Annotated[SecretStr, AfterValidator(_long), PlainSerializer(_shown, return_type=str)]
RoutingKey = Annotated[SecretStr, AfterValidator(_routing_key), PlainSerializer(_shown, return_type=str)]
EmailAddress = Annotated[str, AfterValidator(_address)]


class Destination(Block):
    """What every channel has: a name of its own, and a switch."""

    id: Maybe[Slug] = Field(
        default=None, description="The channel's name among the project's; absent: its type."
    )
    enabled: bool = Field(default=True, description="Whether messages go there.")

    @property
    def key(self) -> str:
        """The name under which deliveries of the channel are kept."""
        return self.id if self.id is not None else str(getattr(self, "type"))  # noqa: B009  of the kinds below


class SlackSettings(Destination):
    """A Slack incoming webhook, or one of the same shape (Mattermost, Rocket.Chat)."""

    model_config = ConfigDict(title="Slack")

    type: Literal["slack"]
    url: HookUrl = Field(description="The webhook's URL. Secret.")


class EmailSettings(Destination):
    """E-mail, by the server's own way of sending it: Resend or SMTP."""

    model_config = ConfigDict(title="E-mail")

    type: Literal["email"]
    to: Annotated[Names[EmailAddress], AfterValidator(_few), *SOME] = Field(description="Who gets it.")


class WebhookSettings(Destination):
    """A signed webhook of your own; ``loopwatch.alerts.signature`` says how to check the signature."""

    model_config = ConfigDict(title="Webhook")

    type: Literal["webhook"]
    url: HookUrl = Field(description="Where messages are posted. Secret.")
    secret: SigningSecret = Field(description="What messages are signed with. Secret.")


class DiscordSettings(Destination):
    """A Discord webhook."""

    model_config = ConfigDict(title="Discord")

    type: Literal["discord"]
    url: HookUrl = Field(description="The webhook's URL. Secret.")


class TeamsSettings(Destination):
    """A Microsoft Teams workflow that starts when a webhook request is received."""

    model_config = ConfigDict(title="Microsoft Teams")

    type: Literal["teams"]
    url: HookUrl = Field(description="The workflow's URL. Secret.")


class PagerDutySettings(Destination):
    """A PagerDuty service with an Events API v2 integration."""

    model_config = ConfigDict(title="PagerDuty")

    type: Literal["pagerduty"]
    routing_key: RoutingKey = Field(description="The integration key. Secret.")
    url: HookUrl = Field(
        default=SecretStr("https://events.pagerduty.com/v2/enqueue"),
        description="Where events are posted; accounts in the EU: https://events.eu.pagerduty.com/v2/enqueue.",
    )


AnyDestination: TypeAlias = (
    SlackSettings | EmailSettings | WebhookSettings | DiscordSettings | TeamsSettings | PagerDutySettings
)
KINDS: dict[str, type[Destination]] = {
    "slack": SlackSettings,
    "email": EmailSettings,
    "webhook": WebhookSettings,
    "discord": DiscordSettings,
    "teams": TeamsSettings,
    "pagerduty": PagerDutySettings,
}
"""The blocks by their ``type``."""
SECRETS = frozenset({"url", "secret", "routingKey"})
"""Keys of values that no message shows."""
