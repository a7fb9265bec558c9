"""Rule ``rewrite``: a file is put back into a state that it was in before.

What it sees: one value edited to and fro, two repairs that undo each other in turn, a file written with the
same two contents in turn, whatever is done between.

What it must not confuse it with: a bisection, which comes back to a value once; two variants that are
measured in turn, where nothing fails; the same replacement made in many files or many places.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

from loopwatch.steps.finding import Finding
from loopwatch.steps.memory import remember
from loopwatch.steps.reading import Reading
from loopwatch.steps.settings import StepSettings

FILES = 64
STATES = 64
"""Of one file; with the oldest forgotten, a loop through more states than that is ``sweeps``'."""


@dataclass(slots=True)
class History:
    """The states of one file, as far as edits tell them."""

    states: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    now: bytes = b""


class Rewrites:
    """Follows every file that is written."""

    __slots__ = ("_failed", "_files", "_onset", "_returns", "_settings")

    def __init__(self, settings: StepSettings) -> None:
        """Start with no file."""
        self._settings = settings
        self._files: OrderedDict[bytes, History] = OrderedDict()
        self._returns = self._onset = 0
        self._failed = False

    def read(self, reading: Reading) -> Finding | None:
        """Take the next step; return the loop, if it is one by now."""
        if reading.failure is not None:
            self._failed = True
        elif reading.path is not None and reading.after is not None:
            self._write(reading.path, reading.before, reading.after, reading.at)
        needed = self._settings.returns if self._failed else self._settings.returns_well
        if self._returns < needed:
            return None
        return Finding("rewrite", self._onset, None, self._returns)

    def _write(self, path: bytes, before: bytes | None, after: bytes, at: int) -> None:
        history = remember(self._files, path, self._files.get(path) or History(), FILES)
        if before is not None:
            history.states.setdefault(before)
        if after in history.states and after != history.now:
            if not self._returns:
                self._onset = at
            self._returns += 1
        elif after not in history.states:
            self._returns = 0  # something new was tried
            self._failed = False
        history.now = after
        remember(history.states, after, None, STATES)
