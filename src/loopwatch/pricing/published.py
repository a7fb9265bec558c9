"""The published prices: genai-prices' table as it was installed.

It is imported by the first look-up, not before: that takes a fifth of a second and brings pydantic and
an HTTP client along. Only its data are read. Nothing here fetches newer ones, and what a program may
have fetched for itself does not change our figures.

genai-prices recognises many models by how their ids begin. Those rules are not followed here, for they
also price models that nobody has seen yet; the text of a rule counts as an id of its own.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from loopwatch.pricing.price import Price
from loopwatch.pricing.providers import canonical

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, Provider

FREE = ":free"
"""Where a model has no price at all it costs nothing if its id says so; else its price is not known."""

_MEDIA = re.compile(r"^(?:cache|input|output)_(?:audio|image|video)_")


def published(provider: str, name: str) -> tuple[str, tuple[Price, ...]] | None:
    """The id that is listed and its prices, the last that applies counting; None where there is none.

    ``provider`` is canonical, ``name`` in lower case. Providers that sell other makers' models at those
    makers' prices are looked up there too.
    """
    seller = _sellers().get(provider)
    if seller is None:
        return None
    for one in (provider, *(seller.fallback_model_providers or ())):
        model = _catalogue(one).get(name)
        if model is not None:
            prices = _prices(model)
            return (f"{one}/{model.id}", prices) if prices else None
    return None


@cache
def _sellers() -> "dict[str, Provider]":
    from genai_prices.data import providers

    return {canonical(provider.id) or provider.id: provider for provider in providers}


@cache  # as many as there are providers
def _catalogue(provider: str) -> "dict[str, ModelInfo]":
    """A provider's models by each of their ids; an id that is spelt out before one of a rule."""
    listed: dict[str, ModelInfo] = {}
    ruled: dict[str, ModelInfo] = {}
    for model in _sellers()[provider].models:
        for text, whole in ((model.id.lower(), False), *_texts(model.match)):
            if model.is_match(text):
                (listed if whole else ruled).setdefault(text, model)
    return ruled | listed


def _texts(clause: Any) -> Iterator[tuple[str, bool]]:
    """The texts in a rule, each with whether it is the whole id. A pattern has none."""
    for kind, value in vars(clause).items():
        if isinstance(value, list):
            for part in value:
                yield from _texts(part)
        elif kind != "regex":
            yield value.lower(), kind == "equals"


def _prices(model: "ModelInfo") -> tuple[Price, ...]:
    """All prices of a model. What holds at any other time stands first and so holds always."""
    from genai_prices.types import ModelPrice, StartDateConstraint, TimeOfDateConstraint

    if isinstance(model.prices, ModelPrice):
        return tuple(_tiers(model.id, model.prices, {}))
    every: list[Price] = []
    for index, one in enumerate(model.prices):
        when: dict[str, Any] = {}
        if index and isinstance(one.constraint, StartDateConstraint):
            when = {"since": one.constraint.start_date}
        elif index and isinstance(one.constraint, TimeOfDateConstraint):
            bounds = (one.constraint.start_time, one.constraint.end_time)
            if any(bound.utcoffset() for bound in bounds):
                return ()  # no such hours are listed; a wrong price would be worse than none
            when = {"hours": tuple(bound.replace(tzinfo=None) for bound in bounds)}
        every += _tiers(model.id, one.prices, when)
    return tuple(every)


def _tiers(name: str, prices: "ModelPrice", when: dict[str, Any]) -> Iterator[Price]:
    """One price for each number of input tokens above which another holds."""
    rates = {key: value for key, value in vars(prices).items() if value is not None}
    if not rates and name.lower().endswith(FREE):
        rates = {"input_mtok": Decimal(0)}
    if "input_mtok" not in rates:
        return
    starts = {tier.start for rate in rates.values() for tier in getattr(rate, "tiers", ())}
    for above in sorted({0, *starts}):
        at = {key: _rate(value, above) for key, value in rates.items()}
        yield Price(
            input=at["input_mtok"],
            output=at.get("output_mtok", Decimal(0)),  # an embedding has no output
            cache_read=at.get("cache_read_mtok"),
            cache_write=at.get("cache_write_mtok", at.get("cache_write_5m_mtok")),
            cache_write_1h=at.get("cache_write_1h_mtok"),
            reasoning=at.get("output_reasoning_mtok"),
            request=at.get("requests_kcount", Decimal(0)) / 1000,
            above=above,
            modal=any(_MEDIA.match(key) for key in rates),
            **when,
        )


def _rate(rate: Any, above: int) -> Decimal:
    """The rate for more than ``above`` input tokens."""
    price: Decimal = getattr(rate, "base", rate)
    for tier in getattr(rate, "tiers", ()):  # ascending
        if tier.start <= above:
            price = tier.price
    return price


def ids(provider: str) -> list[str]:
    """The ids of a provider's models, each under the one that it is listed by, in lower case."""
    seller = _sellers().get(provider)
    return [] if seller is None else sorted({model.id.lower() for model in seller.models})
