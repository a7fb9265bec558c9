"""Which implementation of the rules runs."""

from typing import Literal

Engine = Literal["python"]
ENGINE: Engine = "python"
"""This package's own; the native twin, once it is there, is chosen here."""
