"""How this server sends letters: what a mailer is, and which one its environment names."""

from collections.abc import Mapping
from email.utils import parseaddr
from typing import Protocol
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from loopwatch.alerts.channels.email.letter import Letter
from loopwatch.alerts.channels.email.resend import Resend
from loopwatch.alerts.channels.email.smtp import Security, Smtp
from loopwatch.alerts.posting import Poster
from loopwatch.clock import Clock
from loopwatch.errors import ChannelError, InputError

SENDER = "LOOPWATCH_MAIL_FROM"
RESEND_KEY = "LOOPWATCH_RESEND_API_KEY"
SMTP_URL = "LOOPWATCH_SMTP_URL"

_SCHEMES: dict[str, tuple[Security, int]] = {
    "smtp": ("starttls", 587),
    "smtps": ("tls", 465),
    "smtp+plain": ("plain", 25),
}
"""How each scheme of an SMTP URL is secured, and its port where it names none."""


class Mailer(Protocol):
    """A way of sending letters."""

    @property
    def sender(self) -> str:
        """Whom letters come from."""

    async def send(self, letter: Letter, delivery_id: str) -> None:
        """Send it; letters of one delivery are one. Raises ChannelError."""


class NoMailer:
    """What a server has that was told no way of sending letters."""

    sender = ""

    async def send(self, letter: Letter, delivery_id: str) -> None:  # noqa: ARG002  the protocol's
        """Say what to set. Raises ChannelError."""
        reason = f"this server sends no e-mail: set {SENDER} and {RESEND_KEY} or {SMTP_URL}"
        raise ChannelError(reason, permanent=True)


def mailer_from(environment: Mapping[str, str], poster: Poster, clock: Clock) -> Mailer:
    """The mailer that the environment names: Resend where there is a key, else SMTP, else ``NoMailer``.

    SMTP is ``smtp://user:password@host:587`` (STARTTLS, required), ``smtps://…`` (TLS from the start) or
    ``smtp+plain://…`` (no encryption: for a relay on this machine). Raises InputError.
    """
    key, url, sender = (environment.get(name, "") for name in (RESEND_KEY, SMTP_URL, SENDER))
    if not key and not url:
        return NoMailer()
    if "@" not in parseaddr(sender)[1] or not sender.isprintable():
        raise InputError(f"{SENDER} must be set to the address that e-mail comes from")
    return Resend(SecretStr(key), sender, poster) if key else _smtp(url, sender, clock)


def _smtp(url: str, sender: str, clock: Clock) -> Smtp:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise InputError(f"{SMTP_URL} has a host or port that cannot be") from None
    if parts.scheme not in _SCHEMES or not host:
        raise InputError(f"{SMTP_URL} must be smtp://, smtps:// or smtp+plain://, and a host")
    security, usual_port = _SCHEMES[parts.scheme]
    user = unquote(parts.username) if parts.username else None
    password = SecretStr(unquote(parts.password or ""))
    return Smtp(host, port or usual_port, sender, clock, security=security, user=user, password=password)
