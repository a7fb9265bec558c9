"""The ``steps`` block of an agent: how patient the monitor is that reads the agent's steps.

A monitor that only watches costs nothing and ends nothing, so it runs unless it is switched off; what ends
a run is ``limits.maxStepLoops``. Figures are those of ``loopwatch.steps.settings``, each by its own name.
"""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from loopwatch.config.fields import Block, Name, Names
from loopwatch.config.numbers import refuse, whole
from loopwatch.steps.settings import COUNTS, LEAST, StepPreset, StepSettings

SPELT = {to_camel(name): name for name in COUNTS}
"""The figures that may be set, as documents and as settings spell them."""


def _known(counts: dict[str, int]) -> dict[str, int]:
    unknown = [name for name in counts if name not in SPELT]
    if unknown:
        raise refuse(f"must not hold {unknown[0]!r}: the figures are {', '.join(SPELT)}")
    return counts


class StepsBlock(Block):
    """How the agent's steps are watched for going in circles."""

    model_config = ConfigDict(title="Steps")

    enabled: bool = Field(default=True, description="Whether the agent's steps are watched.")
    preset: StepPreset = Field(
        default="balanced",
        description="How patient the monitor is: balanced flags no legitimate run of the corpus,"
        " eager gives up about a third sooner.",
    )
    counts: Annotated[dict[str, Annotated[int, whole(LEAST)]], AfterValidator(_known)] = Field(
        default_factory=dict,
        description="Figures in place of the preset's, such as firm or waiting.",
        json_schema_extra={"propertyNames": {"enum": list(SPELT)}},
    )
    waiting_tools: Names[Name] = Field(
        default=(), description="Tools whose unchanged answer is never a loop, however often it comes."
    )
    read_texts: bool = Field(
        default=True, description="Whether what the agent says is read for loops of its own."
    )

    def settings(self) -> StepSettings:
        """What a ``StepMonitor`` runs on."""
        given: dict[str, Any] = {SPELT[name]: count for name, count in self.counts.items()}
        return replace(
            StepSettings.preset(self.preset),
            **given,
            enabled=self.enabled,
            waiting_tools=frozenset(self.waiting_tools),
            read_texts=self.read_texts,
        )
