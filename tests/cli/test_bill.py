import json
from typing import Any

import pytest

from loopwatch.cli.bill import bill_for, failure_as_json
from loopwatch.cli.losses import Losses, dollars, losses_of
from loopwatch.client import ModelClient, Reply
from loopwatch.client.late import LatePrice
from loopwatch.client.tally import Discarded, Tally
from loopwatch.detect.trip import Trip
from loopwatch.errors import CallTimeout
from loopwatch.pricing.scripts import CharCounts
from loopwatch.pricing.tokens import estimate_tokens
from loopwatch.records.money import NANO
from loopwatch.wire.usage import Usage

OPENAI = ModelClient("gpt-4o-mini", base_url="https://api.openai.com/v1", api_key="none")
LOCAL = ModelClient("gpt-4o-mini", base_url="http://127.0.0.1:8080/v1", api_key="none")
MILLION = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
TRIP = Trip("cycle", 800, 4_000_000, onset=0, period=5, repeats=800.0)


def bill(client: ModelClient = OPENAI, losses: Losses | None = None, **fields: Any) -> str:
    reply = Reply(**{"text": "Hi.", "usage": MILLION, **fields})
    return str(bill_for(client, reply, losses or Losses()))


def discarded(model: str | None = "gpt-4o-mini") -> Discarded:
    return Discarded(
        TRIP, generation_id="gen-1", provider="openai", model=model, counts=CharCounts(latin=TRIP.chars)
    )


# A reply.


def test_a_model_whose_price_is_listed() -> None:
    assert bill() == "1 attempt; 1,000,000 input and 1,000,000 output tokens; $0.75"


def test_the_model_that_answered_counts() -> None:
    assert bill(model="gpt-4o-2024-08-06").endswith("; $12.50")


def test_a_model_of_which_no_price_is_listed() -> None:
    assert bill(model="home\x1bmade", attempts=2) == (
        "2 attempts; 1,000,000 input and 1,000,000 output tokens;"
        " cost unknown (no price is listed for home\ufffdmade)"
    )


def test_a_model_on_this_machine_has_no_price() -> None:
    assert bill(LOCAL).endswith("tokens; cost unknown")


def test_a_reported_cost_comes_first() -> None:
    assert bill(usage=Usage(input_tokens=1, output_tokens=1, cost=0.0031)).endswith(
        "; 1 input and 1 output token; $0.0031"
    )


def test_no_usage() -> None:
    assert bill(usage=None) == "1 attempt; no tokens reported; cost unknown"


# What was lost.


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        (Losses(1, priced=1, nano_usd=NANO // 4), "$0.75, and $0.25 for 1 discarded reply"),
        (Losses(2, priced=2, nano_usd=NANO // 4), "$0.75, and $0.25 for 2 discarded replies"),
        (
            Losses(2, estimated=2, estimated_nano_usd=NANO // 4),
            "$0.75, and about $0.25 for 2 discarded replies",
        ),
        (
            Losses(3, priced=1, nano_usd=NANO, estimated=2, estimated_nano_usd=NANO // 4, reason="gone"),
            "$0.75, and about $1.25 for 3 discarded replies",
        ),
        (
            Losses(3, priced=1, nano_usd=NANO, reason="gone"),
            "$0.75, and $1.00 for 1 discarded reply and 2 more of unknown cost (gone)",
        ),
        (Losses(2), "$0.75, and 2 discarded replies of unknown cost"),
    ],
    ids=["priced", "several", "estimated", "both", "some", "none"],
)
def test_what_was_lost_is_said(losses: Losses, said: str) -> None:
    assert bill(losses=losses).split("; ")[-1] == said


def test_where_nothing_is_known_it_is_said_once() -> None:
    assert bill(LOCAL, Losses(2, reason="gone")).endswith(
        "; cost unknown, as that of 2 discarded replies (gone)"
    )


class Told(ModelClient):
    """A client whose provider tells these prices."""

    def __init__(self, *prices: LatePrice) -> None:
        at = "https://api.openai.com/v1"
        super().__init__("gpt-4o-mini", base_url=at, api_key="none", generation_lookup=True)
        self.prices = list(prices)

    async def price_discarded(self, replies: Any) -> list[LatePrice]:
        assert len(list(replies)) == len(self.prices)
        return self.prices


async def test_prices_that_are_told_are_summed() -> None:
    told = [LatePrice("gen-1", Usage(cost=cost)) for cost in (0.25, 0.5)]
    assert await losses_of(Told(*told), [discarded()] * 2, 10) == Losses(2, priced=2, nano_usd=750_000_000)


async def test_a_price_that_is_not_told_is_estimated() -> None:
    prices = LatePrice("gen-1", Usage(cost=0.25)), LatePrice("gen-1", reason="no price within 30 s")
    found = await losses_of(Told(*prices), [discarded()] * 2, 1_000_000)
    tokens = estimate_tokens("a" * 4_000_000)  # $0.15 a million in, $0.60 out
    assert found == Losses(2, 1, NANO // 4, 1, 150_000_000 + tokens * 600, "no price within 30 s")


async def test_no_look_up_is_no_reason() -> None:
    assert await losses_of(LOCAL, [discarded("m")], 10) == Losses(1)


async def test_nothing_lost_asks_nobody() -> None:
    assert await losses_of(Told(LatePrice("never")), [], 10) == Losses()


# For programs.


def test_json_tells_what_is_not_known_as_null() -> None:
    told = json.loads(bill_for(LOCAL, Reply(text="Hi."), Losses(1)).as_json())
    assert (told["usage"], told["cost_usd"], told["cost_source"]) == ({}, None, None)
    assert (told["model"], told["loop_abort_unpriced"]) == ("gpt-4o-mini", 1)
    assert (told["discarded_cost_usd"], told["discarded_estimate_usd"]) == (None, None)


def test_json_tells_nothing_lost_as_zero() -> None:
    told = json.loads(bill_for(OPENAI, Reply(usage=MILLION), Losses()).as_json())
    assert (told["cost_usd"], told["cost_source"]) == (0.75, "genai-prices")
    assert (told["discarded_cost_usd"], told["discarded_estimate_usd"]) == (0, 0)


def test_json_of_a_failure() -> None:
    error = CallTimeout("too slow")
    error.attempts, error.tally = 2, Tally()
    told = json.loads(failure_as_json(error, Losses()))
    assert (told["error"], told["error_type"]) == ("too slow", "model_timeout")
    assert (told["attempts"], told["loop_aborts"]) == (2, 0)
    error.attempts, error.tally = 2, Tally([discarded()])
    told = json.loads(failure_as_json(error, Losses(1, estimated=1, estimated_nano_usd=NANO)))
    assert told == {
        "error": "too slow",
        "error_type": "model_timeout",
        "attempts": 2,
        "loop_aborts": 1,
        "loop_abort_words": 800,
        "loop_abort_chars": 4_000_000,
        "loop_abort_unpriced": 1,
        "discarded_cost_usd": None,
        "discarded_estimate_usd": 1.0,
    }


@pytest.mark.parametrize(
    ("nano", "said"),
    [
        (0, "$0.00"),
        (1, "$0.000000001"),
        (12_345, "$0.0000123"),
        (420_000, "$0.00042"),
        (123_456_789, "$0.123"),
        (500_000_000, "$0.50"),
        (999_999_999, "$1.00"),
        (1_234_567_890, "$1.23"),
        (1_234_567_890_123, "$1,234.57"),
    ],
)
def test_an_amount_has_three_figures_or_its_cents(nano: int, said: str) -> None:
    assert dollars(nano) == said
