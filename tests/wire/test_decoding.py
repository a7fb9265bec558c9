import msgspec
import pytest

from loopwatch.wire.decoding import anything, is_json, text_of

DEEP = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize("value", [b'{"a": [1, null]}', b"7", b'"text"', b"null", b" [] \n"])
def test_any_whole_value_is_json(value: bytes) -> None:
    assert is_json(value)
    anything(value)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "truncated"),
        (b"{", "truncated"),
        (b"{} {}", "trailing"),
        (b"text", "malformed"),
        (b"NaN", "malformed"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (DEEP, "nested too deep"),
        (b"9" * 5_000, "out of range"),
    ],
    ids=["empty", "cut", "two", "text", "NaN", "not UTF-8", "nested too deep", "number too long"],
)
def test_whatever_is_wrong_is_one_kind_of_error(data: bytes, reason: str) -> None:
    assert not is_json(data)
    with pytest.raises(msgspec.DecodeError, match=reason) as refused:
        anything(data)
    assert "\n" not in str(refused.value)


def test_a_value_is_given_back_as_it_was_written() -> None:
    assert text_of(msgspec.Raw(b'{"a" : 1.50}')) == '{"a" : 1.50}'


def test_null_and_nothing_are_no_text() -> None:
    assert text_of(msgspec.Raw(b"null")) == ""
    assert text_of(msgspec.Raw()) == ""


def test_a_value_that_is_no_utf8_is_a_decode_error() -> None:
    with pytest.raises(msgspec.DecodeError, match="not UTF-8"):
        text_of(msgspec.Raw(b'"\xff"'))
