"""What the replies cost that looped and were thrown away: as the provider says, else as estimated."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from loopwatch.pricing.prices import PriceTable
from loopwatch.pricing.tokens import TokenRates
from loopwatch.records.money import NANO
from loopwatch.wire.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loopwatch.client.late import LatePrice
    from loopwatch.client.model import ModelClient
    from loopwatch.client.tally import Discarded


@dataclass(frozen=True, slots=True)
class Losses:
    """The replies that one call discarded, in nano-US-dollars.

    Of ``count`` replies the provider has told the prices of ``priced``, in all ``nano_usd``, and
    ``estimated`` more were estimated. ``reason`` says why the first of the others is not priced, where
    the provider was asked.
    """

    count: int = 0
    priced: int = 0
    nano_usd: int = 0
    estimated: int = 0
    estimated_nano_usd: int = 0
    reason: str = ""

    @property
    def known(self) -> int:
        """Replies of which some figure is known."""
        return self.priced + self.estimated

    def __str__(self) -> str:
        """Half a line for people."""
        unknown = self.count - self.known
        if not self.known:
            return f"{replies(self.count)} of unknown cost{self.why}"
        about = "about " if self.estimated else ""
        cost = f"{about}{dollars(self.nano_usd + self.estimated_nano_usd)} for {replies(self.known)}"
        return f"{cost} and {unknown:,} more of unknown cost{self.why}" if unknown else cost

    def as_dict(self) -> dict[str, object]:
        """For programs, in US dollars; null where nothing is known."""
        nothing = self.count == 0
        return {
            "loop_abort_unpriced": self.count - self.priced,
            "discarded_cost_usd": self.nano_usd / NANO if self.priced or nothing else None,
            "discarded_estimate_usd": self.estimated_nano_usd / NANO if self.estimated or nothing else None,
        }

    @property
    def why(self) -> str:
        """The reason in parentheses, after a blank; nothing where there is none."""
        return f" ({self.reason})" if self.reason else ""


async def losses_of(client: "ModelClient", discarded: "Sequence[Discarded]", input_tokens: int) -> Losses:
    """Ask for the prices of discarded replies; estimate those that are not told.

    ``input_tokens`` are those of the request that they all answered.
    """
    if not discarded:
        return Losses()
    prices = await client.price_discarded(discarded)
    costs = [_cost(price) for price in prices]
    told = [cost for cost in costs if cost is not None]
    rest = [one for one, cost in zip(discarded, costs, strict=True) if cost is None]
    estimates = [_estimate(client, one, input_tokens) for one in rest]
    estimated = [estimate for estimate in estimates if estimate is not None]
    return Losses(
        count=len(discarded),
        priced=len(told),
        nano_usd=sum(told),
        estimated=len(estimated),
        estimated_nano_usd=sum(estimated),
        reason=next((price.reason for price in prices if price.reason and client.looks_up), ""),
    )


def _cost(price: "LatePrice") -> int | None:
    usage = price.usage
    return None if usage is None or usage.cost is None else round(usage.cost * NANO)


def _estimate(client: "ModelClient", one: "Discarded", input_tokens: int) -> int | None:
    """What it cost if it was billed as far as it was read."""
    output = TokenRates().estimate_from_counts(one.counts, one.provider).tokens
    usage = Usage(input_tokens=input_tokens, output_tokens=output)
    return PriceTable().cost(usage, model=one.model, provider=client.provider, at=datetime.now(UTC))


def replies(number: int) -> str:
    """So many of them."""
    return f"{number:,} discarded {'reply' if number == 1 else 'replies'}"


def dollars(nano_usd: int) -> str:
    """An amount with its cents, or where it has none with three figures that count."""
    amount = nano_usd / NANO
    decimals = 2
    while decimals < len(str(NANO)) - 1 and 0 < amount * 10**decimals < 100:  # noqa: PLR2004  three figures
        decimals += 1
    whole, _, fraction = f"{amount:,.{decimals}f}".partition(".")
    return f"${whole}.{fraction.rstrip('0'):0<2}"
