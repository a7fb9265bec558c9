"""Figures that an application may set: ceilings, prices, lengths of time."""

import math

from loopwatch.errors import SettingsError


def is_figure(value: object) -> bool:
    """Whether it is a number from 0 on that has an end; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def require(name: str, value: object, *, zero: bool = True) -> None:
    """Raise SettingsError, which names the setting, unless ``value`` is a figure; ``zero``: 0 is one too."""
    if not is_figure(value) or (value == 0 and not zero):
        raise SettingsError(f"{name} is {value!r}: it must be a number {'from 0 on' if zero else 'above 0'}")
