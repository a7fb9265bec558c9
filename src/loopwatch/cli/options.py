"""Options that several commands have."""

from typing import TYPE_CHECKING, cast

import click

from loopwatch.detect.settings import PRESETS

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


def split_channels(names: str) -> "tuple[Channel, ...]":
    """The channels that an option names; whoever builds the settings refuses unknown ones."""
    return cast("tuple[Channel, ...]", tuple(names.replace(" ", "").split(",")))
