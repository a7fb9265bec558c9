"""Whether somebody is looking."""

from typing import TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Whether ``stream`` is a terminal; a standard stream that was closed at the start is None."""
    return stream is not None and stream.isatty()
