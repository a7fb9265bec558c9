"""The detectors that read along with one streamed reply: one for each channel that is watched."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from loopwatch.detect.engine import LoopDetector
from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import SettingsError
from loopwatch.wire.pieces import Channel, Piece

if TYPE_CHECKING:
    from loopwatch.detect.trip import Trip


def settings_of(guard: "LoopDetection | str | None") -> LoopDetection | None:
    """The settings that ``guard`` stands for; None where nothing is to be watched. Raises SettingsError."""
    settings = LoopDetection.preset(guard) if isinstance(guard, str) else guard
    if not isinstance(settings, LoopDetection | None):
        raise SettingsError(
            f"guard is {guard!r}: give a preset's name, such as 'balanced', or a LoopDetection"
        )
    return settings if settings is not None and settings.enabled else None


class QuietCut(Exception):
    """Ours alone: the reply is cut, and its reader is to see an end."""


class Guard:
    """Reads pieces; ``trip`` is the verdict once there is one, ``channel`` where it was seen."""

    __slots__ = ("_detectors", "channel", "shadow", "trip")

    def __init__(self, settings: LoopDetection) -> None:
        self.shadow = settings.shadow
        self.trip: Trip | None = None
        self.channel: Channel = "content"
        self._detectors = {channel: LoopDetector(settings) for channel in settings.channels}

    def read(self, pieces: Iterable[Piece]) -> bool:
        """Take the next pieces; whether the reply is to be cut now."""
        if self.trip is not None:
            return False
        for piece in pieces:
            detector = self._detectors.get(piece.channel)
            trip = None if detector is None or piece.reply else detector.push(piece.text)
            if trip is not None:
                self.trip, self.channel = trip, piece.channel
                return not self.shadow
        return False
