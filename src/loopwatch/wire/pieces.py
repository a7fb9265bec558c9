"""What every provider's stream comes down to: pieces of text of a reply."""

from collections.abc import Iterable
from typing import Literal

import msgspec

Channel = Literal["content", "reasoning", "tools"]
"""What a piece belongs to: the answer, the thinking before it, or the arguments of a tool call."""


class Piece(msgspec.Struct, frozen=True, gc=False):  # a struct: one is made for each token
    """A piece of text, which stays out of ``repr``.

    ``reply`` tells answers that stream side by side from each other.
    """

    text: str
    channel: Channel = "content"
    reply: int = 0

    def __repr__(self) -> str:
        """Its size and whose it is."""
        return f"Piece({len(self.text)} characters of {self.channel}, reply {self.reply})"


def pieces_of(texts: Iterable[tuple[str | None, Channel]], reply: int = 0) -> list[Piece]:
    """The pieces of those texts that have any characters."""
    return [Piece(text, channel, reply) for text, channel in texts if text]
