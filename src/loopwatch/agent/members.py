"""The agents that a configuration declares, ready to be started: whom they ask, and what they may do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loopwatch.agent.caching import cache_fields
from loopwatch.agent.tools.offered import load, offered
from loopwatch.agent.tools.tool import Tool
from loopwatch.client.model import ModelClient
from loopwatch.clock import Clock
from loopwatch.config.capabilities import FilesParams, ProgramParams, ShellParams, SpawnParams
from loopwatch.config.defects import Defect
from loopwatch.config.document import Profile, Slot
from loopwatch.config.loading import Config
from loopwatch.config.suggestions import nearest
from loopwatch.errors import ConfigError, InputError
from loopwatch.records.summary import ExecutionMode

RESERVED = ("finish", "spawn", "shell", "read_file", "write_file", "edit_file", "list_files")
"""Names of the house's own tools."""


@dataclass(frozen=True, slots=True)
class Member:
    """One profile: its model and slot, the further tools it has, and fields of its own in each request."""

    profile: Profile
    model: str
    slot: Slot | None
    tools: tuple[Tool, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What models and records call it."""
        return self.profile.slug or self.profile.id

    @property
    def shell(self) -> ShellParams | None:
        """Its shell's settings; None where it has no shell. So are the three below."""
        found = self.profile.capability("shell")
        return found if isinstance(found, ShellParams) else None

    @property
    def has_files(self) -> bool:
        """Whether it may work on files."""
        return isinstance(self.profile.capability("files"), FilesParams)

    @property
    def spawn(self) -> SpawnParams | None:
        """What bounds its sub-agents."""
        found = self.profile.capability("spawn")
        return found if isinstance(found, SpawnParams) else None

    @property
    def programs(self) -> ProgramParams | None:
        """What its programs may use up; None where it calls tools instead."""
        found = self.profile.capability("responses-as-code")
        return found if isinstance(found, ProgramParams) else None

    @property
    def mode(self) -> ExecutionMode:
        """How it answers."""
        return "responses_as_code" if self.programs is not None else "tool_calling"

    def client(self, config: Config, clock: Clock | None = None) -> ModelClient:
        """Who asks its model. Raises InputError, SettingsError."""
        block, limits, slot = self.profile.loop_detection, config.limits, self.slot
        return ModelClient(
            self.model,
            base_url=slot.base_url if slot is not None else None,
            api_key_env=slot.api_key_env if slot is not None else None,
            loop_detection=block.settings() if block is not None else None,
            retry_with=block.retry_with if block is not None else None,
            generation_lookup=slot.generation_lookup if slot is not None else None,
            retries=limits.max_model_retries,
            idle_secs=limits.model_stream_idle_secs,
            call_timeout_secs=limits.model_call_timeout_secs,
            retry_max_delay_secs=limits.model_retry_max_delay_secs,
            clock=clock,
        )


def members_of(config: Config, tools: Sequence[Tool]) -> dict[str, Member]:
    """Every declared agent by its id. ``tools`` are the caller's own, which every agent has.

    Raises ConfigError with whatever a document can say that nothing here can carry out.
    """
    defects: list[Defect] = []
    every: dict[str, Member] = {}
    there = offered()
    for profile in config.document.agents:
        slot = config.document.slots.get(profile.model_slot or "")
        member = Member(profile, slot.model if slot is not None else profile.model_id or "", slot)
        found: list[Tool] = [*tools]
        for index, name in enumerate(profile.tools):
            try:
                if name not in there:
                    raise InputError(f"no installed package offers this tool{nearest(name, there)}")  # noqa: TRY301
                found.append(load(there[name]))
            except InputError as error:
                defects.append(_defect(profile, f"tools[{index}]", name, error))
        defects += _doubles(profile, found)
        fields: dict[str, Any] = dict(slot.request) if slot is not None else {}
        try:
            provider = member.client(config).provider
            if profile.prompt_cache_ttl is not None:
                fields |= cache_fields(profile.prompt_cache_ttl, provider=provider, model=member.model)
        except InputError as error:
            ttl = profile.prompt_cache_ttl
            defects.append(_defect(profile, "promptCacheTtl" if ttl else "", ttl, error))
        every[profile.id] = Member(profile, member.model, slot, tuple(found), fields)
    if defects:
        raise ConfigError(defects)
    return every


def _doubles(profile: Profile, tools: Sequence[Tool]) -> list[Defect]:
    """A defect for each tool whose name another has, or the house's own."""
    names = [tool.name for tool in tools]
    taken = {name for name in names if names.count(name) > 1 or name in RESERVED}
    reason = InputError("is the name of two tools: rename one of them")
    return [_defect(profile, "tools", name, reason) for name in sorted(taken)]


def _defect(profile: Profile, locus: str, value: str | None, error: InputError) -> Defect:
    shown = f'"{value}"' if value is not None else None
    return Defect(str(error), agent=profile.name, locus=locus, value=shown)
