"""Resend's HTTP API. Its idempotency key is the delivery's id: a letter is sent once, however often asked."""

import json
import re
from http import HTTPStatus
from typing import NamedTuple

from pydantic import SecretStr

from loopwatch.alerts.channels.email.letter import Letter
from loopwatch.alerts.posting import Answer, Poster
from loopwatch.alerts.wording import one_line
from loopwatch.errors import ChannelError

URL = "https://api.resend.com/emails"
QUOTA_WAIT = 3_600.0
"""Seconds to wait where the day's letters are used up; Resend counts a day from the first of them."""
_MOST_KEY = 256
_MOST_REASON = 160
_NAME = re.compile(r"[a-z_]{1,60}")
_API_KEY = re.compile(r"re_\w+")


class Resend:
    """A mailer over Resend. ``url`` is another endpoint that speaks the same."""

    def __init__(self, api_key: SecretStr, sender: str, poster: Poster, url: str = URL) -> None:
        self.sender = sender
        self._api_key = api_key
        self._poster = poster
        self._url = SecretStr(url)

    async def send(self, letter: Letter, delivery_id: str) -> None:
        """Post the letter. Raises ChannelError."""
        headers = {
            "Authorization": f"Bearer {self._api_key.get_secret_value()}",
            "Idempotency-Key": delivery_id[:_MOST_KEY],
        }
        answer = await self._poster.post(self._url, letter.to_json().encode(), headers)
        if not answer.ok:
            raise _refusal(answer)


class _Refusal(NamedTuple):
    name: str
    message: str


def _refusal(answer: Answer) -> ChannelError:
    name, message = _read(answer)
    permanent, wait = answer.permanent, answer.retry_after
    if answer.status == HTTPStatus.CONFLICT:  # the same key: at work just now, or used for another letter
        permanent = name != "concurrent_idempotent_requests"
    if name == "daily_quota_exceeded":
        wait = max(QUOTA_WAIT, wait or 0)
    if name == "monthly_quota_exceeded":
        permanent = True
    said = ": ".join(part for part in (name, message) if part)
    reason = f"Resend answered HTTP {answer.status} {said}".rstrip()
    return ChannelError(reason, permanent=permanent, retry_after=wait)


def _read(answer: Answer) -> _Refusal:
    """Resend's name and words for the error, without a key that they may repeat."""
    try:
        document = json.loads(answer.text)
    except ValueError:
        return _Refusal("", "")
    if not isinstance(document, dict):
        return _Refusal("", "")
    name, message = document.get("name"), document.get("message")
    return _Refusal(
        name if isinstance(name, str) and _NAME.fullmatch(name) else "",
        one_line(_API_KEY.sub("re_…", message), _MOST_REASON) if isinstance(message, str) and message else "",
    )
