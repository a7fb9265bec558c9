"""The letter. What is kept of it is Resend's own payload, to the byte: a second attempt must not differ."""

import json
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from loopwatch.alerts.message import BLOCK_LABEL, Message, Row, plain_text
from loopwatch.alerts.wording import cut

MOST_SUBJECT = 200


@dataclass(frozen=True, slots=True)
class Letter:
    """An e-mail. ``sender`` is an address, or a name and an address in angle brackets."""

    sender: str
    to: tuple[str, ...]
    subject: str
    text: str
    html: str

    def to_json(self) -> str:
        """As Resend takes it."""
        fields: dict[str, Any] = asdict(self)
        return json.dumps({"from": fields.pop("sender"), **fields})

    @classmethod
    def from_json(cls, body: str) -> "Letter":
        """What ``to_json`` wrote."""
        fields = json.loads(body)
        return cls(
            *(fields["from"], tuple(fields["to"]), fields["subject"]), *(fields["text"], fields["html"])
        )


def letter(message: Message, sender: str, to: tuple[str, ...]) -> Letter:
    """The message as a letter."""
    return Letter(sender, to, cut(message.subject, MOST_SUBJECT), plain_text(message) + "\n", html(message))


def html(message: Message) -> str:
    """The message as a page without images, styles or scripts from anywhere; every value is escaped.

    ``bdi`` keeps a value in another direction of writing from turning what is around it.
    """
    parts = [f"<h2>{escape(message.heading)}</h2>", _table(message.rows)]
    for title, rows in message.sections:
        parts += [f"<h3>{escape(title)}</h3>", _table(rows)]
    parts.append(f"<p>{_link(message.link, message.link_label)}</p>")
    parts += [f"<p>{escape(note)}</p>" for note in message.notes]
    if message.block_url:
        parts.append(f"<p>{_link(message.block_url, BLOCK_LABEL)} (asks you to sign in)</p>")
    parts.append(f'<p style="color:#777">{escape(message.kind)} {escape(message.id)}</p>')
    style = "font-family:system-ui,sans-serif;font-size:15px"
    return f'<!doctype html><html lang="en"><body style="{style}">{"".join(parts)}</body></html>'


def _table(rows: tuple[Row, ...]) -> str:
    cells = "".join(
        f'<tr><td style="padding:2px 16px 2px 0;color:#555"><bdi>{escape(row.label)}</bdi></td>'
        f"<td><code><bdi>{escape(row.value)}</bdi></code></td></tr>"
        for row in rows
    )
    return f"<table>{cells}</table>"


def _link(url: str, label: str) -> str:
    return f'<a href="{escape(url)}">{escape(label)}</a>'
