import uuid
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.records.identity import addressed, legible, luhn, personal

ADDRESSES = [
    *("bob@x.io", "Bob <bob.b+tag@mail.example.org>", "user:bob@example.com", "ann@münchen.de"),
    *("bob\uff20example.com", "\uff42\uff4f\uff42\uff20\uff45x\uff0eio", "bob\ufe6bexample.com"),
    *("bob@example\u3002com", "bob@example\uff61com", "bob%40example.com", "bob%2540example.com"),
    *("bob%40example%2Ecom", "bob&#64;example.com", "bob&commat;example.com", "bob\u200b@\u200bexample.com"),
    *(
        "bo\u00adb@exam\u2060ple.com",
        "bob\u2062@exa\ufe0fmple.com",
        "bob @ example.com",
        "bob @ example . com",
    ),
    *(
        "bob(at)example.com",
        "bob [AT] example.com",
        "bob{at}example(dot)com",
        "bob (at) mail [dot] example.com",
    ),
    *(
        "bob at example dot com",
        "bob at mail dot example dot com",
        "bob at example.com",
        "a@xn--mnchen-3ya.de",
    ),
    *("bob@\u202eexample.com", "user|bob@example.com|42", "xmpp:bob@example.com/phone", "bob@example.museum"),
]
CARDS = [
    *("4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "4111.1111.1111.1111"),
    *(
        "4111_1111_1111_1111",
        "4111/1111/1111/1111",
        "4111 - 1111 - 1111 - 1111",
        "4111\u20131111\u20131111\u20131111",
    ),
    *(
        "4111\u00a01111\u00a01111\u00a01111",
        "4111\u200b1111\u200b1111\u200b1111",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    ),
    *("\uff14" + "\uff11" * 15, "\u0664" + "\u0661" * 15, "\u096a" + "\u0967" * 15),
    *("4111%201111%201111%201111", "%34111111111111111", "4\u03321\u03321\u03321\u0332" + "1" * 12),
    *("378282246310005", "3782 822463 10005", "5555555555554444", "6011111111111117", "2223003122003222"),
    *("30569309025904", "4222222222222", "6200000000000005", "3530111333300000", "2200000000000004"),
    *("paid with 4012888888881881, thanks", "user-4111111111111111", "card:4111111111111111"),
    *("4111 1111 1111 1111 12/27", "1 4111-1111-1111-1111", "卡4111111111111111", "4111111111111111 123"),
]
IDS = [
    *(
        "usr_8f21c9",
        "user-4111",
        "5f0c7f0e-6f3a-4d0e-9d55-0d2f6f6f8a11",
        "41111111-1111-4111-9111-111111111111",
    ),
    *(
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "507f1f77bcf86cd799439011",
        "V1StGXR8_Z5jdHi6B-myT",
        "cus_9s6XKzkNRiz8i3",
    ),
    *("4111111111111112", "1445344592388198401", "175928847299117063", "user4111111111111111x"),
    *(
        "1764541234567",
        "1764541234567890",
        "1764541234567890123",
        "20261130123456",
        "2026-11-30 12:34:56.789012",
    ),
    *("2026113012345678", "192.168.100.200:65535", "2001:db8:0:1234:0:567:8:1", "0000000000000000"),
    *("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "auth0|5f7c8ec7c33c6c004bbafe82"),
    *(
        "12345678",
        "@handle",
        "a@b",
        "team@home",
        "<!channel>",
        "ユーザー１２３",
        "",
        "100%",
        "50% off",
        "R&D",
        "a&b",
    ),
    *(
        "chat",
        "data-at-rest",
        "look_at_me.py",
        "chat at home",
        "meet (at) noon",
        "at",
        "dot",
        "chat at 10.30",
    ),
    *(
        "job@1.22",
        "svc@v2",
        "gpt-4o@2024",
        "claude-3-5-sonnet@20240620",
        "gpt-4o@2024.05",
        "pkg@1.0.0",
        "@scope/pkg",
    ),
    *(
        "look-at-the-dot-plot",
        "%40",
        "%",
        "user@",
        "e-mail",
        "anon_0123456789abcdef01234567",
        "\u0664\u0661\u0661",
    ),
]


@pytest.mark.parametrize("text", ADDRESSES)
def test_an_address_is_seen(text: str) -> None:
    assert personal(text) == "an e-mail address"
    assert addressed(text) == "an e-mail address"


@pytest.mark.parametrize("text", CARDS)
def test_a_card_is_seen(text: str) -> None:
    assert personal(text) == "a card number"
    assert addressed(text) is None


@pytest.mark.parametrize("text", IDS)
def test_an_id_is_none_of_them(text: str) -> None:
    assert personal(text) is None
    assert addressed(text) is None


def test_ids_that_machines_make_are_no_cards() -> None:
    random = Random(7)
    for _ in range(20_000):
        one = uuid.UUID(int=random.getrandbits(128), version=4)
        assert personal(str(one)) is None
        # As if it had no letters: the worst that chance brings.
        assert (
            personal("".join(char if char == "-" else random.choice("0123456789") for char in str(one)))
            is None
        )
    for micros in range(1_764_541_234_567_890, 1_764_541_234_569_000):
        assert personal(str(micros)) is None
        assert personal(str(micros // 1_000)) is None


@given(st.text(max_size=256))
def test_any_text_is_judged_and_reading_it_twice_changes_nothing(text: str) -> None:
    assert personal(text) in (None, "an e-mail address", "a card number")
    assert personal(text) is None or personal(f" {text} ") is not None
    assert legible(legible(text)).isprintable()


@pytest.mark.parametrize(
    "text", ["a at b" + " dot c" * 40, "1-" * 128, "1 at " * 50, "a@" + "b." * 126, "(at)" * 64, "%25" * 85]
)
def test_a_hostile_text_takes_no_time(text: str) -> None:
    for _ in range(100):  # what grows with the square of its length would be seen as a test that hangs
        personal(text + "@")


def test_the_check_digit() -> None:
    assert luhn("79927398713")
    assert not any(luhn(f"7992739871{digit}") for digit in "012456789")
