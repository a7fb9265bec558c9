"""The verdict: a reply has become a loop."""

from dataclasses import dataclass, field
from typing import Literal

Rule = Literal["words", "cycle", "phrases", "blank", "length"]
RULES: tuple[Rule, ...] = ("words", "cycle", "phrases", "blank", "length")
"""The five ways to see a loop, in the order in which one place is judged."""

SAMPLE_CHARS = 200
"""Longest sample of a loop that a trip carries."""


@dataclass(frozen=True, slots=True)
class Trip:
    """Why and where a reply was abandoned. ``str()`` gives the sentence of the seed's error message.

    ``words`` and ``chars`` say how much had been read, ``onset`` the character (code point, from 0)
    where the loop began (rule ``words``: where the window became saturated), ``period`` its length in
    characters, ``repeats`` how many copies of it had been read. Fields that a rule does not know are
    None. ``offenders`` and ``saturated_run`` are filled by the rule ``words`` alone. ``sample`` is text
    of the reply: it stays out of ``repr``, messages and logs.
    """

    rule: Rule
    words: int
    chars: int
    onset: int | None = None
    period: int | None = None
    repeats: float | None = None
    offenders: int | None = None
    saturated_run: int | None = None
    sample: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        """The reason, then how much was read."""
        return f"{self.reason} ({self.words} words, {self.chars} characters read before it was abandoned)"

    @property
    def reason(self) -> str:
        """What was seen, without the reply's own text."""
        if self.rule == "words":
            run = f"{self.saturated_run} consecutive words, {self.words} words into the reply"
            return f"{self.offenders} words repeated across {run}"
        if self.rule == "cycle":
            copies = f"{self.repeats:.1f} times in a row" if self.repeats else "again and again"
            return f"a passage of {self.period} characters repeated {copies} from character {self.onset} on"
        if self.rule == "phrases":
            return f"nothing but phrases already said from character {self.onset} on"
        if self.rule == "blank":
            return f"nothing but white space from character {self.onset} on"
        return f"{self.chars} characters passed without the reply finishing"
