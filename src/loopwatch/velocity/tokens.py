"""What a call weighs in the window.

All input, cached reads included, all output, reasoning included, and what was written to a cache. Cached
reads are what an agent that goes round re-sends, at a tenth of the price: a project may weigh them less.
"""


def weighed(fresh: int, cached: int, cached_weight: float = 1.0) -> int:
    """Tokens that the window counts: ``fresh`` in full, ``cached`` reads by their weight, rounded down."""
    return fresh + int(cached * cached_weight)
