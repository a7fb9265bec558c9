"""Discord: an embed that mentions nobody. Values stand in code spans, where no Markdown is read."""

from typing import Any

from loopwatch.alerts.channels.webhook.posted import Posted
from loopwatch.alerts.message import BLOCK_LABEL, Message, Row
from loopwatch.alerts.wording import cut

MOST_TITLE = 256
MOST_FIELD = 1_024
MOST_FIELDS = 25
_COLOUR = 0xD97706


class Discord(Posted):
    """A Discord webhook."""

    pace = 2.5
    """Some 30 messages a minute are taken from one webhook."""

    def payload(self, message: Message) -> dict[str, Any]:
        """The document that is posted."""
        return payload(message)


def payload(message: Message) -> dict[str, Any]:
    """The message as an embed."""
    fields = [{"name": row.label, "value": _code(row.value), "inline": True} for row in message.rows]
    fields += [{"name": title, "value": _listed(rows), "inline": False} for title, rows in message.sections]
    lines = [*message.notes]
    if message.block_url:
        lines.append(f"[{BLOCK_LABEL}]({message.block_url}) (asks you to sign in)")
    embed = {
        "title": cut(message.heading, MOST_TITLE),
        "url": message.link,
        "description": "\n".join(lines),
        "color": _COLOUR,
        "fields": fields[:MOST_FIELDS],
        "footer": {"text": f"{message.kind} {message.id}"},
        "timestamp": message.at.isoformat(),
    }
    return {"embeds": [embed], "allowed_mentions": {"parse": []}}


def _listed(rows: tuple[Row, ...]) -> str:
    text = ""
    for row in rows:
        line = f"{_code(row.label)} {row.value}\n"
        if len(text) + len(line) > MOST_FIELD:
            break
        text += line
    return text


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"
