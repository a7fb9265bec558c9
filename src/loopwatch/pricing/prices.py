"""What a reply cost: as the provider said, else at a project's own price, else at the published one."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from typing import Any, Literal, NamedTuple

from loopwatch.pricing.names import MOST_CHARS, forms, keys, places
from loopwatch.pricing.overrides import read_overrides
from loopwatch.pricing.price import MOST_NANO_USD, Price, in_force
from loopwatch.pricing.providers import LOCAL, canonical
from loopwatch.pricing.published import published
from loopwatch.records.money import NANO, nano_usd
from loopwatch.wire.usage import Usage

Source = Literal["reported", "override", "genai-prices"]

REMEMBERED = 4096
"""Pairs of a provider and a model whose prices are kept at hand: more than any one project asks."""


class Cost(NamedTuple):
    """A cost in nano-US-dollars and where it is from.

    ``listed`` is the entry that answered, None where the provider reported the cost. ``exact``: it is
    that of the very id that was asked for, not of the id without its date or the like.
    """

    nano_usd: int
    source: Source
    listed: str | None = None
    exact: bool = True


class Listing(NamedTuple):
    """The prices of one entry, the last that applies counting."""

    source: Source
    listed: str
    exact: bool
    prices: tuple[Price, ...]


class PriceTable:
    """Prices by provider and model. Deterministic: the same question has the same answer on any day.

    ``overrides`` is a project's own prices as ``overrides.read_overrides`` takes them; they raise
    ConfigError. Where a model has several spellings, an override of any of them comes before the
    published price.
    """

    def __init__(self, overrides: Mapping[str, Any] | None = None) -> None:
        self._overrides = read_overrides(overrides or {})
        self._listings = lru_cache(REMEMBERED)(self._look_up)

    def cost(
        self,
        usage: Usage | None,
        *,
        model: str | None,
        provider: str | None = None,
        at: datetime | None = None,
    ) -> int | None:
        """The cost in nano-US-dollars, None where it is not known; ``priced`` says more."""
        if usage is None:
            return None
        reported = _reported(usage.cost)
        if reported is not None:
            return reported
        found = self._in_force(model, provider, at, usage.input_tokens or 0)
        return None if found is None else found[1].cost(usage)

    def priced(
        self,
        usage: Usage | None,
        *,
        model: str | None,
        provider: str | None = None,
        at: datetime | None = None,
    ) -> Cost | None:
        """The cost and its source.

        ``model`` is the one that answered, where that is known, ``provider`` who was asked, in any
        spelling, and ``at`` when (a date without a zone is UTC; None: at the table's standing price).
        None without usage, without its input or its output, for a model without a price, and for a
        price that does not cover all of the usage. 0 only where the provider or the price says so.

        At the published price it is the standard service's: batches, priority and the provider's own
        tools, such as web search, are not in a usage. A provider that bills them reports the cost.
        """
        if usage is None:
            return None
        reported = _reported(usage.cost)
        if reported is not None:
            return Cost(reported, "reported")
        found = self._in_force(model, provider, at, usage.input_tokens or 0)
        if found is None:
            return None
        listing, price = found
        nano = price.cost(usage)
        return None if nano is None else Cost(nano, listing.source, listing.listed, listing.exact)

    def price(
        self,
        model: str | None,
        *,
        provider: str | None = None,
        at: datetime | None = None,
        input_tokens: int = 0,
    ) -> Price | None:
        """The price in force for a request with so many input tokens; None where there is none."""
        found = self._in_force(model, provider, at, input_tokens)
        return None if found is None else found[1]

    def _in_force(
        self, model: str | None, provider: str | None, at: datetime | None, input_tokens: int
    ) -> tuple[Listing, Price] | None:
        if not model or len(model) > MOST_CHARS or len(provider or "") > MOST_CHARS:
            return None
        for listing in self._listings(model, provider):
            price = in_force(listing.prices, at, input_tokens)
            if price is not None:
                return listing, price
        return None

    def _look_up(self, model: str, provider: str | None) -> tuple[Listing, ...]:
        """The project's entry, then the published one, as far as there are any."""
        seller = canonical(provider)
        whole = next(iter(forms(model)), "")
        every: list[Listing] = []
        key = next((one for one in keys(model, seller) if one in self._overrides), None)
        if key is not None:
            exact = key.endswith(whole) or whole.endswith(f"/{key}")
            every.append(Listing("override", key, exact, self._overrides[key]))
        for place, name in places(model, seller) if seller != LOCAL else ():
            found = published(place, name)
            if found is not None:
                every.append(Listing("genai-prices", found[0], whole.endswith(name), found[1]))
                break
        return tuple(every)


def _reported(cost: float | None) -> int | None:
    """A provider's own figure; None where it is none."""
    if cost is None or not isfinite(cost) or not 0 <= cost <= MOST_NANO_USD / NANO:
        return None
    return nano_usd(Decimal(str(cost)))
