import pytest

from loopwatch.pricing.names import forms, keys, places


@pytest.mark.parametrize(
    ("model", "spellings"),
    [
        ("gpt-4.1", ["gpt-4.1"]),
        (" GPT-4o-2024-08-06 ", ["gpt-4o-2024-08-06", "gpt-4o"]),
        ("gpt-5.2-20251211", ["gpt-5.2-20251211", "gpt-5.2-2025-12-11", "gpt-5.2"]),
        (
            "claude-3-7-sonnet@20250219",
            ["claude-3-7-sonnet@20250219", "claude-3-7-sonnet-2025-02-19", "claude-3-7-sonnet"],
        ),
        ("claude-3-5-sonnet-latest", ["claude-3-5-sonnet-latest", "claude-3-5-sonnet"]),
        ("gemini-2.0-flash-001", ["gemini-2.0-flash-001", "gemini-2.0-flash"]),
        ("gemini-2.5-flash-preview-05-20", ["gemini-2.5-flash-preview-05-20", "gemini-2.5-flash-preview"]),
        ("qwen/qwen3:free", ["qwen/qwen3:free"]),
        ("claude-haiku-4-5-20251001:beta", ["claude-haiku-4-5-20251001:beta"]),
        ("gpt-4-0613", ["gpt-4-0613"]),
        ("m-20251399", ["m-20251399"]),  # no date
        ("gpt-4o-2024-0806", ["gpt-4o-2024-0806"]),
        ("", []),
        ("x" * 201, []),
    ],
)
def test_forms(model: str, spellings: list[str]) -> None:
    assert forms(model) == spellings


def test_only_openrouter_sells_what_other_vendors_sell() -> None:
    assert list(places("openai/gpt-x", "openrouter")) == [("openrouter", "openai/gpt-x"), ("openai", "gpt-x")]
    assert list(places("openai/gpt-x", "groq")) == [("groq", "openai/gpt-x")]


def test_a_global_profile_is_not_priced_as_a_regional_one() -> None:
    assert ("aws", "claude-x") not in list(places("global.anthropic.claude-x", "aws"))
    assert ("aws", "claude-x") in list(places("eu.anthropic.claude-x-v1:0", "aws"))


def test_keys_from_the_surest() -> None:
    assert list(keys("openai/gpt-x", "openrouter")) == [
        "openrouter/openai/gpt-x",
        "openai/gpt-x",
        "openai/gpt-x",
        "gpt-x",
    ]
