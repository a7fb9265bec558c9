"""The ``params`` of each capability: what it may be told, and what it does untold.

``document`` takes a capability's params as any object; ``references`` judges them by these blocks, so that
a fault in one is told with all the others.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import ConfigDict, Field

from loopwatch.config.fields import Block
from loopwatch.config.numbers import whole

Seconds = Annotated[int, whole(1, 86_400)]
Megabytes = Annotated[int, whole(64, 1_048_576)]


class ShellParams(Block):
    """Commands in the working folder."""

    model_config = ConfigDict(title="Shell")

    timeout_secs: Seconds = Field(default=120, description="Seconds that a command may take.")


class FilesParams(Block):
    """Files of the working folder; there is nothing to set."""

    model_config = ConfigDict(title="Files")


class SpawnParams(Block):
    """Sub-agents."""

    model_config = ConfigDict(title="Spawn")

    max_agents: Annotated[int, whole(1, 10_000)] = Field(
        default=64, description="Sub-agents that the whole run may start."
    )
    max_depth: Annotated[int, whole(1, 64)] = Field(
        default=4, description="How deep sub-agents may start sub-agents; those of the root are at depth 1."
    )


class ProgramParams(Block):
    """Programs of a model that answers in code, and what they may use up."""

    model_config = ConfigDict(title="Responses as code")

    timeout_secs: Seconds = Field(
        default=120, description="Seconds that a program may take, those of its tool calls not counted."
    )
    cpu_secs: Seconds = Field(default=30, description="Seconds of processor time.")
    memory_mb: Megabytes = Field(default=512, description="Megabytes of memory.")
    file_mb: Annotated[int, whole(1, 65_536)] = Field(
        default=16, description="Megabytes of the largest file, and a quarter of all it may keep."
    )
    network: bool = Field(default=False, description="Whether it may use the network.")


PARAMS: Mapping[str, type[Block]] = {
    "shell": ShellParams,
    "files": FilesParams,
    "spawn": SpawnParams,
    "responses-as-code": ProgramParams,
}
"""The block of each capability's params, by its id."""
