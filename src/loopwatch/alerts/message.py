"""A message before it takes the form of a channel: a heading, rows, a link. And its plain text.

Every text in it is one visible line already (``wording.one_line``); a channel adds its own escaping and
limits. ``data`` is the same for programs, as JSON with the texts as they were given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

LABEL_WIDTH = 16
"""Columns of the labels in plain text, as in the seed's example: ``tokens (5 min):`` and a space."""
BLOCK_LABEL = "Block this user"


class Row(NamedTuple):
    """A label and its value."""

    label: str
    value: str


class Section(NamedTuple):
    """Rows under a title."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent. ``id`` is that of what it is about: whoever gets it twice can tell by it.

    ``subject`` stands where a heading has no room for a symbol. ``incident`` is what the message is
    about (a user of a project), for channels that keep one incident open rather than a list of messages;
    None where it is about nothing that could be resolved. ``notes`` are short sentences after the link.
    """

    kind: Literal["alert", "storm", "digest", "test"]
    id: str
    project: str
    at: datetime
    heading: str
    subject: str
    rows: tuple[Row, ...]
    link: str
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    block_url: str | None = None
    incident: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def link_label(self) -> str:
        """What a link says where it need not show its address."""
        if self.kind == "alert":
            return "Open the user's page"
        return "Open the settings" if self.kind == "test" else "Open the dashboard"


def plain_text(message: Message) -> str:
    """The message in the shape of the seed's example; what the seed does not have comes after the link."""
    lines = [message.heading, "", *_aligned(message.rows)]
    for title, rows in message.sections:
        lines += ["", title, *_aligned(rows)]
    lines += ["", f"→ {message.link}"]
    if message.notes or message.block_url:
        lines += ["", *message.notes]
    if message.block_url:
        lines.append(f"{BLOCK_LABEL} (asks you to sign in): {message.block_url}")
    return "\n".join(lines)


def _aligned(rows: tuple[Row, ...]) -> list[str]:
    width = max([LABEL_WIDTH, *(len(row.label) + 2 for row in rows)])
    return [f"{row.label + ':':<{width}}{row.value}" for row in rows]
