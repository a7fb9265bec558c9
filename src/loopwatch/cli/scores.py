"""What both benches print below their tables."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

R = TypeVar("R", bound=str)

LISTS = (("Missed", "missed_ids"), ("Early", "early_ids"), ("False trips", "false_ids"))


def print_found(console: "Console", rules: Mapping[R, int], figures: Mapping[str, object]) -> None:
    """Which rules caught how many, and the ids of what was not as it should be."""
    caught = ", ".join(f"{rule} {count}" for rule, count in rules.items()) or "none"
    console.print(f"Caught by rule: {caught}")
    for title, key in LISTS:
        ids = figures[key]
        if isinstance(ids, list) and ids:
            console.print(f"{title}: {', '.join(ids)}")
