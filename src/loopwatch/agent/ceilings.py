"""When an agent has to stop: the ceilings of the first seed's system, to the figure.

Consecutive errors fire when their count reaches the ceiling, and only a turn that progressed clears it. The
error rate is that of the last ``errorRateWindow`` outcomes, once there are so many, and fires strictly
above its ceiling, after a good turn too; where both fire, the consecutive errors are told. Cost, turns and
time are read between turns. A turn that finished never fires any.
"""

from collections import deque

from loopwatch.config.limits import Limits
from loopwatch.records.breach import Breach, CeilingName
from loopwatch.records.money import nano_usd, usd
from loopwatch.records.outcome import Outcome


class Ceilings:
    """One agent's. ``turns`` counts outcomes, ``streak`` error turns since the last that progressed."""

    def __init__(self, limits: Limits, agent_id: str) -> None:
        """Begin before the first turn."""
        self.turns = 0
        self.streak = 0
        self.step_loops = 0
        self._limits = limits
        self._agent_id = agent_id
        self._recent: deque[bool] = deque(maxlen=limits.error_rate_window)

    def count(self, outcome: Outcome) -> int:
        """Take the outcome of a turn; the consecutive errors that are told of it."""
        self.turns += 1
        failed = outcome == "error"
        self._recent.append(failed)
        if outcome == "progressed":
            self.streak = 0
        self.streak += failed
        return self.streak if failed else 0

    def after(self, outcome: Outcome) -> Breach | None:
        """The ceiling that the outcome that was counted last has reached."""
        if outcome in ("finished", "fatal"):
            return None
        limits = self._limits
        most = limits.max_consecutive_errors
        if most is not None and self.streak >= most:
            return self._breach("consecutive_errors", most, self.streak)
        rate, window = limits.max_error_rate, limits.error_rate_window
        if rate is not None and window is not None and len(self._recent) >= window:
            share = sum(self._recent) / window
            if share > rate:
                return self._breach("error_rate", rate, share, window)
        if limits.max_step_loops is not None and self.step_loops >= limits.max_step_loops:
            return self._breach("step_loops", limits.max_step_loops, self.step_loops)
        return None

    def between(self, *, seconds: float, spent_nano: int | None) -> Breach | None:
        """The ceiling that stands before the next turn; ``spent_nano`` is the run's, None: not known."""
        limits = self._limits
        if limits.max_runtime_secs is not None and seconds >= limits.max_runtime_secs:
            return self._breach("runtime", limits.max_runtime_secs, round(seconds, 3))
        most = limits.max_cost
        if most is not None and spent_nano is not None and spent_nano >= nano_usd(most):
            return self._breach("cost", most, usd(spent_nano))
        if limits.max_turns is not None and self.turns >= limits.max_turns:
            return self._breach("turns", limits.max_turns, self.turns)
        return None

    def _breach(
        self, limit: CeilingName, threshold: float, observed: float, window: int | None = None
    ) -> Breach:
        return Breach(
            limit=limit,
            threshold=threshold,
            observed=observed,
            turns=self.turns,
            agent_id=self._agent_id,
            window=window,
        )
