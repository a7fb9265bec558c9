"""What every provider's stream comes down to: pieces of text of a reply."""

from typing import Literal, NamedTuple

Channel = Literal["content", "reasoning", "tools"]
"""What a piece belongs to: the answer, the thinking before it, or the arguments of a tool call."""


class Piece(NamedTuple):
    """A piece of text; ``reply`` tells answers that stream side by side from each other."""

    text: str
    channel: Channel = "content"
    reply: int = 0
