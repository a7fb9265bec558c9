"""A project's own prices: read exactly as written, or refused with every defect at once.

::

    {"gpt-4o": {"input": 2.5, "output": 10, "cacheRead": 1.25},
     "openrouter/qwen/qwen3": {"input": 0.2, "output": 0.6},
     "my-model": [{"input": 1, "output": 2},
                  {"input": 3, "output": 4, "since": "2026-07-01"},
                  {"input": 6, "output": 8, "since": "2026-07-01", "above": 200000}]}

A key is a model, or a provider and a model; the keys of a price are ``Price``'s in camelCase. A list has
one price for each time and size; where none applies (all have ended, say) the published price does.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from loopwatch.config.defects import Defect, Path, locus, printable, shown
from loopwatch.config.suggestions import nearest
from loopwatch.errors import ConfigError
from loopwatch.pricing.names import MOST_CHARS
from loopwatch.pricing.price import MILLION, Price
from loopwatch.pricing.providers import canonical

MOST_USD = MILLION
"""The highest price per million tokens: a dollar a token. What is beyond is a wrong unit."""
MOST_WHOLE = 2**63 - 1

_AMOUNTS = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "reasoning", "request")
_DATES = ("since", "until")
_FIELDS = {
    re.sub(r"_(.)", lambda found: found[1].upper(), name): name for name in (*_AMOUNTS, *_DATES, "above")
}
"""The keys of a price by how they are written."""
_REQUIRED = ("input", "output")

_MISSING = object()


def read_overrides(overrides: Mapping[str, Any]) -> dict[str, tuple[Price, ...]]:
    """The prices by model or provider and model, in lower case, the last that applies counting.

    A value is a ``Price``, the object that stands for one, or a list of these. Raises ConfigError: one
    line for each defect, naming the model and the key.
    """
    defects: list[Defect] = []
    read: dict[str, tuple[Price, ...]] = {}
    for model, value in overrides.items():
        key = _key(model)
        if key is None:
            defects.append(Defect("must be the id of a model", locus=_locus((str(model),))))
        elif key in read:
            defects.append(Defect("comes twice: keep one", locus=_locus((model,))))
        else:
            read[key] = _prices((model,), value, defects)
    if defects:
        raise ConfigError(defects)
    return read


def _key(model: Any) -> str | None:
    """The model as it is looked up, its provider under the one name that it has here."""
    if not isinstance(model, str) or not model.strip() or len(model) > MOST_CHARS:
        return None
    name = model.strip().lower()
    vendor, slash, rest = name.partition("/")
    return f"{canonical(vendor) or vendor}/{rest}" if slash else name


def _prices(path: Path, value: Any, defects: list[Defect]) -> tuple[Price, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        read = [_price((*path, index), one, defects) for index, one in enumerate(value)]
        if not read:
            defects.append(Defect("must have at least one price", locus=_locus(path)))
    else:
        read = [_price(path, value, defects)]
    prices = (price for price in read if price is not None)
    return tuple(sorted(prices, key=lambda price: (price.since or date.min, price.above)))


def _price(path: Path, value: Any, defects: list[Defect]) -> Price | None:
    if isinstance(value, Price):
        return value
    if not isinstance(value, Mapping):
        reason = 'must be an object such as {"input": 2.5, "output": 10}'
        defects.append(Defect(reason, locus=_locus(path), value=_shown(value)))
        return None
    before = len(defects)
    read: dict[str, Any] = {}
    for key in dict.fromkeys((*_REQUIRED, *value)):
        one = value.get(key, _MISSING)
        field = _FIELDS.get(key)
        at = _locus((*path, str(key)))
        if field is None:
            defects.append(Defect(f"is no key here{nearest(str(key), _FIELDS)}", locus=at))
        elif one is _MISSING:
            defects.append(Defect("is missing: it has no default", locus=at))
        else:
            try:
                read[field] = _value(field, one)
            except ValueError as error:
                defects.append(Defect(str(error), locus=at, value=_shown(one)))
    if "since" in read and "until" in read and read["until"] <= read["since"]:
        defects.append(Defect("must be after since", locus=_locus((*path, "until"))))
    return Price(**read) if len(defects) == before else None


def _value(field: str, value: Any) -> Decimal | date | int:
    """One value of a price. Raises ValueError with what it must be."""
    if field in _DATES:
        return _date(value)
    number = _number(value)
    if field == "above":
        if number is None or number <= 0 or number != int(number):
            raise ValueError("must be a whole number of input tokens above 0")
        return int(number)
    if number is None or not 0 <= number <= MOST_USD:
        unit = "a request" if field == "request" else "per million tokens"
        raise ValueError(f"must be a number of US dollars {unit}, from 0 to {MOST_USD}")
    return number


def _number(value: Any) -> Decimal | None:
    """The number as it is written; None for what is none, NaN and true among it."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if isinstance(value, int) and abs(value) > MOST_WHOLE:  # Python refuses to write very long ones out
        return None
    number = Decimal(str(value))
    return number if number.is_finite() else None


def _date(value: Any) -> date:
    try:
        if isinstance(value, str):
            return date.fromisoformat(value)
        if type(value) is date:  # a datetime is one too, and has a time
            return value
    except ValueError:
        pass
    raise ValueError("must be a day such as 2026-07-01")


def _locus(path: Path) -> str:
    return locus(path) or '""'


def _shown(value: Any) -> str:
    """A value as a message shows it; what JSON does not have, as Python writes it."""
    try:
        return shown(value)
    except TypeError:
        return printable(str(value))
    except ValueError:  # a whole number longer than Python writes out
        return "…"
