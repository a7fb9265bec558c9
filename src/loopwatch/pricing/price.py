"""One price, when it is in force, and what a reply costs at it.

Prices are in US dollars per million tokens, as providers publish them; costs are whole
nano-US-dollars. A dollar per million tokens is a thousand nano-dollars a token.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from operator import mul
from typing import Any, NamedTuple

from loopwatch.records.money import NANO, nano_usd
from loopwatch.wire.usage import Usage

MILLION = 1_000_000
MOST_NANO_USD = 1_000_000 * NANO
"""No one reply costs more than a million dollars: beyond it the count of tokens is wrong. Ten thousand
such costs would no longer add up in a database's 64 bits."""

MEDIA = ("audio", "image", "video")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens, and when they are asked.

    Where ``cache_read`` or ``cache_write`` is None, cached input costs as ``input`` does;
    ``cache_write_1h`` (None: as ``cache_write``) is for entries kept an hour, ``reasoning`` (None: as
    ``output``) for reasoning. ``request`` is in US dollars for each request.

    A price is in force from the day ``since`` (UTC) until before the day ``until``, within ``hours``
    (from, to, UTC) of each day, for requests with more than ``above`` input tokens, cached ones
    included: all of their tokens are then at this price. ``modal``: audio or images cost something
    else, which is not known here.
    """

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    cache_write_1h: Decimal | None = None
    reasoning: Decimal | None = None
    request: Decimal = Decimal(0)
    above: int = 0
    since: date | None = None
    until: date | None = None
    hours: tuple[time, time] | None = None
    modal: bool = False
    _rates: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """Of the parts of ``Billed``, in their order, in nano-USD per million tokens."""
    _base: int = field(init=False, repr=False, compare=False)
    """What comes on top, in the same unit, half a nano-USD for the rounding included."""

    def __post_init__(self) -> None:
        written = self.input if self.cache_write is None else self.cache_write
        rates = (
            self.input,
            self.input if self.cache_read is None else self.cache_read,
            written,
            written if self.cache_write_1h is None else self.cache_write_1h,
            self.output,
            self.output if self.reasoning is None else self.reasoning,
        )
        object.__setattr__(self, "_rates", tuple(map(nano_usd, rates)))
        object.__setattr__(self, "_base", nano_usd(self.request) * MILLION + MILLION // 2)

    def cost(self, usage: Usage) -> int | None:
        """The cost in nano-US-dollars, rounded once, half up.

        None without input or output, where the price does not cover all (``modal``), and beyond
        MOST_NANO_USD.
        """
        billed = billed_tokens(usage)
        if billed is None or (self.modal and _has_media(usage.wire)):
            return None
        nano = sum(map(mul, billed, self._rates), self._base) // MILLION
        return nano if nano <= MOST_NANO_USD else None

    def applies(self, at: datetime | None, input_tokens: int) -> bool:
        """Whether it is in force at ``at``; None: whether it is the standing price, without end or hours."""
        if self.above and input_tokens <= self.above:
            return False
        if at is None:
            return self.until is None and self.hours is None
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        if (self.since and at.date() < self.since) or (self.until and at.date() >= self.until):
            return False
        if self.hours is None:
            return True
        start, end = self.hours
        now = at.time()
        return start <= now < end if start <= end else now >= start or now < end


def in_force(prices: Iterable[Price], at: datetime | None, input_tokens: int) -> Price | None:
    """The last of ``prices`` that applies; None where none does."""
    found = None
    for price in prices:
        if price.applies(at, input_tokens):
            found = price
    return found


class Billed(NamedTuple):
    """Tokens of a reply in parts that do not overlap, each with a price of its own."""

    plain: int
    cached: int
    written: int
    written_1h: int
    answer: int
    reasoning: int


def billed_tokens(usage: Usage) -> Billed | None:
    """The parts of a usage; None where its input or output is not known.

    Of what providers report wrongly nothing is negative and nothing counted twice: more cached tokens
    than input is all the input, more reasoning than output is all the output. Which entries of
    Anthropic's cache are kept an hour stands only in the provider's own figures.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    total, output = max(0, usage.input_tokens), max(0, usage.output_tokens)
    cached = _within(usage.cache_read_input_tokens, total)
    written = _within(usage.cache_creation_input_tokens, total - cached)
    kept = usage.wire.get("cache_creation")
    written_1h = _within(kept.get("ephemeral_1h_input_tokens") if isinstance(kept, dict) else None, written)
    reasoning = _within(usage.reasoning_output_tokens, output)
    plain = total - cached - written
    return Billed(plain, cached, written - written_1h, written_1h, output - reasoning, reasoning)


def _within(count: Any, most: int) -> int:
    return min(max(0, count), most) if isinstance(count, int) else 0


def _has_media(wire: dict[str, Any]) -> bool:
    """Whether the provider's own figures count tokens of audio, images or video."""
    for key, value in wire.items():
        if isinstance(value, dict):
            if _has_media(value):
                return True
        elif isinstance(value, int) and value > 0 and any(kind in key for kind in MEDIA):
            return True
    return False
