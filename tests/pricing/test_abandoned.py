import pytest

from loopwatch.pricing.abandoned import BILLS_ON, STOPS, bills_after_drop


@pytest.mark.parametrize(
    ("provider", "bills"),
    [
        ("OpenAI", False),
        (" open ai ", False),
        ("x-ai", False),
        ("DEEPSEEK", False),
        ("azure.ai.openai", False),
        ("Google AI Studio", True),
        ("google", True),
        ("Amazon Bedrock", True),
        ("aws.bedrock", True),
        ("mistralai", True),
        ("HUGGING FACE", True),
        ("openrouter", None),  # depends on who serves
        ("local", None),
        ("somebody", None),
        ("", None),
        (None, None),
    ],
)
def test_who_bills_after_a_drop(provider: str | None, bills: bool | None) -> None:  # noqa: FBT001
    assert bills_after_drop(provider) is bills


def test_nobody_is_on_both_lists() -> None:
    assert len({name.lower() for name in STOPS + BILLS_ON}) == len(STOPS) + len(BILLS_ON) == 48
    assert not any(bills_after_drop(name) for name in STOPS)
    assert all(bills_after_drop(name) for name in BILLS_ON)
