import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.pricing.scripts import SCRIPTS, CharCounts
from loopwatch.pricing.tokens import MOST_PROVIDERS, Estimate, TokenRates, estimate_tokens

PROSE = CharCounts(latin=4_000)


@pytest.mark.parametrize(
    ("text", "provider", "tokens"),
    [
        ("", "openai", 0),
        ("a", "openai", 1),
        ("word " * 80, "openai", 100),
        ("word " * 80, None, 100),
        ("seven  " * 50, "anthropic", 100),
        ("字" * 100, "openai", 100),
        ("字" * 100, "deepseek", 60),
        ("word " * 200, "DeepSeek", 300),
        ("слово" * 20, "openai", 50),
        ("1" * 100, "google", 100),
        ("1" * 100, "openai", 50),
        ("{}();" * 20, "openai", 50),
        ("ab12" * 10, "openai", 15),
    ],
)
def test_the_defaults(text: str, provider: str | None, tokens: int) -> None:
    assert estimate_tokens(text, provider) == tokens


@pytest.mark.parametrize(
    ("counts", "provider", "method"),
    [
        (PROSE, "openai", "chars/4.0 latin openai default"),
        (PROSE, "gcp.gemini", "chars/4.0 latin google default"),
        (PROSE, "anthropic", "chars/3.5 latin anthropic default"),
        (PROSE, None, "chars/4.0 latin any default"),
        (CharCounts(latin=400, code=100, digits=2), "openai", "chars/4.0 latin, 2.0 code openai default"),
        (CharCounts(), "openai", "chars/4.0 latin openai default"),
    ],
)
def test_the_method_is_said(counts: CharCounts, provider: str | None, method: str) -> None:
    assert TokenRates().estimate_from_counts(counts, provider).method == method


def test_rates_are_learnt_from_what_was_reported() -> None:
    rates = TokenRates()
    assert rates.learn("OpenAI", CharCounts(latin=60_000), 12_000)  # five characters a token
    # 20,000 characters of the default's (5,000 tokens) and 60,000 seen (12,000 tokens)
    assert rates.rate("openai", "latin") == 80_000 / 17_000
    assert rates.estimate_from_counts(PROSE, "openai") == Estimate(850, "chars/4.7 latin openai learnt")
    assert rates.estimate_from_counts(PROSE, "groq").tokens == 1_000
    assert rates.rate("openai", "cjk") == 1.0


def test_a_mixed_text_teaches_all_its_classes() -> None:
    rates = TokenRates()
    for _ in range(100):
        rates.learn("openai", CharCounts(latin=4_000, cjk=1_000), 4_000)  # estimated: 2,000
    assert rates.rate("openai", "latin") < 3
    assert rates.rate("openai", "cjk") < 0.7
    estimate = rates.estimate_from_counts(CharCounts(latin=4_000, cjk=1_000), "openai")
    assert abs(estimate.tokens - 4_000) < 300


def test_rates_follow_a_provider_that_changes() -> None:
    rates = TokenRates()
    for _ in range(1_000):
        rates.learn("openai", CharCounts(latin=10_000), 2_500)
    for _ in range(1_000):
        rates.learn("openai", CharCounts(latin=10_000), 5_000)
    assert abs(rates.rate("openai", "latin") - 2.0) < 0.1


@pytest.mark.parametrize(
    ("provider", "counts", "tokens"),
    [
        ("openai", CharCounts(latin=199), 50),  # too short
        ("openai", PROSE, 0),
        ("openai", PROSE, -5),
        ("openai", PROSE, 4_001),  # reasoning that nobody saw
        ("openai", PROSE, 249),
        (None, PROSE, 1_000),
    ],
)
def test_what_teaches_nothing(provider: str | None, counts: CharCounts, tokens: int) -> None:
    rates = TokenRates()
    assert not rates.learn(provider, counts, tokens)
    assert rates.rate(provider, "latin") == 4.0


def test_memory_is_bounded() -> None:
    rates = TokenRates()
    learnt = [rates.learn(f"provider-{number}", PROSE, 900) for number in range(MOST_PROVIDERS + 10)]
    assert sum(learnt) == MOST_PROVIDERS
    assert rates.learn("provider-0", PROSE, 900)  # those that are known go on learning


char_counts = st.builds(CharCounts, *(st.integers(0, 100_000) for _ in SCRIPTS))
providers = st.sampled_from(["openai", "anthropic", "google", "deepseek", None])
observations = st.lists(st.tuples(providers, char_counts, st.integers(1, 400_000)), max_size=20)


@given(char_counts, char_counts, providers, observations)
def test_more_text_is_never_fewer_tokens(
    one: CharCounts,
    more: CharCounts,
    provider: str | None,
    seen: list[tuple[str | None, CharCounts, int]],
) -> None:
    rates, again = TokenRates(), TokenRates()
    for each in (rates, again):
        for observation in seen:
            each.learn(*observation)
    few = rates.estimate_from_counts(one, provider)
    assert 0 <= few.tokens <= rates.estimate_from_counts(one + more, provider).tokens
    assert few == again.estimate_from_counts(one, provider)
    assert all(0 < rates.rate(provider, script) < 100 for script in SCRIPTS)
