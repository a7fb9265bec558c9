"""Slack's incoming webhooks, and those of its shape: blocks, with the whole message as text beside them.

Slack interprets three characters (& < >), and with them whatever mentions a channel or a person. They are
escaped; values stand in code spans besides, where neither Slack nor Mattermost interprets anything.
"""

import json
import re
from typing import Any

from loopwatch.alerts.message import BLOCK_LABEL, Message, Row, plain_text
from loopwatch.alerts.posting import Answer, Poster
from loopwatch.alerts.wording import cut
from loopwatch.config.destinations import SlackSettings
from loopwatch.records.delivery import Delivery

MOST_HEADER = 150
MOST_SECTION = 3_000
MOST_FIELDS = 10
_CODE = re.compile(r"[a-z_]{1,50}")


class Slack:
    """A Slack incoming webhook. It knows no idempotency: a message may come twice, with the same id in it."""

    pace = 1.0
    """About one message a second is taken from one webhook."""

    def __init__(self, settings: SlackSettings, poster: Poster) -> None:
        self._settings = settings
        self._poster = poster

    def body(self, message: Message) -> str | None:
        """The payload as JSON."""
        return json.dumps(payload(message))

    async def send(self, delivery: Delivery) -> None:
        """Post the payload. 400, 401, 403, 404 and 410 are permanent, 429 and 5xx are not."""
        await self._poster.deliver(self._settings.url, delivery.body.encode(), reason=_reason)


def _reason(answer: Answer) -> str:
    """Slack's own code, such as ``no_service``; nothing else of the answer is repeated."""
    code = answer.text.strip()
    return code if _CODE.fullmatch(code) else ""


def payload(message: Message) -> dict[str, Any]:
    """The message in blocks; ``text`` is what notifications, and programs without blocks, show."""
    header = {"type": "plain_text", "text": cut(message.heading, MOST_HEADER), "emoji": True}
    fields = [_text(f"*{escaped(row.label)}*\n{code(row.value)}") for row in message.rows[:MOST_FIELDS]]
    blocks: list[dict[str, Any]] = [{"type": "header", "text": header}, {"type": "section", "fields": fields}]
    for title, rows in message.sections:
        blocks.append({"type": "section", "text": _text(_listed(title, rows))})
    links = [_link(message.link, message.link_label)]
    if message.block_url:
        links.append(_link(message.block_url, f"{BLOCK_LABEL} (asks you to sign in)"))
    blocks.append({"type": "section", "text": _text("  ·  ".join(links))})
    small = [*message.notes, f"{message.kind} {message.id}"]
    context = [_text(cut(escaped(note), MOST_SECTION)) for note in small]
    blocks.append({"type": "context", "elements": context})
    return {"text": _fallback(message), "blocks": blocks, "unfurl_links": False, "unfurl_media": False}


def _text(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _link(url: str, label: str) -> str:
    return f"<{escaped(url).replace('|', '%7C')}|{label}>"


def _listed(title: str, rows: tuple[Row, ...]) -> str:
    """Rows as lines; those beyond Slack's limit are left out whole, so that no entity is cut."""
    text = f"*{escaped(title)}*"
    for row in rows:
        line = f"\n{code(row.label)} {escaped(row.value)}"
        if len(text) + len(line) > MOST_SECTION:
            break
        text += line
    return text


def _fallback(message: Message) -> str:
    heading, _, rest = escaped(plain_text(message)).partition("\n\n")
    rows, arrow, links = rest.partition("\n\n→ ")
    return f"{heading}\n```\n{_no_ticks(rows)}\n```{arrow}{links}"


def escaped(text: str) -> str:
    """``text`` with the three characters that Slack interprets escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str) -> str:
    """``text`` as a code span."""
    return f"`{_no_ticks(escaped(text))}`"


def _no_ticks(text: str) -> str:
    return text.replace("`", "'")
