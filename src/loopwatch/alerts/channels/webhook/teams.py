"""Microsoft Teams: an Adaptive Card for a workflow that starts when a webhook request is received.

Every value is a text run, in which Teams reads no Markdown; the card is far below its limit of 28 KB.
"""

from typing import Any

from loopwatch.alerts.channels.webhook.posted import Posted
from loopwatch.alerts.message import BLOCK_LABEL, Message, Row


class Teams(Posted):
    """A Teams workflow."""

    pace = 1.0
    """Four requests a second are too many."""

    def payload(self, message: Message) -> dict[str, Any]:
        """The document that is posted."""
        return payload(message)


def payload(message: Message) -> dict[str, Any]:
    """The message as a card in an attachment."""
    body = [_line(_run(message.heading, weight="Bolder", size="Medium"))]
    body += [_row(row) for row in message.rows]
    for title, rows in message.sections:
        body += [_line(_run(title, weight="Bolder")), *(_row(row) for row in rows)]
    body += [_line(_run(note, isSubtle=True)) for note in (*message.notes, f"{message.kind} {message.id}")]
    actions = [_action(message.link_label, message.link)]
    if message.block_url:
        actions.append(_action(BLOCK_LABEL, message.block_url))
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
        "actions": actions,
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "contentUrl": None, "content": card}]}


def _row(row: Row) -> dict[str, Any]:
    return _line(_run(f"{row.label}: ", weight="Bolder"), _run(row.value, fontType="Monospace"))


def _line(*runs: dict[str, Any]) -> dict[str, Any]:
    return {"type": "RichTextBlock", "spacing": "Small", "inlines": list(runs)}


def _run(text: str, **style: Any) -> dict[str, Any]:
    return {"type": "TextRun", "text": text, **style}


def _action(title: str, url: str) -> dict[str, Any]:
    return {"type": "Action.OpenUrl", "title": title, "url": url}
