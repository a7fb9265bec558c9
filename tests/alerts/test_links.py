import base64
from datetime import timedelta

import pytest

from loopwatch.alerts.links import LIFETIME, BlockLinks, BlockRequest
from loopwatch.errors import InputError
from tests.alerts.samples import AT, HOSTILE, PUBLIC

SECRET = bytes(range(32))
LINKS = BlockLinks(SECRET, f"{PUBLIC}/")


def token(user_id: str = "usr_1") -> str:
    link = LINKS.link("acme", user_id, "al_1", AT)
    assert link is not None
    assert link.startswith(f"{PUBLIC}/dashboard/block/")
    return link.rpartition("/")[2]


def test_a_link_says_whom_to_block_and_why() -> None:
    expected = BlockRequest("acme", "usr_1", "al_1", AT + LIFETIME)
    assert LINKS.read(token(), AT) == expected
    assert LINKS.read(token(), AT + LIFETIME - timedelta(seconds=1)) == expected


def test_a_link_expires() -> None:
    with pytest.raises(InputError, match="expired"):
        LINKS.read(token(), AT + LIFETIME)


@pytest.mark.parametrize("user_id", HOSTILE)
def test_any_user_id_comes_back_as_it_is_or_gets_no_link(user_id: str) -> None:
    link = LINKS.link("acme", user_id, "al_1", AT)
    if len(user_id) > 5_000:
        assert link is None
    else:
        assert link is not None
        assert link.isascii()
        assert LINKS.read(link.rpartition("/")[2], AT).user_id == user_id


def test_nothing_of_a_token_can_be_changed() -> None:
    sound = token()
    for index in range(len(sound) - 1):
        other = "A" if sound[index] != "A" else "B"
        with pytest.raises(InputError, match="not one of ours"):
            LINKS.read(sound[:index] + other + sound[index + 1 :], AT)


@pytest.mark.parametrize("text", ["", ".", "a.b", "é.é", "a" * 5_000, "===.===", "..", "\ud800.x"])
def test_what_is_no_token_is_told_so(text: str) -> None:
    with pytest.raises(InputError, match="not one of ours"):
        LINKS.read(text, AT)


def test_another_secret_is_another_servers() -> None:
    with pytest.raises(InputError, match="not one of ours"):
        BlockLinks(bytes(32), PUBLIC).read(token(), AT)


def test_a_secret_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(InputError, match="at least 32"):
        BlockLinks(b"short", PUBLIC)


def test_a_payload_without_our_signature_is_nothing() -> None:
    forged = base64.urlsafe_b64encode(b'["acme","usr_1","al_1",99999999999]').decode().rstrip("=")
    with pytest.raises(InputError, match="not one of ours"):
        LINKS.read(f"{forged}.", AT)
