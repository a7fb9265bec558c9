"""Which implementation of the rules runs: this package's own, or its twin in Rust.

The twin, the distribution ``loopwatch-native``, is used wherever it is installed; its verdicts are the
same. ``LOOPWATCH_ENGINE`` (``python`` or ``native``) chooses by hand. Everybody who runs a detector takes
``LoopDetector``, ``judge`` and ``judge_all`` from here; importing this module raises SettingsError where
the environment asks for what is not there.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from loopwatch.errors import SettingsError, one_line

Engine = Literal["python", "native"]

VARIABLE = "LOOPWATCH_ENGINE"

RULES = 1
"""The revision of the rules' meaning, the same number in ``native/src/lib.rs``: raised in both whenever a
verdict changes, so that a twin of another version is never taken for ours."""


class Choice(NamedTuple):
    """The engine that runs, and why it is not the other one, in words."""

    engine: Engine
    reason: str


def find_twin() -> Any:
    """The twin's module. Raises ImportError, saying what to do, where it cannot be used."""
    try:
        twin = import_module("loopwatch_native")
    except ModuleNotFoundError:
        raise ImportError("loopwatch-native is not installed: pip install loopwatch-native") from None
    except ImportError as error:
        raise ImportError(f"loopwatch-native cannot be loaded: {one_line(str(error))}") from None
    if twin.RULES != RULES:
        raise ImportError("loopwatch-native is of another version: install it in that of loopwatch")
    return twin


def choose(wanted: str | None) -> Choice:
    """The engine for what ``LOOPWATCH_ENGINE`` says. Raises SettingsError where that cannot be."""
    if wanted and wanted not in get_args(Engine):
        raise SettingsError(f"{VARIABLE} is {wanted!r}: it may be {' or '.join(get_args(Engine))}")
    if wanted == "python":
        return Choice("python", f"{VARIABLE} asks for it")
    try:
        find_twin()
    except ImportError as error:
        if wanted:
            raise SettingsError(f"{VARIABLE} is {wanted!r}, but {error}") from None
        return Choice("python", str(error))
    return Choice("native", f"{VARIABLE}=python leaves it aside")


ENGINE, REASON = choose(os.environ.get(VARIABLE))

if TYPE_CHECKING or ENGINE == "python":
    from loopwatch.detect.detector import LoopDetector
    from loopwatch.detect.reply import judge_all
else:
    from loopwatch.detect.native import LoopDetector, judge_all

__all__ = ["ENGINE", "REASON", "RULES", "VARIABLE", "Engine", "LoopDetector", "choose", "judge_all"]
