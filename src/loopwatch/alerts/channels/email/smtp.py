"""SMTP, by the standard library in a thread. Encryption that was asked for is never done without."""

import asyncio
import logging
import os
import smtplib
import ssl
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime, parseaddr
from typing import Literal, TypeAlias

from pydantic import SecretStr

from loopwatch.alerts.channels.email.letter import Letter
from loopwatch.clock import Clock
from loopwatch.errors import ChannelError

Security: TypeAlias = Literal["starttls", "tls", "plain"]

SECONDS = 10.0
"""Time that each step of the conversation may take."""
_ALL = 6
"""… and so many times that for the whole: below a courier's lease."""
_PERMANENT = 500
"""First code by which a server says that asking again will not help."""

log = logging.getLogger(__name__)


class Smtp:
    """A mailer over an SMTP server.

    ``context`` is the TLS to use; absent: the system's certificates (``SSL_CERT_FILE`` adds a private
    authority). Where some of a letter's recipients are refused and some are not, it counts as delivered.
    """

    def __init__(
        self,
        host: str,
        port: int,
        sender: str,
        clock: Clock,
        *,
        security: Security = "starttls",
        user: str | None = None,
        password: SecretStr = SecretStr(""),  # noqa: B008  immutable
        context: ssl.SSLContext | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self.sender = sender
        self._host, self._port = host, port
        self._clock = clock
        self._security = security
        self._user, self._password = user, password
        self._context = context
        self._seconds = seconds

    async def send(self, letter: Letter, delivery_id: str) -> None:
        """Send the letter. Raises ChannelError."""
        message = self._message(letter, delivery_id)
        reason = ChannelError(f"{self._host} did not answer within {self._seconds:g} seconds")
        try:
            async with asyncio.timeout(self._seconds * _ALL):
                await asyncio.to_thread(self._converse, message)
        except TimeoutError:
            pass
        except (smtplib.SMTPException, OSError) as error:
            reason = self._refusal(error)
        else:
            return
        # Outside of the handler: what smtplib raises may repeat the password or the letter.
        raise reason

    def _message(self, letter: Letter, delivery_id: str) -> EmailMessage:
        message = EmailMessage(policy=SMTP_POLICY)
        message["From"] = letter.sender
        message["To"] = ", ".join(letter.to)
        message["Subject"] = letter.subject
        message["Date"] = format_datetime(self._clock.now())
        domain = parseaddr(letter.sender)[1].rpartition("@")[2]
        message["Message-ID"] = f"<{delivery_id}@{domain}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(letter.text)
        message.add_alternative(letter.html, subtype="html")
        return message

    def _converse(self, message: EmailMessage) -> None:
        server = self._connected()
        try:
            if self._security == "starttls":
                server.starttls(context=self._tls())
            if self._user is not None:
                server.login(self._user, self._password.get_secret_value())
            refused = server.send_message(message)
            with suppress(smtplib.SMTPException, OSError):  # the letter is taken, whatever follows
                server.quit()
        finally:
            server.close()
        if refused:
            log.warning("%s refused %d of a letter's recipients", self._host, len(refused))

    def _connected(self) -> smtplib.SMTP:
        if self._security == "tls":
            return smtplib.SMTP_SSL(self._host, self._port, timeout=self._seconds, context=self._tls())
        return smtplib.SMTP(self._host, self._port, timeout=self._seconds)

    def _tls(self) -> ssl.SSLContext:
        return self._context if self._context is not None else ssl.create_default_context()

    def _refusal(self, error: Exception) -> ChannelError:
        """Why the letter was not taken: the server's code, never its words."""
        host = self._host
        if isinstance(error, smtplib.SMTPNotSupportedError):
            what = "STARTTLS" if self._security == "starttls" else "a way to sign in"
            return ChannelError(f"{host} does not offer {what}", permanent=True)
        if isinstance(error, smtplib.SMTPRecipientsRefused):
            codes = [code for code, _ in error.recipients.values()]
            return _coded(f"{host} refused every recipient", min(codes))
        if isinstance(error, smtplib.SMTPResponseException):
            what = "the sign-in" if isinstance(error, smtplib.SMTPAuthenticationError) else "the letter"
            return _coded(f"{host} refused {what}", error.smtp_code)
        return ChannelError(self._breakdown(error))

    def _breakdown(self, error: Exception) -> str:
        """Why there was no conversation."""
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"the certificate of {self._host} is not trusted"
        if isinstance(error, ssl.SSLError):
            return f"{self._host} speaks no TLS that can be used"
        if isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError):
            return f"{self._host} did not answer within {self._seconds:g} seconds"
        number = None if isinstance(error, smtplib.SMTPException) else getattr(error, "errno", None)
        if number is None or number < 0:  # below 0: the name was not found, in the resolver's own numbers
            return f"{self._host} {'broke the connection off' if number is None else 'has no address'}"
        return f"cannot connect to {self._host}: {os.strerror(number)}"


def _coded(reason: str, code: int) -> ChannelError:
    return ChannelError(f"{reason}: SMTP {code}", permanent=code >= _PERMANENT)
