"""Tokens and money of a run, in the classes in which providers bill them.

What was not reported stays unreported: None, never 0. Sums of money are whole nano-US-dollars; in records
they are dollars, which ``money`` reads back to the very number.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from loopwatch.records.money import nano_usd, usd
from loopwatch.wire.usage import Usage, split_output

Figure = Literal["work", "total"]
"""Part of the work, or only of the total: of a reply that was paid for and thrown away."""


class Tokens(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Tokens by class, none of them in two classes. ``cache_write`` is input that was written to a cache."""

    uncached_input: int | None = None
    cached_input: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None

    def __add__(self, other: "Tokens") -> "Tokens":
        """Both together; a class that neither reported stays unreported."""
        return Tokens(
            uncached_input=added(self.uncached_input, other.uncached_input),
            cached_input=added(self.cached_input, other.cached_input),
            cache_write=added(self.cache_write, other.cache_write),
            output=added(self.output, other.output),
            reasoning=added(self.reasoning, other.reasoning),
        )


class Cost(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """US dollars: ``actual`` as the provider reported, ``comparable`` at list price where it did not."""

    comparable: float | None = None
    actual: float | None = None

    @property
    def nano(self) -> int | None:
        """The figure that ceilings and sums use: comparable, else actual."""
        figure = self.comparable if self.comparable is not None else self.actual
        return None if figure is None else nano_usd(figure)

    def __add__(self, other: "Cost") -> "Cost":
        """Both together."""
        return Cost(
            comparable=_dollars(self.comparable, other.comparable), actual=_dollars(self.actual, other.actual)
        )


class Spending(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag="usage"):
    """What one reply was billed for: the ``usage`` event.

    All figures together are the total, those of ``work`` the work. ``reconciled`` where the provider
    reported more reasoning than the reply leaves room for, and the split is ours. ``wire`` has the
    provider's own figures.
    """

    profile_id: str
    model_id: str
    provider: str | None = None
    figure: Figure
    tokens: Tokens
    cost: Cost
    reconciled: bool = False
    wire: Mapping[str, Any] = {}


def tokens_of(usage: Usage, estimate: int = 0) -> tuple[Tokens, bool]:
    """The tokens of a reply that is about ``estimate`` tokens long, and whether its output was reconciled."""
    split = split_output(usage, estimate)
    tokens = Tokens(
        uncached_input=usage.uncached_input_tokens,
        cached_input=usage.cache_read_input_tokens,
        cache_write=usage.cache_creation_input_tokens,
        output=None if split is None else split.answer,
        reasoning=None if split is None or usage.reasoning_output_tokens is None else split.reasoning,
    )
    return tokens, split is not None and split.reconciled


def added(one: int | None, other: int | None) -> int | None:
    """The sum of those that are known; None where neither is."""
    return other if one is None else one if other is None else one + other


def _dollars(one: float | None, other: float | None) -> float | None:
    nano = added(None if one is None else nano_usd(one), None if other is None else nano_usd(other))
    return None if nano is None else usd(nano)
