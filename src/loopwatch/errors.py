"""Every error that loopwatch raises on purpose.

::

    LoopwatchError
    ├─ SettingsError      a setting that no detector can run on (also a ValueError)
    ├─ InputError         a file, record or argument that cannot be read (also a ValueError)
    ├─ ConfigError        a configuration that is refused (also a ValueError): .defects, all of them
    └─ LoopTripped        a guarded stream became a loop: .trip, .text

Messages are one line and say what to change. None carries text of a prompt or a reply;
``LoopTripped.text`` is an attribute, never part of the message.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loopwatch.config.defects import Defect
    from loopwatch.detect.trip import Trip


class LoopwatchError(Exception):
    """The root of the tree: ``except LoopwatchError`` catches whatever this package raises on purpose."""


class SettingsError(LoopwatchError, ValueError):
    """A setting that no detector can run on; the message names the setting and what it may be."""


class InputError(LoopwatchError, ValueError):
    """A file, a record or an argument that cannot be read as what it should be."""


class ConfigError(LoopwatchError, ValueError):
    """A configuration that is refused; ``defects`` has every one of the document, in its order."""

    def __init__(self, defects: "Sequence[Defect]") -> None:
        """Keep the defects; the message names all of them, in one line."""
        lines = [str(defect) for defect in defects]
        count = f"the configuration has {len(lines)} defects: " if len(lines) > 1 else ""
        super().__init__(count + "; ".join(lines))
        self.defects = tuple(defects)


class LoopTripped(LoopwatchError):
    """A guarded stream became a loop and was closed.

    ``trip`` is the verdict, ``text`` all that was received, the loop's beginning included;
    ``sound_text`` ends where the loop began.
    """

    def __init__(self, trip: "Trip", text: str) -> None:
        """Keep the verdict and the text; the message has the verdict's sentence alone."""
        super().__init__(f"model looped: {trip}")
        self.trip = trip
        self.text = text

    @property
    def sound_text(self) -> str:
        """The text before the onset; all of it where the rule knows no onset."""
        return self.text if self.trip.onset is None else self.text[: self.trip.onset]
