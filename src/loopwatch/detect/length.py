"""Rule ``length``: the reply has passed a ceiling. The backstop for a runaway that never repeats.

What it must not confuse it with: a long answer. A 2,000-line program is around 60,000 characters;
the seed's ceiling is 250,000.
"""

from loopwatch.detect.finding import Approach


class Length:
    """A ceiling on the characters of a reply; 0 turns it off.

    With the rule ``words`` on, it is read as the seed has it: once a chunk, after the words, so the
    length it reports is the total after that chunk. Otherwise it trips on the very character, like
    every other rule, however the reply was cut.
    """

    __slots__ = ("limit", "per_chunk")

    def __init__(self, limit: int, *, per_chunk: bool) -> None:
        """``limit`` in characters; strictly more than that is too long."""
        self.limit = limit
        self.per_chunk = per_chunk

    def passed(self, chars: int) -> bool:
        """Whether ``chars`` are too many."""
        return 0 < self.limit < chars

    def approach(self, chars: int) -> Approach:
        """How near ``chars`` come to the ceiling."""
        share = min(1.0, chars / self.limit)
        return Approach("length", share, chars, f"{chars} characters of {self.limit}")
