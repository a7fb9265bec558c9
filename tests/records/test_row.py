from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.records.call import Call
from loopwatch.records.identity import pseudonym
from loopwatch.records.row import MOST_TOKENS, Arrival, name, read_row
from tests.records.rows import ARRIVAL, NOW, OTEL, WECKR, refused, taken


def test_a_row_of_the_other_sdk_is_read_whole() -> None:
    call = taken(WECKR)
    assert call == Call(
        event_id="5f0c7f0e-6f3a-4d0e-9d55-0d2f6f6f8a11",
        at=datetime(2026, 11, 30, 11, 59, 59, 250_000, tzinfo=UTC),
        received_at=NOW,
        user_id="usr_8f21c9",
        feature="research-agent",
        plan="pro",
        plan_revenue_usd=49.0,
        provider="openai",
        request_model="gpt-4o-mini",
        input_tokens=1000,
        cache_read_input_tokens=600,
        output_tokens=500,
        latency_ms=812,
    )
    assert (call.model, call.fresh_tokens) == ("gpt-4o-mini", 900)


def test_a_row_in_opentelemetry_s_names_is_read_whole() -> None:
    call = taken(OTEL)
    assert (call.request_model, call.response_model) == ("claude-sonnet-4-6", "claude-sonnet-4-6-20260101")
    assert call.model == "claude-sonnet-4-6-20260101"
    assert (call.input_tokens, call.cache_read_input_tokens, call.cache_creation_input_tokens) == (
        1300,
        600,
        300,
    )
    assert (call.output_tokens, call.reasoning_output_tokens) == (200, 50)
    assert (call.usage_source, call.estimate_method) == ("estimated", "chars/latin/3.9")
    assert (call.loop_aborts, call.loop_abort_words, call.loop_abort_chars) == (2, 6130, 24522)
    assert (call.loop_rule, call.generation_ids) == ("words", ("gen-1", "gen-2"))


def test_what_we_encode_is_what_we_read() -> None:
    call = taken(OTEL)
    assert taken(msgspec.json.decode(msgspec.json.encode(call))) == call


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        # input, output, cached, creation as the other SDK sends them -> our input, read, creation, output
        ((1000, 500, 600, 0), (1000, 600, 0, 500)),  # W1
        ((100, 20, 100, 0), (100, 100, 0, 20)),  # W2
        ((100, 5, 90, 40), (140, 90, 40, 5)),  # W4: its input has the reads, the writes come on top
        ((1000, 200, 600, 300), (1300, 600, 300, 200)),  # W5
        ((50, 5, 20, 0), (50, 20, 0, 5)),  # W7
        ((0, 0, 0, 0), (0, 0, 0, 0)),  # W7, W25
        ((10, 1, 25, 0), (10, 10, 0, 1)),  # a gateway that reports more cached than there was
        ((0, 0, 0, 4000), (4000, 0, 4000, 0)),  # W17
    ],
)
def test_the_other_sdk_s_tokens(sent: tuple[int, ...], expected: tuple[int, ...]) -> None:
    keys = ("inputTokens", "outputTokens", "cachedInputTokens", "cacheCreationTokens")
    call = taken({**WECKR, **dict(zip(keys, sent, strict=True))})
    found = (
        call.input_tokens,
        call.cache_read_input_tokens,
        call.cache_creation_input_tokens,
        call.output_tokens,
    )
    assert found == expected
    # What the window counts in all: input, with cached reads, plus output plus what was written to a cache.
    whole = sent[0] + sent[1] + sent[3]
    assert call.fresh_tokens + call.cache_read_input_tokens == whole


def test_parts_never_exceed_their_whole() -> None:
    call = taken({**OTEL, "inputTokens": 100, "cacheReadInputTokens": 80, "cacheCreationInputTokens": 70})
    assert (call.cache_read_input_tokens, call.cache_creation_input_tokens) == (80, 20)
    assert taken({**OTEL, "reasoningOutputTokens": 900}).reasoning_output_tokens == 200


def test_an_old_client_s_row_has_defaults() -> None:
    call = taken({"model": "gpt-4o", "inputTokens": 5, "outputTokens": 1})
    assert (call.user_id, call.feature, call.provider, call.at) == (None, None, "unknown", NOW)
    assert call.event_id != taken({"model": "gpt-4o"}).event_id  # none was sent: nothing can be deduced
    assert (call.usage_source, taken({}).usage_source) == ("provider", "unknown")


def test_nulls_are_as_if_absent() -> None:
    nulls = dict.fromkeys((*WECKR, *OTEL))
    call = taken(nulls)
    assert (call.user_id, call.request_model, call.input_tokens, call.latency_ms) == (
        None,
        "unknown",
        0,
        None,
    )


def test_a_blank_user_is_anonymous_and_case_and_spaces_are_the_sender_s() -> None:
    assert taken({**WECKR, "userId": "  "}).user_id is None
    assert taken({**WECKR, "userId": ""}).user_id is None
    assert taken({**WECKR, "userId": " Ann"}).user_id == " Ann"


def test_nothing_of_an_unknown_key_is_kept() -> None:
    call = taken({**WECKR, "prompt": "CANARY", "messages": [{"content": "CANARY"}], "model2": "CANARY"})
    assert "CANARY" not in repr(call)
    assert b"CANARY" not in msgspec.json.encode(call)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"userId": "bob@x.io"}, "userId looks like an e-mail address: send an id of your own"),
        ({"feature": "mail to bob@x.io"}, "feature looks like an e-mail address"),
        ({"userId": "4111 1111 1111 1111"}, "userId looks like a card number"),
        ({"userId": 7}, "userId must be text or null"),
        ({"userId": "x" * 257}, "userId is longer than 256 characters"),
        ({"userId": "a\x00b"}, "userId holds a character that cannot be stored"),
        ({"model": "\ud800"}, "requestModel holds a character that cannot be stored"),
        ({"inputTokens": -1}, f"inputTokens must be a whole number from 0 to {MOST_TOKENS}"),
        ({"inputTokens": "12"}, "inputTokens must be a whole number"),
        ({"inputTokens": True}, "inputTokens must be a whole number"),
        ({"inputTokens": 1.5}, "inputTokens must be a whole number, not a fraction"),
        ({"inputTokens": 1e30}, "inputTokens must be a whole number"),
        ({"outputTokens": float("nan")}, "outputTokens must be a whole number"),
        ({"planRevenueUsd": -1}, "planRevenueUsd must be an amount in dollars"),
        ({"planRevenueUsd": "9"}, "planRevenueUsd must be an amount in dollars"),
        ({"usageSource": "guess"}, "usageSource must be one of provider, estimated, reconciled, unknown"),
        ({"usageSource": []}, "usageSource must be one of"),
        ({"generationIds": "gen-1"}, "generationIds must be a list of at most 64 texts"),
        ({"generationIds": [1]}, "generationIds must be text or null"),
    ],
)
def test_a_bad_value_is_refused_by_its_key(change: dict[str, Any], reason: str) -> None:
    assert refused({**WECKR, **change}).startswith(reason)


def test_a_reason_holds_nothing_of_the_value() -> None:
    assert "bob" not in refused({**WECKR, "userId": "bob@x.io"})


@pytest.mark.parametrize("row", [None, 1, "text", [WECKR], True])
def test_a_row_that_is_no_object_is_refused(row: object) -> None:
    assert refused(row) == "the row is no JSON object"


def test_a_whole_float_is_a_count() -> None:
    assert taken({**WECKR, "inputTokens": 12.0}).input_tokens == 12


def test_a_client_s_clock_is_bounded_and_both_times_kept() -> None:
    ahead = taken({**WECKR, "timestamp": "2026-11-30T14:00:00Z"})
    behind = taken({**WECKR, "timestamp": "2026-11-30T10:00:00Z"})
    assert (ahead.at, ahead.received_at) == (NOW + timedelta(seconds=5), NOW)
    assert (behind.at, behind.received_at) == (NOW, NOW)
    late = taken({**WECKR, "timestamp": "2026-11-30T11:55:01Z"})
    assert (late.at, late.received_at) == (NOW - timedelta(minutes=4, seconds=59), NOW)
    assert taken({**WECKR, "timestamp": "yesterday"}).at == NOW


def test_names_that_look_personal_are_hashed_where_the_project_says_so() -> None:
    hashing = Arrival(NOW, timedelta(minutes=5), pseudonym(b"key"))
    row = {**WECKR, "userId": "bob@x.io"}
    first, again = taken(row, hashing), taken(row, hashing)
    assert first.user_id == again.user_id
    assert first.user_id is not None
    assert first.user_id.startswith("anon_")
    assert first.user_id == name("bob@x.io", "userId", pseudonym(b"key"))
    assert first.user_id != name("bob@x.io", "userId", pseudonym(b"other project"))
    assert taken(WECKR, hashing).user_id == "usr_8f21c9"


texts = st.sampled_from(["", " ", "a", "\x00", "\ud800", "2026-01-01", "bob@x.io", "provider", "9" * 300])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*WECKR, *OTEL]), anything))
def test_whatever_is_sent_is_taken_or_refused(row: dict[str, Any]) -> None:
    result = read_row(row, ARRIVAL)
    if isinstance(result, Call):
        assert 0 <= result.cache_read_input_tokens + result.cache_creation_input_tokens <= result.input_tokens
        assert NOW - timedelta(minutes=5) <= result.at <= NOW + timedelta(seconds=5)
        msgspec.json.encode(result)
    else:
        assert result.reason
        assert "\n" not in result.reason


def test_only_a_reconciled_call_says_what_it_cost() -> None:
    billed = {**OTEL, "usageSource": "reconciled", "providerCostUsd": 0.125}
    assert taken(billed).provider_cost_usd == 0.125
    assert taken({**billed, "usageSource": "estimated"}).provider_cost_usd is None
    assert "providerCostUsd must be an amount in dollars" in refused({**billed, "providerCostUsd": -1})
