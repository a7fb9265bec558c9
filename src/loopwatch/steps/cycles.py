"""Rule ``cycle``: the same few steps with the same outcomes, round after round.

What it sees: rounds of two to eight steps, of one agent or of several with the harness between (read,
failing edit, failing test; a malformed call and the request to retry it; two agents that transfer a
customer to each other), and the same one step of what is said.

What it must not confuse it with: checks that are run twice over for care; sleeping and asking, where a
pending answer may come for long; clicking through pages and looking at each; a retry with a pause. A round
counts only where every outcome in it is the same as in the round before, so that work which moves on never
counts, however regular its steps are.
"""

from collections import deque
from collections.abc import Sequence

from loopwatch.steps.finding import NEVER, Finding
from loopwatch.steps.gaps import SPARSE, Gaps
from loopwatch.steps.reading import Reading, key
from loopwatch.steps.settings import StepSettings

LONGEST = 8
"""Steps of a round: longer ones are ``sweeps``'."""


class Cycles:
    """Compares each step with those up to ``LONGEST`` before it."""

    __slots__ = ("_gaps", "_keys", "_readings", "_runs", "_settings")

    def __init__(self, settings: StepSettings) -> None:
        """Start with no step."""
        self._settings = settings
        self._keys: deque[bytes] = deque(maxlen=LONGEST)
        self._readings: deque[Reading] = deque(maxlen=LONGEST)
        self._runs = [0] * (LONGEST + 1)
        self._gaps = Gaps(0.0)

    def read(self, reading: Reading) -> Finding | None:
        """Take the next step; return the loop, if it is one by now."""
        name = key(reading.role) + reading.call + (reading.fault or reading.outcome)
        for lag in range(1, LONGEST + 1):
            same = lag <= len(self._keys) and self._keys[-lag] == name
            self._runs[lag] = self._runs[lag] + 1 if same else 0
        self._keys.append(name)
        self._readings.append(reading)
        self._gaps.add(reading.t)
        for lag in range(2, LONGEST + 1):
            run = self._runs[lag]
            if run >= lag and not self._is_shorter(lag):
                copies = (run + lag) // lag
                if copies >= self._copies(list(self._readings)[-lag:]):
                    return Finding("cycle", reading.at - run - lag + 1, lag, copies)
        return None

    def _is_shorter(self, lag: int) -> bool:
        """Whether the round is itself made of shorter ones."""
        return any(self._runs[part] >= lag for part in range(1, lag) if lag % part == 0)

    def _copies(self, round_: Sequence[Reading]) -> int:
        settings = self._settings
        if any(step.tool in settings.waiting_tools for step in round_):
            return NEVER
        acts = frozenset[str]().union(*(step.acts for step in round_))
        if any(step.failure == "transient" for step in round_):
            return settings.transient_slow if self._gaps.backing_off or "wait" in acts else settings.transient
        failed = any(step.failure for step in round_)
        asks = "ask" in acts and self._gaps.typical >= SPARSE
        if (
            any(step.waits for step in round_)
            or asks
            or (failed and "wait" in acts and self._gaps.backing_off)
        ):
            return settings.watching if self._gaps.typical >= SPARSE else settings.copies_waiting
        if acts & {"advance", "look"} and "locate" not in acts and not failed:
            return settings.copies_acting
        if not failed and all("add" in step.acts for step in round_):
            return settings.copies_acting
        return settings.copies
