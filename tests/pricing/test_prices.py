import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal

import genai_prices
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwatch.pricing.prices import Cost, PriceTable
from loopwatch.pricing.published import _catalogue, _sellers
from loopwatch.wire.usage import Usage

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
THOUSAND = Usage(input_tokens=1_000, output_tokens=1_000)


@pytest.fixture(scope="module")
def table() -> PriceTable:
    return PriceTable()


def test_what_the_provider_reports_outranks_every_table() -> None:
    # vector S7: a usage-only chunk of OpenRouter's
    usage = Usage(
        input_tokens=1_000,
        cache_read_input_tokens=400,
        output_tokens=300,
        reasoning_output_tokens=120,
        cost=0.0123,
    )
    table = PriceTable({"openai/gpt-4o": {"input": 1, "output": 1}})
    found = table.priced(usage, model="openai/gpt-4o", provider="openrouter", at=NOW)
    assert found == Cost(12_300_000, "reported")
    assert table.cost(usage, model=None) == 12_300_000  # whatever the model


def test_s7_without_a_reported_cost_is_priced_in_its_parts() -> None:
    usage = Usage(
        input_tokens=1_000, cache_read_input_tokens=400, output_tokens=300, reasoning_output_tokens=120
    )
    table = PriceTable({"m": {"input": 2, "output": 10, "cacheRead": 0.5, "reasoning": 20}})
    # 600 x 2,000 + 400 x 500 + 180 x 10,000 + 120 x 20,000 nano-dollars
    assert table.cost(usage, model="m", at=NOW) == 1_200_000 + 200_000 + 1_800_000 + 2_400_000


def test_a_reported_cost_of_nothing_is_known() -> None:
    assert PriceTable().cost(Usage(cost=0.0), model="nobody/knows") == 0


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -0.01, 1e12])
def test_a_reported_cost_that_is_none_is_passed_over(cost: float, table: PriceTable) -> None:
    usage = Usage(input_tokens=1_000, output_tokens=1_000, cost=cost)
    found = table.priced(usage, model="gpt-4.1", provider="openai", at=NOW)
    assert found == Cost(10_000_000, "genai-prices", "openai/gpt-4.1")


def test_anthropic_cache(table: PriceTable) -> None:
    # claude-sonnet-4-0: 3, 15, 0.30 read, 3.75 written for five minutes, 6 for an hour; per million
    usage = Usage(
        input_tokens=10_000,
        cache_read_input_tokens=6_000,
        cache_creation_input_tokens=3_000,
        output_tokens=500,
        wire={
            "input_tokens": 1_000,
            "cache_creation": {"ephemeral_5m_input_tokens": 1_000, "ephemeral_1h_input_tokens": 2_000},
        },
    )
    expected = 1_000 * 3_000 + 6_000 * 300 + 1_000 * 3_750 + 2_000 * 6_000 + 500 * 15_000
    assert table.cost(usage, model="claude-sonnet-4-0", provider="anthropic", at=NOW) == expected


@pytest.mark.parametrize(
    ("read", "written", "kept", "nano"),
    [
        (0, 0, 0, 3_000_000),
        (1_000, 0, 0, 300_000),
        (0, 1_000, 0, 3_750_000),
        (0, 1_000, 1_000, 6_000_000),
    ],
)
def test_each_kind_of_cached_input(read: int, written: int, kept: int, nano: int, table: PriceTable) -> None:
    usage = Usage(
        input_tokens=1_000,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=written,
        output_tokens=0,
        wire={"cache_creation": {"ephemeral_1h_input_tokens": kept}},
    )
    assert table.cost(usage, model="claude-sonnet-4-0", provider="anthropic", at=NOW) == nano


def test_gemini_thoughts_are_output(table: PriceTable) -> None:
    # gemini-2.5-flash: 0.30 in, 2.50 out; 20 candidates and 380 thoughts, joined by the wire
    usage = Usage(input_tokens=100, output_tokens=400, reasoning_output_tokens=380)
    assert table.cost(usage, model="gemini-2.5-flash", provider="google", at=NOW) == 100 * 300 + 400 * 2_500


def test_a_tier_is_a_cliff(table: PriceTable) -> None:
    # gemini-2.5-pro: 1.25 and 10 up to 200,000 input tokens, 2.50 and 15 for all of them beyond
    def cost(tokens: int, cached: int = 0) -> int | None:
        usage = Usage(input_tokens=tokens, cache_read_input_tokens=cached, output_tokens=100)
        return table.cost(usage, model="gemini-2.5-pro", provider="google", at=NOW)

    assert cost(199_999) == 199_999 * 1_250 + 100 * 10_000
    assert cost(200_000) == 200_000 * 1_250 + 100 * 10_000
    assert cost(200_001) == 200_001 * 2_500 + 100 * 15_000
    within, beyond = cost(200_000, 100_000), cost(200_001, 100_000)
    assert within is not None
    assert beyond is not None
    assert beyond > within * 1.8  # cached input counts towards the tier


def test_a_price_changes_at_midnight_utc(table: PriceTable) -> None:
    # o3: 10 and 40 until 9 June 2025, 2 and 8 from the 10th
    def cost(at: datetime | None) -> int | None:
        return table.cost(THOUSAND, model="o3", provider="openai", at=at)

    assert cost(datetime(2025, 6, 9, 23, 59, 59, tzinfo=UTC)) == 50_000_000
    assert cost(datetime(2025, 6, 10, tzinfo=UTC)) == 10_000_000
    assert cost(datetime(2025, 6, 10)) == 10_000_000  # noqa: DTZ001  naive is UTC
    assert cost(datetime.fromisoformat("2025-06-10T01:00+02:00")) == 50_000_000
    assert cost(None) == 10_000_000


def test_a_price_by_the_hour(table: PriceTable) -> None:
    # deepseek-chat: 0.27 and 1.10 from 00:30 to 16:30, else half of it
    def cost(hour: int, minute: int) -> int | None:
        at = datetime(2026, 1, 5, hour, minute, tzinfo=UTC)
        return table.cost(THOUSAND, model="deepseek-chat", provider="deepseek", at=at)

    assert cost(0, 29) == cost(16, 30) == 135_000 + 550_000
    assert cost(0, 30) == cost(16, 29) == 270_000 + 1_100_000


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("gpt-4.1-turbo-preview-9", "openai"),
        ("gpt-4-9999", "openai"),
        ("claude-opus-4-99", "anthropic"),
        ("gpt-4.1", "somebody-else"),
        ("nobody/nothing:free", "openrouter"),
        ("openai/gpt-4o:nitro", "openrouter"),
        ("llama3", "local"),
        ("gpt-4.1", "local"),
        ("gpt-live-1", "openai"),  # listed, but by the hour of audio
        ("qwen-3-coder-480b", "cerebras"),  # listed, but without a price
        ("", None),
        ("x" * 201, None),
        (None, None),
    ],
)
def test_an_unknown_model_costs_none(model: str | None, provider: str | None, table: PriceTable) -> None:
    assert table.priced(THOUSAND, model=model, provider=provider, at=NOW) is None


def test_neighbours_are_not_confused(table: PriceTable) -> None:
    # the hazard of prefixes: 0.09 for gpt-4.1 would be gpt-4's price
    assert table.cost(THOUSAND, model="gpt-4.1", provider="openai", at=NOW) == 10_000_000
    assert table.cost(THOUSAND, model="gpt-4", provider="openai", at=NOW) == 90_000_000
    assert table.cost(THOUSAND, model="claude-opus-4-5", provider="anthropic", at=NOW) == 30_000_000
    assert table.cost(THOUSAND, model="claude-opus-4", provider="anthropic", at=NOW) == 90_000_000


def test_free_is_known(table: PriceTable) -> None:
    found = table.priced(THOUSAND, model="qwen/qwen3-coder:free", provider="openrouter", at=NOW)
    assert found == Cost(0, "genai-prices", "openrouter/qwen/qwen3-coder:free")


@pytest.mark.parametrize(
    ("model", "provider", "listed", "exact"),
    [
        ("GPT-4.1", "OpenAI", "openai/gpt-4.1", True),
        ("gpt-4o-2024-08-06", "openai", "openai/gpt-4o", True),
        ("gpt-4o-2099-01-01", "openai", "openai/gpt-4o", False),
        ("gpt-4o-20240513", "openai", "openai/gpt-4o-2024-05-13", False),
        ("claude-haiku-4-5-20251001", "anthropic", "anthropic/claude-haiku-4-5", False),
        ("claude-sonnet-4@20250514", "gcp.vertex_ai", "google/claude-4-sonnet", False),
        ("models/gemini-2.5-pro", "gemini", "google/gemini-2.5-pro", True),
        ("gemini-2.0-flash-001", "google", "google/gemini-2.0-flash", False),
        ("openai/gpt-4.1", "openai", "openai/gpt-4.1", True),
        ("gpt-4.1", "azure.ai.openai", "openai/gpt-4.1", True),
        ("anthropic/claude-sonnet-4.5", "openrouter", "openrouter/anthropic/claude-sonnet-4.5", True),
        ("openai/gpt-4o", None, "openrouter/openai/gpt-4o", True),
        ("gpt-4.1", None, "openai/gpt-4.1", True),
        ("claude-opus-4-5", "unknown", "anthropic/claude-opus-4-5", True),
        (
            "us.anthropic.claude-3-5-sonnet-20241022-v2:0",
            "aws.bedrock",
            "aws/regional.anthropic.claude-3-5-sonnet-20241022-v2:0",
            False,
        ),
    ],
)
def test_spellings(model: str, provider: str | None, listed: str, *, exact: bool, table: PriceTable) -> None:
    found = table.priced(THOUSAND, model=model, provider=provider, at=NOW)
    assert found is not None
    assert (found.listed, found.exact) == (listed, exact)


def test_a_fee_for_each_request(table: PriceTable) -> None:
    # sonar: 1 and 1 per million, and 12 per thousand requests
    assert table.cost(THOUSAND, model="sonar", provider="perplexity", at=NOW) == 2_000_000 + 12_000_000


@pytest.mark.parametrize(
    "usage",
    [None, Usage(), Usage(input_tokens=5), Usage(output_tokens=5), Usage(cache_read_input_tokens=5)],
)
def test_no_usage_costs_none(usage: Usage | None, table: PriceTable) -> None:
    assert table.cost(usage, model="gpt-4.1", provider="openai", at=NOW) is None


def test_audio_that_costs_otherwise_is_unknown(table: PriceTable) -> None:
    spoken = Usage(
        input_tokens=100, output_tokens=10, wire={"prompt_tokens_details": {"audio_tokens": 90, "x": 1}}
    )
    typed = Usage(input_tokens=100, output_tokens=10, wire={"prompt_tokens_details": {"audio_tokens": 0}})
    assert table.cost(spoken, model="gpt-realtime", provider="openai", at=NOW) is None
    assert table.cost(typed, model="gpt-realtime", provider="openai", at=NOW) == 100 * 4_000 + 10 * 16_000
    assert table.cost(spoken, model="gpt-4.1", provider="openai", at=NOW) == 100 * 2_000 + 10 * 8_000


def test_tokens_without_end_are_no_cost(table: PriceTable) -> None:
    usage = Usage(input_tokens=2**53 - 1, output_tokens=0)
    assert table.cost(usage, model="gpt-4.1", provider="openai", at=NOW) is None


def test_an_override_comes_first_and_for_the_dated_model_too() -> None:
    table = PriceTable({"GPT-4o": {"input": 1, "output": 2}})
    for model in ("gpt-4o", "gpt-4o-2024-08-06", "openai/gpt-4o"):
        found = table.priced(THOUSAND, model=model, provider="openai", at=NOW)
        assert found == Cost(3_000_000, "override", "gpt-4o", exact=model != "gpt-4o-2024-08-06")
    assert table.cost(THOUSAND, model="gpt-4o-mini", provider="openai", at=NOW) == 750_000


def test_an_override_for_one_provider() -> None:
    table = PriceTable({"gemini/m": {"input": 1, "output": 1}, "m": {"input": 9, "output": 9}})
    assert table.cost(THOUSAND, model="m", provider="google", at=NOW) == 2_000_000
    assert table.cost(THOUSAND, model="m", provider="groq", at=NOW) == 18_000_000


def test_a_local_model_can_have_a_price() -> None:
    table = PriceTable({"local/llama3": {"input": 0, "output": 0}})
    assert table.priced(THOUSAND, model="llama3", provider="local") == Cost(0, "override", "local/llama3")


def test_an_override_that_has_ended_gives_way() -> None:
    table = PriceTable({"gpt-4.1": {"input": 0, "output": 0, "until": "2026-06-01"}})
    assert table.cost(THOUSAND, model="gpt-4.1", at=datetime(2026, 5, 31, 23, tzinfo=UTC)) == 0
    assert table.cost(THOUSAND, model="gpt-4.1", at=datetime(2026, 6, 1, tzinfo=UTC)) == 10_000_000
    assert table.cost(THOUSAND, model="gpt-4.1") == 10_000_000


def test_the_price_itself(table: PriceTable) -> None:
    price = table.price("gpt-4o", provider="openai", at=NOW)
    assert price is not None
    assert (price.input, price.output, price.cache_read) == (Decimal("2.5"), Decimal(10), Decimal("1.25"))
    assert table.price("nothing", provider="openai") is None


def test_every_listed_price_is_that_of_genai_prices(table: PriceTable) -> None:
    usage = Usage(
        input_tokens=300_000,
        cache_read_input_tokens=3_000,
        cache_creation_input_tokens=2_000,
        output_tokens=1_000,
        reasoning_output_tokens=100,
        wire={"cache_creation": {"ephemeral_1h_input_tokens": 500}},
    )
    theirs = genai_prices.Usage(
        input_tokens=300_000,
        cache_read_tokens=3_000,
        cache_write_tokens=2_000,
        cache_write_1h_tokens=500,
        output_tokens=1_000,
        output_reasoning_tokens=100,
    )
    compared = 0
    for provider in ("anthropic", "openai", "google", "openrouter", "deepseek", "x-ai", "perplexity", "aws"):
        for model in _catalogue(provider):
            ours = table.cost(usage, model=model, provider=provider, at=NOW)
            if ours is None:
                continue
            expected = genai_prices.calc_price(
                theirs, model, provider_id=provider, genai_request_timestamp=NOW
            ).total_price
            assert abs(ours - expected * 10**9) <= Decimal("0.5"), (provider, model)
            compared += 1
    assert compared > 1_000


def test_every_provider_can_be_read() -> None:
    assert all(_catalogue(provider) for provider in _sellers())


def test_importing_brings_neither_prices_nor_io() -> None:
    code = (
        "import sys, loopwatch.pricing.prices, loopwatch.pricing.tokens, loopwatch.pricing.abandoned;"
        "print(sorted({'genai_prices', 'pydantic', 'asyncio', 'httpx2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


counts = st.integers(min_value=0, max_value=150_000)
usages = st.builds(
    Usage,
    input_tokens=counts,
    cache_read_input_tokens=st.none() | counts,
    cache_creation_input_tokens=st.none() | counts,
    output_tokens=counts,
    reasoning_output_tokens=st.none() | counts,
)
models = st.sampled_from(["gpt-4.1", "claude-sonnet-4-0", "gemini-2.5-pro", "mine"])
TABLE = PriceTable({"mine": {"input": 0.123456789, "output": 7, "cacheRead": 0.01, "reasoning": 9}})


def _cost(usage: Usage, model: str) -> int:
    cost = TABLE.cost(usage, model=model, at=NOW)
    assert cost is not None
    return cost


@given(usages, models, st.integers(1, 1_000))
def test_more_output_never_costs_less(usage: Usage, model: str, more: int) -> None:
    longer = Usage(
        input_tokens=usage.input_tokens,
        cache_read_input_tokens=usage.cache_read_input_tokens,
        cache_creation_input_tokens=usage.cache_creation_input_tokens,
        output_tokens=(usage.output_tokens or 0) + more,
        reasoning_output_tokens=usage.reasoning_output_tokens,
    )
    assert _cost(longer, model) >= _cost(usage, model) >= 0


@given(st.integers(0, 400_000), st.integers(0, 400_000), models)
def test_more_input_never_costs_less(one: int, other: int, model: str) -> None:
    less, more = sorted((one, other))
    assert _cost(Usage(input_tokens=less, output_tokens=1), model) <= _cost(
        Usage(input_tokens=more, output_tokens=1), model
    )


@given(st.tuples(counts, counts, counts, counts).map(sorted), st.data())
@settings(max_examples=50)
def test_costs_add_up(parts: list[int], data: st.DataObject) -> None:
    read, written, total, output = parts[0] // 2, parts[0] - parts[0] // 2, parts[1], parts[2]
    share = data.draw(st.integers(2, 5))
    one = Usage(
        input_tokens=total,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=written,
        output_tokens=output,
    )
    many = Usage(
        input_tokens=total * share,
        cache_read_input_tokens=read * share,
        cache_creation_input_tokens=written * share,
        output_tokens=output * share,
    )
    assert abs(_cost(many, "mine") - share * _cost(one, "mine")) <= share  # each is rounded once


def test_ten_million_tiny_costs_sum_exactly() -> None:
    one = PriceTable().cost(Usage(cost=0.0000001), model=None)
    assert one == 100
    assert one * 10_000_000 == 10**9
