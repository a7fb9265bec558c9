"""The ``loopDetection`` block of an agent: its declaration table, and the settings it becomes.

The table is the first seed's. Absent or ``enabled: false`` is off. An armed detector writes all five
knobs, because the rule trips on the relationship between them: a detector armed on figures nobody chose
measures the product rather than the model. A knob that is written is judged whether or not the
detector is armed; only absence is excused. What can be meant runs as declared, with a warning where it
can hardly be wanted.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from loopwatch.config.defects import Fault, Path
from loopwatch.config.fields import SOME, Block, Maybe, Names
from loopwatch.config.numbers import U32, refuse, whole
from loopwatch.detect.settings import Channel, LoopDetection
from loopwatch.detect.trip import RULES, Rule
from loopwatch.wire.openai import FIXED

SEED = LoopDetection()
FIGURES = {
    "windowWords": SEED.window_words,
    "repeatThreshold": SEED.repeat_threshold,
    "minOffenders": SEED.min_offenders,
    "minSaturatedRun": SEED.min_saturated_run,
    "maxResponseChars": SEED.max_response_chars,
}
"""The five knobs in the order of the table, with the figures an editor fills in when one is armed."""

FurtherRule = Literal["cycle", "phrases", "blank"]


def own_fields(why: str) -> AfterValidator:
    """Fields of a request that a document may choose: none of those that are ours, for the reason given."""

    def check(fields: dict[str, Any]) -> dict[str, Any]:
        reserved = [name for name in FIXED if name in fields]
        if reserved:
            raise refuse(f"must leave {reserved[0]} alone: {why}, and every reply streams")
        return fields

    return AfterValidator(check)


class LoopDetectionBlock(Block):
    """Whether the agent's replies are watched for loops, and the figures they are judged by."""

    model_config = ConfigDict(
        title="Loop detection",
        json_schema_extra={
            "if": {"properties": {"enabled": {"const": True}}, "required": ["enabled"]},
            "then": {"required": list(FIGURES)},
        },
    )

    enabled: bool = Field(
        default=False, description="Whether the detector runs. Armed, it needs all five knobs."
    )
    window_words: Maybe[Annotated[int, whole(1)]] = Field(
        default=None,
        examples=[SEED.window_words],
        description="The lookback in words, and the least that is read before the repetition rule can trip.",
    )
    repeat_threshold: Maybe[Annotated[int, whole(1, U32)]] = Field(
        default=None,
        examples=[SEED.repeat_threshold],
        description="A word that occurs more often than this in the window offends.",
    )
    min_offenders: Maybe[Annotated[int, whole(1)]] = Field(
        default=None,
        examples=[SEED.min_offenders],
        description="Distinct offending words that saturate the window.",
    )
    min_saturated_run: Maybe[Annotated[int, whole(0)]] = Field(
        default=None,
        examples=[SEED.min_saturated_run],
        description="Consecutive words that must arrive while the window is saturated. 0: none.",
    )
    max_response_chars: Maybe[Annotated[int, whole(0)]] = Field(
        default=None,
        examples=[SEED.max_response_chars],
        description="A reply longer than this, in characters, is abandoned. 0: no ceiling.",
    )
    rules: Names[FurtherRule] = Field(
        default=(),
        description="Further rules beside the repetition rule and the ceiling: cycle sees exact repetition,"
        " phrases recycled wording, blank white space without end.",
    )
    channels: Annotated[Names[Channel], *SOME] = Field(
        default=SEED.channels, description="The channels of a reply that are watched, each by itself."
    )
    retry_with: Annotated[dict[str, Any], own_fields("a retry asks the same question")] = Field(
        default_factory=dict,
        description="Request fields that the retry after a loop overrides, such as temperature.",
        json_schema_extra={"propertyNames": {"not": {"enum": list(FIXED)}}},
    )
    stop_on_same_loop: bool = Field(
        default=False, description="Whether a second loop at the same place ends the retries."
    )
    shadow: bool = Field(default=False, description="Record what would trip, and abandon nothing.")

    def settings(self) -> LoopDetection | None:
        """What the detector runs on; None when it is off."""
        if not self.enabled:
            return None
        further: tuple[Rule, ...] = tuple(rule for rule in RULES if rule in self.rules)
        knobs = self.model_dump(include={*_KNOBS})
        return LoopDetection(
            **knobs,
            rules=("words", *further, "length"),
            channels=self.channels,
            stop_on_same_loop=self.stop_on_same_loop,
            shadow=self.shadow,
        )

    def warnings(self, path: Path) -> list[Fault]:
        """What is legal here and can hardly be wanted; ``path`` is the block's own."""
        if "enabled" not in self.model_fields_set:
            return [Fault((*path, "enabled"), "is missing, so the detector is off: write true or false")]
        window, offenders = self.window_words or 0, self.min_offenders or 0
        if not self.enabled or offenders <= window:
            return []
        others = [*self.rules, *(["the length backstop"] if self.max_response_chars else [])]
        left = f"only {' and '.join(others)} can" if others else "nothing can"
        reason = f"a window of {window} words (windowWords) never holds that many different ones: {left} fire"
        return [Fault((*path, "minOffenders"), reason)]


_KNOBS = [name for name, info in LoopDetectionBlock.model_fields.items() if info.alias in FIGURES]


def unsaid(block: Mapping[str, Any], path: Path) -> list[Fault]:
    """A fault for each knob that an armed block leaves out. ``block`` is as read, not yet judged."""
    if block.get("enabled") is not True:
        return []
    return [
        Fault((*path, knob), f"is missing: an armed detector writes all five knobs (for example {figure})")
        for knob, figure in FIGURES.items()
        if knob not in block
    ]
