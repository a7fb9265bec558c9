"""What a rule remembers, bounded whatever the run holds."""

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def remember(memory: OrderedDict[K, V], key: K, value: V, most: int) -> V:
    """Note ``value`` as the latest; beyond ``most`` entries those not noted for longest are forgotten."""
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > most:
        memory.popitem(last=False)
    return value
