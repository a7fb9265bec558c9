"""Rules ``text`` and ``complaint``: an agent that only talks, and a harness that objects in vain.

What ``text`` sees: the same words, or nearly, said again and again with nothing done between. What
``complaint`` sees: the harness (role ``system``) saying the same after each of the agent's answers, be
they malformed calls, premature ends or empty replies, however they differ.

What they must not confuse it with: a chat, in which the user speaks between (and every rule starts anew);
remarks between calls; reminders that a harness repeats while the work goes on.
"""

from collections import deque

from loopwatch.steps.calls import alike
from loopwatch.steps.finding import Finding
from loopwatch.steps.reading import Reading
from loopwatch.steps.settings import StepSettings

ALIKE = 0.5
"""Share of words that two wordings of one announcement have in common."""
LEAST_WORDS = 6
"""Shorter sayings are compared whole: moves of a game and one-word answers look alike."""


class Sayings:
    """Follows what one agent says without doing anything."""

    __slots__ = ("_alike", "_last", "_onset", "_onset_alike", "_same", "_settings")

    def __init__(self, settings: StepSettings) -> None:
        """Start with nothing said."""
        self._settings = settings
        self._last: Reading | None = None
        self._same = self._alike = self._onset = self._onset_alike = 0

    def read(self, reading: Reading) -> Finding | None:
        """Take the agent's next step; return the loop, if it is one by now."""
        if reading.tool is not None:
            self._last = None
            self._same = self._alike = 0
            return None
        last, self._last = self._last, reading
        if last is None or last.call != reading.call:
            self._same, self._onset = 0, reading.at
        near = last is not None and (last.call == reading.call or _near(last, reading))
        if not near:
            self._alike, self._onset_alike = 0, reading.at
        self._same += 1
        self._alike += 1
        if self._same >= self._settings.said:
            return Finding("text", self._onset, 1, self._same)
        if self._alike >= self._settings.said_alike:
            return Finding("text", self._onset_alike, 1, self._alike)
        return None


def _near(one: Reading, other: Reading) -> bool:
    if one.likeness == other.likeness:
        return False  # only a figure moved: a report of progress
    if one.number is not None and other.number == one.number + 1:
        return False  # the next entry of a list
    return min(len(one.said), len(other.said)) >= LEAST_WORDS and alike(one.said, other.said, ALIKE)


class Complaints:
    """Follows what the harness says to the agents."""

    __slots__ = ("_count", "_last", "_onset", "_said", "_settings")

    def __init__(self, settings: StepSettings) -> None:
        """Start with no complaint."""
        self._settings = settings
        self._last = b""
        self._said: deque[int] = deque(maxlen=2)
        self._count = self._onset = 0

    def read(self, reading: Reading) -> Finding | None:
        """Take the next step; return the loop, if it is one by now."""
        if reading.role != "system":
            if reading.tool is not None and reading.failure is None:
                self._count, self._last = 0, b""
            return None
        if reading.likeness != self._last:
            self._last = reading.likeness
            self._count, self._onset = 0, reading.at
        self._count += 1
        if self._count < self._settings.complained:
            return None
        return Finding("complaint", self._onset, 2, self._count)
