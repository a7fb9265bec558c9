import pytest

from loopwatch.records.identity import luhn, personal


@pytest.mark.parametrize(
    "text", ["bob@x.io", "Bob <bob.b+tag@mail.example.org>", "user:bob@example.com", "ann@münchen.de"]
)
def test_an_address_is_seen(text: str) -> None:
    assert personal(text) == "an e-mail address"


@pytest.mark.parametrize(
    "text",
    [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "378282246310005",  # 15 digits
        "5555555555554444",
        "6011111111111117",
        "30569309025904",  # 14 digits
        "4222222222222",  # 13 digits
        "paid with 4012888888881881, thanks",
    ],
)
def test_a_card_is_seen(text: str) -> None:
    assert personal(text) == "a card number"


@pytest.mark.parametrize(
    "text",
    [
        "usr_8f21c9",
        "5f0c7f0e-6f3a-4d0e-9d55-0d2f6f6f8a11",
        "4111111111111112",  # the check digit is wrong
        "1445344592388198401",  # a snowflake
        "user4111111111111111x",  # a part of a longer id
        "12345678",
        "@handle",
        "a@b",
        "team@home",
        "<!channel>",
        "ユーザー１２３",
        "",
    ],
)
def test_an_id_is_none_of_them(text: str) -> None:
    assert personal(text) is None


def test_the_check_digit() -> None:
    assert luhn("79927398713")
    assert not any(luhn(f"7992739871{digit}") for digit in "012456789")
