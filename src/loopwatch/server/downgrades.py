"""Which cheaper model could stand in for another: of the same maker and family, for the same kind of task.

Read from the published prices, so that it knows whatever they know. The nearest relative comes first: the
model whose name has the most in common (``gpt-4o`` and ``gpt-4o-mini``), of those the dearest (one step
down, not all the way), of those the latest.
"""

import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from loopwatch.pricing.prices import PriceTable
from loopwatch.pricing.published import ids

MOST_SHARE = Decimal("0.75")
"""Share of the price that a stand-in may cost, of input and of output."""
MAKERS = {"gpt": "openai", "claude": "anthropic", "gemini": "google", "kimi": "moonshotai", "grok": "x-ai"}
"""The families that have members of several sizes, by how their names begin, and who makes them."""

_FAMILY = re.compile(r"[a-z]+")
_OTHER_TASK = re.compile(
    r"audio|realtime|live|tts|transcribe|image|vision|video|search|embedding|codex|code|robotics|banana|omni"
    r"|instruct|guard|oss|cyber|rosalind|deep-research|computer|chat|thinking|preview|latest|exp|ft[:-]|[@:]"
    r"|-$|\d{4}"
)
"""What marks a model for something else than text, an unfinished one, or one pinned to a date."""


class _Relative(NamedTuple):
    """A model that could stand in, in the order in which it would be preferred, the last the best."""

    parts_in_common: int
    output_price: Decimal
    version: tuple[int, ...]
    name: str


def cheaper(model: str, table: PriceTable) -> str | None:
    """The stand-in for ``model``; None where there is none, or its price is not known."""
    family = _FAMILY.match(model.lower())
    maker = MAKERS.get(family.group()) if family else None
    price = table.price(model, provider=maker) if maker else None
    if family is None or maker is None or price is None:
        return None
    relatives = [
        _Relative(_common(model.lower(), name), other.output, _version(name), name)
        for name in _candidates(maker, family.group())
        if (other := table.price(name, provider=maker)) is not None
        and other.input <= price.input * MOST_SHARE
        and other.output <= price.output * MOST_SHARE
    ]
    return max(relatives).name if relatives else None


@lru_cache(maxsize=16)
def _candidates(maker: str, family: str) -> tuple[str, ...]:
    every = (name for name in ids(maker) if name.startswith(family))
    return tuple(name for name in every if _OTHER_TASK.search(name) is None)


def _common(one: str, other: str) -> int:
    """How many parts of two names are the same, from their beginning on."""
    count = 0
    for mine, theirs in zip(re.split(r"[-.]", one), re.split(r"[-.]", other), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", name))
