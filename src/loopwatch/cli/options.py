"""Options that several commands have, and the settings they make."""

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import click

from loopwatch.detect.settings import PRESETS, LoopDetection

if TYPE_CHECKING:
    from loopwatch.detect.settings import Channel

preset = click.option(
    "--preset", type=click.Choice(PRESETS), default="balanced", show_default=True, help="How patient to be."
)
channels = click.option(
    "--channels",
    default="content",
    show_default=True,
    metavar="NAMES",
    help="What to read of a reply: content, reasoning, tools; comma-separated.",
)


def settings(preset: str, channels: str) -> LoopDetection:
    """The settings that both options make. Raises SettingsError for an unknown channel."""
    names = cast("tuple[Channel, ...]", tuple(channels.replace(" ", "").split(",")))
    return replace(LoopDetection.preset(preset), channels=names)
