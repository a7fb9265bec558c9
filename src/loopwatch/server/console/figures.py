"""What people type into forms as what settings are: numbers where they are some, else left for the judge."""

import math
from typing import Any

from loopwatch.config.defects import Defect
from loopwatch.errors import ConfigError


def figure(text: str) -> Any:
    """A number, thousands apart or not; the text itself where it is none; None where nothing was typed."""
    plain = text.replace(",", "").replace("_", "").replace(" ", "").removeprefix("$")
    if not plain:
        return None
    try:
        read = float(plain)
    except ValueError:
        return text
    if not math.isfinite(read):
        return text
    return int(plain) if plain.lstrip("+-").isdecimal() else read


def by_locus(error: ConfigError) -> dict[str, str]:
    """One sentence a field: the reasons by where they are."""
    found: dict[str, str] = {}
    for defect in error.defects:
        found.setdefault(defect.locus, said(defect))
    return found


def said(defect: Defect) -> str:
    """A defect beside its field: the value is there to see."""
    return f"{defect.reason[:1].upper()}{defect.reason[1:]}."


def typed(value: float | None) -> str:
    """A number as it stands in a field."""
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}"
