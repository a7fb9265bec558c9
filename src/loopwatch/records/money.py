"""Money as whole billionths of a US dollar, so that ten million small prices sum exactly.

One token of the cheapest model costs tens of them; a 64-bit column holds nine thousand million dollars.
"""

from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

NANO = 1_000_000_000
"""Billionths in a dollar."""

_EXACT = Context(prec=60, rounding=ROUND_HALF_UP)  # not the caller's, who may have set another


@lru_cache(maxsize=4_096)  # there are some hundred prices, and every call asks for seven
def nano_usd(usd: float | Decimal) -> int:
    """Dollars as billionths, rounded half up. A float counts as the number that it is written as."""
    exact = usd if isinstance(usd, Decimal) else Decimal(repr(usd))
    return int(_EXACT.to_integral_value(_EXACT.scaleb(exact, 9)))


def usd(nano: int) -> float:
    """Billionths as dollars, for JSON and for people; never to be summed."""
    return nano / NANO


def shown(nano: int) -> str:
    """Billionths for people: cents, or where there is less than a cent the first two digits there are."""
    size = Decimal(abs(nano)) / NANO
    places = 2 if size == 0 or size >= Decimal("0.01") else min(9, 1 - size.adjusted())
    return f"{'-' if nano < 0 else ''}${size:,.{places}f}"
