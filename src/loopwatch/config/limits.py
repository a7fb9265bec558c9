"""The ``limits`` block: ceilings on a run, and the clocks and retries of its model calls.

Two keys have no default, because nobody but the operator can choose them. A ceiling that is absent is
not armed; 0 is refused rather than read as "none".
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from loopwatch.config.defects import Fault, Path
from loopwatch.config.fields import Block, Maybe
from loopwatch.config.numbers import U32, Amount, Share, whole

JOURNAL_BYTES = 268_435_456  # 256 MiB
PAIR = ("maxErrorRate", "errorRateWindow")
"""Two halves of one ceiling: neither means anything without the other."""

CEILINGS = ("maxTurns", "maxRuntimeSecs", "maxCost", "maxConsecutiveErrors", *PAIR, "maxStepLoops")
"""The keys that stop an agent or a run."""

Count = Annotated[int, whole(1)]
Count32 = Annotated[int, whole(1, U32)]


class Limits(Block):
    """Ceilings on the run, and how long and how often a model is asked. Times are in seconds."""

    model_config = ConfigDict(
        title="Limits",
        json_schema_extra={"dependentRequired": {PAIR[0]: [PAIR[1]], PAIR[1]: [PAIR[0]]}},
    )

    max_parallel: Count = Field(description="Agents that may be at work at the same time.")
    replay_max_bytes: Count = Field(
        examples=[JOURNAL_BYTES], description="Size of the journal, in bytes, at which it stops recording."
    )
    max_turns: Maybe[Count] = Field(default=None, description="Turns after which an agent stops.")
    max_runtime_secs: Maybe[Count] = Field(default=None, description="Seconds after which the run stops.")
    max_cost: Maybe[Amount] = Field(
        default=None, description="Cost in US dollars, read between turns, at which the run stops."
    )
    max_consecutive_errors: Maybe[Count32] = Field(
        default=None, description="Error turns in a row at which an agent stops."
    )
    max_error_rate: Maybe[Share] = Field(
        default=None, description="Share of error turns above which an agent stops. 0: at any error."
    )
    error_rate_window: Maybe[Count] = Field(
        default=None, description="Most recent turns over which the share of errors is measured."
    )
    max_step_loops: Maybe[Count32] = Field(
        default=None, description="Times that an agent is seen repeating its steps, at which it stops."
    )
    model_call_timeout_secs: Count = Field(
        default=900, description="Seconds that one attempt at a reply may take in all."
    )
    model_stream_idle_secs: Count = Field(
        default=60, description="Seconds without progress after which an attempt is given up."
    )
    max_model_retries: Annotated[int, whole(0, U32)] = Field(
        default=10, description="Retries of a model call after its first attempt."
    )
    model_retry_max_delay_secs: Count = Field(default=60, description="Longest wait between two attempts.")

    @property
    def any_ceiling(self) -> bool:
        """Whether anything but the host's clock bounds the run."""
        ceilings = (
            *(self.max_turns, self.max_runtime_secs, self.max_cost, self.max_consecutive_errors),
            *(self.max_error_rate, self.max_step_loops),
        )
        return any(ceiling is not None for ceiling in ceilings)

    def warnings(self, path: Path) -> list[Fault]:
        """What is legal here and can hardly be wanted; ``path`` is the block's own."""
        window, turns = self.error_rate_window, self.max_turns
        if window is None or turns is None or window < turns:
            return []
        reason = f"is not below maxTurns ({turns}): the turns run out before the error rate can stop anything"
        return [Fault((*path, PAIR[1]), reason)]


def halves(block: Mapping[str, Any], path: Path) -> list[Fault]:
    """A fault where one half of the error rate is given without the other. ``block`` is as read."""
    return [
        Fault((*path, missing), f"is missing: {given} means nothing without it")
        for given, missing in (PAIR, PAIR[::-1])
        if given in block and missing not in block
    ]
