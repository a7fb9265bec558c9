"""The models of a configuration document: agents, what each may do, and the models they ask.

The first agent is the root, the one that a run starts. Documents are written in camelCase and read in
snake_case; ``fields.Block`` has the one alias generator.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from loopwatch.config.capabilities import PARAMS
from loopwatch.config.fields import SOME, BaseUrl, Block, Items, Maybe, Name, Names, Slug, Variable
from loopwatch.config.limits import Limits
from loopwatch.config.loop_detection import LoopDetectionBlock, own_fields
from loopwatch.config.steps import StepsBlock
from loopwatch.steps.settings import StepSettings
from loopwatch.wire.openai import FIXED

CapabilityId = Literal["shell", "files", "spawn", "responses-as-code"]


class Capability(Block):
    """One thing that an agent may do."""

    model_config = ConfigDict(title="Capability")

    id: CapabilityId = Field(description="Which capability.")
    enabled: bool = Field(default=True, description="Whether the agent has it.")
    implementation: Maybe[Name] = Field(
        default=None, description="Which of its implementations, if it has several."
    )
    params: dict[str, Any] = Field(default_factory=dict, description="Settings of the capability's own.")

    @property
    def settings(self) -> Block:
        """The params, read by the block of their capability."""
        return PARAMS[self.id].model_validate(self.params)


class Profile(Block):
    """One agent: the model it asks and what it may do."""

    model_config = ConfigDict(
        title="Agent",
        json_schema_extra={"oneOf": [{"required": ["modelSlot"]}, {"required": ["modelId"]}]},
    )

    id: Name = Field(description="What other parts of the document call the agent. Unique.")
    name: Name = Field(description="The agent's name for people; messages begin with it.")
    slug: Maybe[Slug] = Field(default=None, description="The agent's name for models and records. Unique.")
    model_slot: Maybe[Name] = Field(default=None, description="The slot that holds the agent's model.")
    model_id: Maybe[Name] = Field(default=None, description="The agent's model itself, instead of a slot.")
    prompt_cache_ttl: Maybe[Name] = Field(
        default=None,
        description="Lifetime of the prompt cache as the provider spells it; absent: its standard.",
    )
    loop_detection: Maybe[LoopDetectionBlock] = Field(
        default=None, description="How the agent's replies are watched for loops; absent: not at all."
    )
    steps: Maybe[StepsBlock] = Field(
        default=None, description="How the agent's steps are watched; absent: by the preset balanced."
    )
    capabilities: Items[Capability] = Field(default=(), description="What the agent may do.")
    tools: Names[Name] = Field(
        default=(), description="Further tools it has, by the names under which packages offer them."
    )
    subagents: Names[Name] = Field(default=(), description="Ids of the agents that this one may start.")
    custom_instructions: Maybe[Name] = Field(
        default=None, description="Text that is added to its system prompt."
    )

    def capability(self, id: CapabilityId) -> Block | None:  # noqa: A002  what the document calls it
        """The settings of a capability; None where the agent has it not."""
        found = (one for one in self.capabilities if one.id == id and one.enabled)
        return next((one.settings for one in found), None)

    @property
    def step_settings(self) -> StepSettings:
        """What the monitor of this agent's steps runs on: ``StepMonitor(profile.step_settings)``."""
        return (self.steps or StepsBlock()).settings()


class Slot(Block):
    """A model, and where it is asked."""

    model_config = ConfigDict(title="Model slot")

    model: Name = Field(description="The model's id, as its provider spells it.")
    base_url: Maybe[BaseUrl] = Field(
        default=None, description="Where its API begins; absent: $OPENAI_BASE_URL, else OpenAI's own."
    )
    api_key_env: Maybe[Variable] = Field(
        default=None, description="The environment variable that holds the API key, never the key itself."
    )
    generation_lookup: Maybe[bool] = Field(
        default=None,
        description="Whether the price of an abandoned reply can be looked up; absent: only at OpenRouter.",
    )
    request: Annotated[dict[str, Any], own_fields("each turn asks its own question")] = Field(
        default_factory=dict,
        description="Further fields of each request, such as temperature or max_tokens.",
        json_schema_extra={"propertyNames": {"not": {"enum": list(FIXED)}}},
    )


class Document(Block):
    """What a run is launched on."""

    model_config = ConfigDict(title="loopwatch configuration")

    editor_schema: Maybe[str] = Field(
        default=None, alias="$schema", description="Where an editor finds this schema; not read otherwise."
    )
    preset: Maybe[Name] = Field(default=None, description="A label that is recorded; it arms nothing.")
    agents: Annotated[Items[Profile], *SOME] = Field(
        description="The agents; the first is the root, which the run starts."
    )
    slots: dict[str, Slot] = Field(
        default_factory=dict,
        description="The models by the names of their slots.",
        json_schema_extra={"propertyNames": {"pattern": r"\S"}},
    )
    limits: Limits

    @model_validator(mode="before")
    @classmethod
    def _limits(cls, document: Any) -> Any:
        """Judge absent limits as empty ones, so that each limit without a default is asked for by name."""
        if isinstance(document, dict) and "limits" not in document:
            return {**document, "limits": {}}
        return document
