"""What replies cost, those that were thrown away among them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from loopwatch.agent.members import Member
from loopwatch.client.late import LatePrice
from loopwatch.client.model import ModelClient
from loopwatch.client.tally import Abandoned, Discarded, Tally
from loopwatch.pricing.prices import PriceTable
from loopwatch.pricing.scripts import CharCounts, count_chars
from loopwatch.pricing.tokens import TokenRates
from loopwatch.records.money import usd
from loopwatch.records.rows import LatePriceRow
from loopwatch.records.spending import Cost, Figure, Spending, tokens_of
from loopwatch.wire.reply import Reply
from loopwatch.wire.usage import Usage


class Waste(NamedTuple):
    """One reply that was thrown away and whose price is not known yet."""

    member: Member
    client: ModelClient
    reply: Discarded | Abandoned
    input_tokens: int


@dataclass(frozen=True, slots=True)
class Billed:
    """A usage, and whose it is. ``model`` answered, where that is known; ``estimate`` is of its tokens."""

    member: Member
    client: ModelClient
    usage: Usage
    provider: str | None
    model: str | None
    estimate: int = 0


@dataclass(slots=True)
class Bill:
    """Prices replies, and keeps those whose price is to be asked for at the end.

    ``unpriced`` counts replies that came to nothing otherwise than by a loop and cannot be asked for.
    """

    prices: PriceTable = field(default_factory=PriceTable)
    rates: TokenRates = field(default_factory=TokenRates)
    waste: list[Waste] = field(default_factory=list)
    unpriced: int = 0

    def of_reply(
        self, member: Member, client: ModelClient, reply: Reply, *, figure: Figure, at: datetime
    ) -> Spending | None:
        """What a whole reply cost; None where nothing was reported."""
        if reply.usage is None:
            return None
        seller = reply.provider or client.provider
        counts = counts_of(reply)
        estimate = self.rates.estimate_from_counts(counts, seller).tokens
        if reply.usage.answer_tokens:
            self.rates.learn(seller, counts, reply.usage.answer_tokens)
        spoken = Billed(member, client, reply.usage, provider=seller, model=reply.model, estimate=estimate)
        return self._spending(spoken, figure, at)

    def of_waste(
        self, member: Member, client: ModelClient, tally: Tally, *, input_tokens: int, at: datetime
    ) -> list[Spending]:
        """What is known at once of replies that were thrown away; the rest is kept for the end."""
        self.waste += [Waste(member, client, one, input_tokens) for one in tally.discarded]
        known: list[Spending] = []
        for one in tally.abandoned:
            if one.usage is not None and (one.usage.cost is not None or not client.looks_up):
                billed = Billed(member, client, one.usage, provider=one.provider, model=one.model)
                known.append(self._spending(billed, "total", at))
            elif one.generation_id is not None and client.looks_up:
                self.waste.append(Waste(member, client, one, input_tokens))
            else:
                self.unpriced += 1
        return known

    async def settle(self, at: datetime) -> tuple[list[Spending], LatePriceRow]:
        """Ask once for every price that is not known, and say what was learnt."""
        found: list[Spending] = []
        loops = [one for one in self.waste if isinstance(one.reply, Discarded)]
        unpriced: list[Waste] = []
        for client in dict.fromkeys(one.client for one in self.waste):
            asked = [one for one in self.waste if one.client is client]
            prices = await client.price_discarded([one.reply for one in asked])
            for one, price in zip(asked, prices, strict=True):
                if price.priced:
                    found.append(self._late(one, price, at))
                else:
                    unpriced.append(one)
        unpriced_loops = [one for one in unpriced if isinstance(one.reply, Discarded)]
        others = self.unpriced + len(unpriced) - len(unpriced_loops)
        row = LatePriceRow(
            loops=len(loops),
            unpriced=len(unpriced_loops),
            others=self.unpriced + len(self.waste) - len(loops),
            others_unpriced=others,
            estimated_cost=self._estimated(unpriced_loops, at),
        )
        return found, row

    def _late(self, one: Waste, price: LatePrice, at: datetime) -> Spending:
        assert price.usage is not None  # noqa: S101  it is priced
        provider = price.provider or one.reply.provider
        billed = Billed(one.member, one.client, price.usage, provider=provider, model=one.reply.model)
        return self._spending(billed, "total", at)

    def _estimated(self, unpriced: Sequence[Waste], at: datetime) -> float | None:
        """What replies of unknown price cost if they were billed as far as they were read."""
        total: int | None = None
        for one in unpriced:
            seller = one.reply.provider or one.client.provider
            output = self.rates.estimate_from_counts(one.reply.counts, seller).tokens
            usage = Usage(input_tokens=one.input_tokens, output_tokens=output)
            model = one.reply.model or one.member.model
            cost = self.prices.cost(usage, model=model, provider=one.client.provider, at=at)
            total = total if cost is None else (total or 0) + cost
        return None if total is None else usd(total)

    def _spending(self, billed: Billed, figure: Figure, at: datetime) -> Spending:
        member, usage = billed.member, billed.usage
        tokens, reconciled = tokens_of(usage, billed.estimate)
        model = billed.model or member.model
        cost = self.prices.priced(usage, model=model, provider=billed.client.provider, at=at)
        amount = None if cost is None else usd(cost.nano_usd)
        is_reported = cost is not None and cost.source == "reported"
        return Spending(
            profile_id=member.profile.id,
            model_id=member.model,
            provider=billed.provider,
            figure=figure,
            tokens=tokens,
            cost=Cost(comparable=amount, actual=amount if is_reported else None),
            reconciled=reconciled,
            wire=usage.wire,
        )


def counts_of(reply: Reply) -> CharCounts:
    """The characters of a reply's text and of what its calls say."""
    return count_chars(reply.text + "".join(call.arguments for call in reply.tool_calls))
