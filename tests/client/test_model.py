"""A call in made-up time: the vectors of the transport, its retries and its clocks."""

import json
import logging
from contextlib import aclosing
from typing import Any

import pytest

from loopwatch.client.fake import HANG, FakeAnswer, FakeTransport
from loopwatch.client.items import AttemptDiscarded, Delta, LoopSeen, Reply
from loopwatch.client.model import ModelClient
from loopwatch.client.transport import TransportError
from loopwatch.clock import ManualClock
from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import (
    CallTimeout,
    ImagesRefused,
    InputError,
    KeyRefused,
    LoopedReply,
    ProviderFault,
    RefusedRequest,
    RetriesSpent,
    SettingsError,
    UnreachableModel,
    UnreadableReply,
)
from tests.client.calls import ANSWER, ASK, DONE, FINISH, SILENT, Outcome, call, looping, warnings
from tests.wire.streams import chunk, event

D1 = (
    "model looped: 2 words repeated across 3000 consecutive words, 3065 words into the reply"
    " (3065 words, 12261 characters read before it was abandoned)"
)
PICTURE = {
    "messages": [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]}
    ]
}


def said(outcome: Outcome) -> str:
    return "".join(item.text for item in outcome.items if isinstance(item, Delta))


def refused(status: int, message: str = "", **headers: str) -> FakeAnswer:
    body = json.dumps({"error": {"message": message}}).encode() if message else b""
    return FakeAnswer(status, headers, [body])


# An answer.


async def test_a_reply_comes_in_deltas_and_then_as_a_whole() -> None:
    outcome = await call(ANSWER)
    assert said(outcome) == "Something."
    reply = outcome.reply
    assert (reply.text, reply.finish_reason, reply.generation_id) == ("Something.", "stop", "gen-1")
    assert (reply.attempts, reply.tally.loop_aborts, outcome.requests) == (1, 0, 1)
    assert reply.terminated
    [response] = outcome.transport.responses
    assert response.dropped


async def test_the_end_is_obeyed_though_the_connection_stays_open() -> None:
    answer = FakeAnswer(chunks=[*ANSWER.chunks, HANG])
    outcome = await call(answer)
    assert (outcome.reply.text, outcome.seconds) == ("Something.", 0)
    assert outcome.transport.responses[0].unread == [HANG]


async def test_complete_gives_the_reply_alone() -> None:
    client = ModelClient(
        "m",
        transport=FakeTransport(refused(500), ANSWER, clock=ManualClock()),
        clock=(clock := ManualClock()),
    )
    reply = await clock.run(client.complete(ASK))
    assert (reply.text, reply.attempts) == ("Something.", 2)


async def test_an_end_without_a_word_of_it_is_fine_if_something_was_said() -> None:
    outcome = await call(FakeAnswer(chunks=[chunk({"content": "Something."})]))
    assert (outcome.reply.text, outcome.reply.terminated) == ("Something.", False)


async def test_nothing_at_all_is_no_reply() -> None:
    outcome = await call(FakeAnswer(204))
    assert isinstance(outcome.error, UnreadableReply)
    assert outcome.requests == 1


async def test_the_generation_id_may_stand_in_the_head() -> None:
    outcome = await call(FakeAnswer(200, {"X-Generation-Id": "gen-head"}, ANSWER.chunks))
    assert outcome.reply.generation_id == "gen-head"


async def test_a_reply_that_was_finished_before_the_connection_broke_is_not_paid_for_twice() -> None:
    broken = TransportError("closed the connection")
    outcome = await call(FakeAnswer(chunks=[*ANSWER.chunks[:-1], broken]))
    assert (outcome.reply.text, outcome.requests) == ("Something.", 1)


async def test_a_server_that_does_not_stream_is_understood() -> None:
    document = {
        "id": "gen-9",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"content": "Something."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    data = json.dumps(document).encode()
    outcome = await call(FakeAnswer(chunks=[data[:20], data[20:]]))
    assert said(outcome) == outcome.reply.text == "Something."
    assert outcome.reply.usage is not None
    assert outcome.reply.usage.output_tokens == 2


@pytest.mark.parametrize(
    ("chunks", "complaint"),
    [
        ([b"<!doctype html><title>Login</title>"], "a page of HTML"),
        ([b"\n\n", b"  <html>"], "a page of HTML"),
        ([b"data: {bad\n\n"], ""),
        ([b"data: null\n\n"], ""),
        ([b"data: " + b"x" * (20 << 20)], "no end after 8,388,608 bytes"),
        ([b'{"choices": "' + b"x" * (20 << 20)], "no end after 8,388,608 bytes"),
        ([b'{"choices": '], ""),
        ([event({"choices": []}), DONE], ""),
        ([event({"what": "is this"}), DONE], ""),
    ],
)
async def test_an_answer_that_is_none_is_one_clear_error_and_not_asked_for_again(
    chunks: list[bytes], complaint: str
) -> None:
    outcome = await call(FakeAnswer(chunks=chunks))
    assert isinstance(outcome.error, UnreadableReply)
    assert complaint in str(outcome.error)
    assert "\n" not in str(outcome.error)
    assert (outcome.requests, outcome.error.attempts) == (1, 1)
    assert outcome.error.tally is not None


async def test_an_error_in_the_middle_is_no_reply() -> None:
    outcome = await call(
        FakeAnswer(chunks=[chunk({"content": "Some"}), event({"error": {"message": "rate limited"}})])
    )
    assert isinstance(outcome.error, UnreadableReply)
    assert "rate limited" in str(outcome.error)
    assert outcome.requests == 1


async def test_an_error_in_the_middle_that_says_it_is_for_now_is_retried_like_its_status() -> None:
    overloaded = {"error": {"code": 502, "message": "Provider disconnected"}}
    outcome = await call(FakeAnswer(chunks=[chunk({"content": "Some"}), event(overloaded)]), ANSWER)
    assert isinstance(outcome.items[1], AttemptDiscarded)
    assert (outcome.reply.attempts, outcome.seconds) == (2, 1)


async def test_an_error_in_the_middle_with_a_code_that_stays_is_not_retried() -> None:
    outcome = await call(FakeAnswer(chunks=[event({"error": {"code": 402, "message": "no credits"}})]))
    assert isinstance(outcome.error, ProviderFault)
    assert (outcome.error.code, outcome.requests) == (402, 1)


# Statuses and retries.


async def test_r3_each_failure_waits_its_turn(caplog: pytest.LogCaptureFixture) -> None:
    outcome = await call(
        refused(429), refused(502), refused(503, **{"Retry-After": "120"}), ANSWER, label="turn 14"
    )
    assert (outcome.seconds, outcome.requests, outcome.reply.attempts) == (123, 4, 4)
    waits = [item.wait for item in outcome.items if isinstance(item, AttemptDiscarded)]
    assert waits == [1, 2, 120]
    assert warnings(caplog)[1] == (
        "model turn 14 — attempt 2 of 11 failed: HTTP 502 Bad Gateway; the next one in 2.0 s"
    )


@pytest.mark.parametrize(
    ("answers", "seconds"),
    [
        ([refused(429, **{"Retry-After": "45"}), ANSWER], 45),
        ([refused(429, **{"retry-after": " 45 "}), ANSWER], 45),
        ([refused(500, **{"Retry-After": "120"}), ANSWER], 1),
        ([refused(500), refused(500), refused(429, **{"Retry-After": "1"}), ANSWER], 7),
        ([refused(429, **{"Retry-After": "soon"}), ANSWER], 1),
    ],
)
async def test_r4_what_a_provider_asks_for(answers: list[FakeAnswer], seconds: float) -> None:
    assert (await call(*answers)).seconds == seconds


async def test_r6_without_retries_there_is_one_request_and_no_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outcome = await call(refused(502), retries=0)
    assert isinstance(outcome.error, RetriesSpent)
    assert (outcome.requests, outcome.seconds, outcome.error.status) == (1, 0, 502)
    assert warnings(caplog) == []


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 413, 422, 307])
async def test_r7_what_no_retry_changes(status: int) -> None:
    outcome = await call(refused(status, "no"))
    assert isinstance(outcome.error, RefusedRequest)
    assert (outcome.error.status, outcome.requests, outcome.seconds) == (status, 1, 0)


@pytest.mark.parametrize("status", [429, 500, 503, 524, 529, 599])
async def test_r7_what_another_attempt_may_better(status: int) -> None:
    outcome = await call(refused(status), ANSWER)
    assert (outcome.reply.text, outcome.requests) == ("Something.", 2)


async def test_ten_retries_take_303_seconds() -> None:
    outcome = await call(refused(500, "overloaded"))
    assert isinstance(outcome.error, RetriesSpent)
    assert (outcome.requests, outcome.seconds, outcome.error.attempts) == (11, 303, 11)
    assert str(outcome.error) == (
        "the model was asked 11 times and gave no reply: HTTP 500 Internal Server Error: overloaded"
    )


async def test_a_wait_longer_than_a_call_may_take_fails_now_and_names_it() -> None:
    outcome = await call(refused(429, **{"Retry-After": "901"}))
    assert isinstance(outcome.error, RetriesSpent)
    assert (outcome.requests, outcome.seconds) == (1, 0)
    assert "901 s" in str(outcome.error)
    assert "900 s" in str(outcome.error)


async def test_a_connection_that_breaks_is_retried() -> None:
    refused_ = TransportError("cannot connect to model.test:80: Connection refused")
    broken = FakeAnswer(chunks=[chunk({"content": "Some"}), TransportError("closed the connection")])
    outcome = await call(refused_, broken, ANSWER)
    assert (outcome.reply.attempts, outcome.seconds) == (3, 3)
    assert said(outcome) == "SomeSomething."
    causes = [item.cause for item in outcome.items if isinstance(item, AttemptDiscarded)]
    assert causes == ["cannot connect to model.test:80: Connection refused", "closed the connection"]


async def test_a_connection_that_breaks_before_a_word_is_retried_too() -> None:
    outcome = await call(FakeAnswer(chunks=[TransportError("closed the connection")]), ANSWER)
    assert outcome.reply.attempts == 2


async def test_what_asking_again_cannot_change_is_not_retried() -> None:
    outcome = await call(TransportError("the certificate was refused", permanent=True))
    assert isinstance(outcome.error, UnreachableModel)
    assert outcome.requests == 1


@pytest.mark.parametrize("status", [400, 404, 422])
async def test_r18_a_model_without_eyes(status: int) -> None:
    answer = refused(status, "No endpoints found that support image input")
    with_pictures = await call(answer, request=PICTURE)
    assert isinstance(with_pictures.error, ImagesRefused)
    assert with_pictures.error.error_type == "model_vision_unsupported"
    without = await call(answer)
    assert type(without.error) is RefusedRequest
    assert without.requests == with_pictures.requests == 1


async def test_r18_a_servers_own_fault_is_retried_whatever_it_says() -> None:
    outcome = await call(refused(500, "does not support image input"), ANSWER, request=PICTURE)
    assert outcome.reply.attempts == 2


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (
            FakeAnswer(308, {"Location": "https://user:pass@new.test/v1?key=secret"}),
            "has moved to new.test/v1 (HTTP 308 Permanent Redirect): set the base URL",
        ),
        (FakeAnswer(301), "has moved (HTTP 301 Moved Permanently): set the base URL"),
        (FakeAnswer(404), "there is nothing at http://model.test/v1 (HTTP 404 Not Found): does the base URL"),
        (FakeAnswer(404, chunks=[b"<html>"]), "does the base URL end with the API's version (/v1)?"),
        (FakeAnswer(418, chunks=[b'[{"error": {"message": "short and stout"}}]']), "): short and stout"),
        (FakeAnswer(422, chunks=[b'{"detail": "no"}']), "(HTTP 422 Unprocessable Entity): no"),
        (FakeAnswer(490, chunks=[b'{"error": {"code": 7}}']), "the provider refused the request (HTTP 490)"),
        (refused(403, "over budget"), "does not allow this request (HTTP 403 Forbidden): over budget"),
    ],
)
async def test_a_refusal_says_what_to_change(answer: FakeAnswer, complaint: str) -> None:
    outcome = await call(answer)
    assert complaint in str(outcome.error)
    assert "secret" not in str(outcome.error)
    assert "pass" not in str(outcome.error)


# The key.


async def test_a_key_that_is_refused_names_its_variable_and_not_itself(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-secret-0123456789")
    caplog.set_level(logging.DEBUG)
    answer = refused(401, "Incorrect API key provided: sk-secret-0123456789")
    outcome = await call(answer, api_key_env="SOME_KEY")
    assert isinstance(outcome.error, KeyRefused)
    assert "SOME_KEY" in str(outcome.error)
    for text in (str(outcome.error), repr(outcome.error), caplog.text):
        assert "sk-secret" not in text


async def test_without_a_key_it_says_which_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    outcome = await call(refused(401), api_key_env="SOME_KEY")
    assert "set SOME_KEY" in str(outcome.error)


async def test_no_error_quotes_the_key_or_the_prompt() -> None:
    key, prompt = "sk-secret-0123456789", "The launch code of the silo in Nebraska is 00000000."
    request = {"messages": [{"role": "user", "content": prompt}]}
    outcome = await call(refused(400, f"bad message with {key}: {prompt}"), request=request, api_key=key)
    assert key not in str(outcome.error)
    assert "Nebraska" not in str(outcome.error)
    outcome = await call(refused(500, f"cannot take {key}"), retries=0, api_key=key)
    assert str(outcome.error).endswith(": [a message with the API key in it]")


async def test_an_error_in_the_middle_is_quoted_as_carefully() -> None:
    fault = event({"error": {"message": "bad \x1b[2J sk-secret-0123456789: Say something. Say something."}})
    request = {"messages": [{"role": "user", "content": "Say something. Say something. Say something."}]}
    outcome = await call(FakeAnswer(chunks=[fault]), api_key="sk-secret-0123456789", request=request)
    assert isinstance(outcome.error, ProviderFault)
    assert "secret" not in str(outcome.error)
    assert "something" not in str(outcome.error)
    outcome = await call(FakeAnswer(chunks=[event({"error": {"message": "too\x1b[2J\nlong"}})]))
    assert str(outcome.error) == "the provider reports an error: too [2J long"


# The two clocks.


async def test_r9_silence_is_retried_and_named(caplog: pytest.LogCaptureFixture) -> None:
    outcome = await call(SILENT, idle_secs=11, retries=2)
    assert isinstance(outcome.error, RetriesSpent)
    assert (outcome.seconds, outcome.requests) == (36, 3)
    caplog.clear()
    named = FakeAnswer(chunks=[chunk({"role": "assistant"}, provider="Acme"), HANG])
    await call(named, ANSWER, idle_secs=11)
    assert "nothing came for 11 s (served by Acme)" in warnings(caplog)[0]


async def test_a_head_that_never_comes_is_silence_too() -> None:
    outcome = await call(FakeAnswer(after=HANG), ANSWER, idle_secs=11)
    assert (outcome.seconds, outcome.reply.attempts) == (12, 2)


async def test_r10_the_ceiling_ends_it_at_once() -> None:
    outcome = await call(SILENT, call_timeout_secs=37, idle_secs=74)
    assert isinstance(outcome.error, CallTimeout)
    assert (outcome.seconds, outcome.requests) == (37, 1)
    assert outcome.transport.responses[0].dropped


async def test_r12_keep_alives_are_no_progress() -> None:
    kept = [part for _ in range(20) for part in (2.0, b": OPENROUTER PROCESSING\n\n")]
    answer = FakeAnswer(chunks=[chunk({"content": "a"}), *kept])
    outcome = await call(answer, idle_secs=5, retries=0)
    assert isinstance(outcome.error, RetriesSpent)
    assert outcome.seconds == 5


async def test_r13_reasoning_is_progress() -> None:
    thinking = [part for _ in range(20) for part in (4.0, chunk({"reasoning": "hm"}))]
    outcome = await call(FakeAnswer(chunks=[*thinking, *ANSWER.chunks]), idle_secs=5)
    assert (outcome.reply.text, outcome.seconds) == ("Something.", 80)


async def test_a_status_whose_body_never_ends_is_judged_all_the_same() -> None:
    outcome = await call(FakeAnswer(400, chunks=[b'{"error"', HANG]), idle_secs=5)
    assert isinstance(outcome.error, RefusedRequest)
    assert outcome.seconds == 5


async def test_blanks_in_a_document_are_no_progress() -> None:
    trickle = [part for _ in range(20) for part in (2.0, b" ")]
    outcome = await call(FakeAnswer(chunks=[b'{"choices": ', *trickle]), idle_secs=5, retries=0)
    assert isinstance(outcome.error, RetriesSpent)
    assert outcome.seconds == 5


async def test_the_ceiling_counts_while_an_error_is_read() -> None:
    trickle = [part for _ in range(20) for part in (2.0, b" ")]
    outcome = await call(FakeAnswer(500, chunks=trickle), idle_secs=50, call_timeout_secs=5)
    assert isinstance(outcome.error, CallTimeout)
    assert outcome.seconds == 5


async def test_headers_from_outside_are_harmless_text() -> None:
    head = {"X-Generation-Id": "gen-\udcff\x1b[2J\n7"}
    outcome = await call(FakeAnswer(200, head, ANSWER.chunks))
    assert outcome.reply.generation_id == "gen- [2J 7"
    moved = FakeAnswer(307, {"Location": "https://h/sk-secret-0123456789/v1"})
    outcome = await call(moved, api_key="sk-secret-0123456789")
    assert "secret" not in str(outcome.error)


async def test_a_provider_that_forges_a_log_line_does_not(caplog: pytest.LogCaptureFixture) -> None:
    named = FakeAnswer(chunks=[chunk({"content": "a"}, provider="Acme\nERROR forged\x1b[2J"), HANG])
    await call(named, ANSWER, idle_secs=5)
    assert "(served by Acme ERROR forged [2J)" in warnings(caplog)[0]


# Loops.


async def test_r19_a_loop_is_dropped_and_the_rest_never_read() -> None:
    outcome = await call(looping(), ANSWER, loop_detection="seed")
    first, second = outcome.transport.responses
    assert first.dropped
    assert len(first.unread) == 2_000 - 1_533 + 2
    assert second.dropped
    assert outcome.reply.text == "Something."
    assert outcome.reply.attempts == 2


async def test_an_unarmed_client_asks_in_the_same_words_and_reads_to_the_end() -> None:
    armed = await call(looping(), ANSWER, loop_detection="seed")
    unarmed = await call(looping())
    assert unarmed.transport.requests[0] == armed.transport.requests[0]
    assert len(unarmed.reply.text) == 2_000 * len("void 0;\n")


async def test_the_seeds_warning_names_what_was_thrown_away(caplog: pytest.LogCaptureFixture) -> None:
    outcome = await call(looping(1), looping(2), ANSWER, loop_detection="seed", label="turn 14")
    assert warnings(caplog)[-1] == (
        "loop detection discarded 2 looping model responses on turn 14 before one completed, throwing away"
        " 6130 words of generated output (24522 characters); it was all paid for and none of it entered the"
        " context."
    )
    tally = outcome.reply.tally
    assert (tally.loop_aborts, tally.loop_abort_words, tally.loop_abort_chars) == (2, 6_130, 24_522)
    assert tally.generation_ids == ["gen-loop-1", "gen-loop-2"]
    assert outcome.seconds == 3


async def test_r16_four_looping_attempts_in_the_seeds_words() -> None:
    outcome = await call(looping(), loop_detection="seed", retries=3, label="turn 14")
    assert isinstance(outcome.error, LoopedReply)
    assert str(outcome.error) == (
        f"model turn 14 — model looped every attempt: {D1};"
        " discarded 4 response(s) totalling 49044 characters of generated output"
    )
    assert [trip.chars for trip in outcome.error.trips] == [12_261] * 4


async def test_r15_eleven_loops() -> None:
    outcome = await call(looping(), loop_detection="seed")
    assert isinstance(outcome.error, LoopedReply)
    tally = outcome.error.tally
    assert tally is not None
    assert (outcome.seconds, tally.loop_aborts, tally.loop_abort_words) == (303, 11, 33_715)
    assert tally.loop_abort_chars == 134_871
    assert outcome.error.error_type == "model_response_loop"


async def test_one_loop_among_other_failures_is_what_is_named_in_the_end() -> None:
    outcome = await call(refused(503), looping(), refused(503), loop_detection="seed", retries=2)
    assert isinstance(outcome.error, LoopedReply)
    assert "discarded 1 response(s) totalling 12261 characters" in str(outcome.error)


@pytest.mark.parametrize(
    "last",
    [
        refused(400),
        FakeAnswer(chunks=[b"data: {bad\n\n"]),
        FakeAnswer(chunks=[HANG]),
        TransportError("no", permanent=True),
    ],
)
async def test_the_tally_survives_whatever_comes_after(last: FakeAnswer | TransportError) -> None:
    outcome = await call(looping(), last, loop_detection="seed", call_timeout_secs=10)
    assert outcome.error is not None
    assert not isinstance(outcome.error, LoopedReply)
    assert outcome.error.tally is not None
    assert outcome.error.tally.generation_ids == ["gen-loop-1"]
    assert outcome.error.attempts == 2


async def test_words_of_a_discarded_reply_never_condemn_its_replacement() -> None:
    half = FakeAnswer(chunks=[chunk({"content": "void 0;\n" * 1_000}), TransportError("broke")])
    finished = FakeAnswer(chunks=[chunk({"content": "void 0;\n" * 1_000}), FINISH, DONE])
    outcome = await call(half, finished, loop_detection="seed")
    assert outcome.reply.attempts == 2
    assert outcome.reply.tally.loop_aborts == 0


async def test_a_consumer_is_told_that_the_deltas_so_far_belong_to_no_reply() -> None:
    outcome = await call(looping(), ANSWER, loop_detection="seed")
    [discarded] = [item for item in outcome.items if isinstance(item, AttemptDiscarded)]
    assert discarded.number == 1
    assert discarded.cause == D1
    assert discarded.trip is not None
    assert discarded.trip.rule == "words"
    assert (discarded.generation_id, discarded.wait) == ("gen-loop-1", 1)
    after = outcome.items[outcome.items.index(discarded) + 1 :]
    assert [type(item) for item in after] == [Delta, Delta, Reply]


async def test_only_the_channels_that_are_watched_are_judged() -> None:
    def thinking(count: int) -> FakeAnswer:
        return FakeAnswer(chunks=[*[chunk({"reasoning": "void 0;\n"})] * count, *ANSWER.chunks])

    content = await call(thinking(2_000), loop_detection="seed")
    assert content.reply.attempts == 1
    settings = LoopDetection(channels=("content", "reasoning"))
    both = await call(thinking(2_000), ANSWER, loop_detection=settings)
    assert both.reply.attempts == 2
    assert both.reply.tally.discarded[0].channel == "reasoning"


async def test_s19_tool_arguments_are_not_watched_unless_asked_for() -> None:
    fragment = chunk({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ""}}]})
    first = chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"'}}]})
    middle = [chunk({"tool_calls": [{"index": 0, "function": {"arguments": "void 0; "}}]})] * 5_000
    answer = FakeAnswer(chunks=[fragment, first, *middle, first, FINISH, DONE])
    outcome = await call(answer, loop_detection="seed")
    assert outcome.reply.finish_reason == "tool_calls"
    assert outcome.reply.tally.loop_aborts == 0


async def test_in_the_shadow_a_loop_is_noted_and_the_reply_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    outcome = await call(looping(), loop_detection=LoopDetection(shadow=True), label="turn 3")
    [seen] = [item for item in outcome.items if isinstance(item, LoopSeen)]
    assert seen.trip.words == 3_065
    assert len(outcome.reply.text) == 16_000
    assert "would have discarded" in warnings(caplog)[0]
    assert "turn 3" in warnings(caplog)[0]


async def test_disabled_settings_watch_nothing() -> None:
    outcome = await call(looping(), loop_detection=LoopDetection(enabled=False))
    assert len(outcome.reply.text) == 16_000


# The same loop again.


async def test_the_same_loop_at_the_same_place_ends_the_retries_where_that_is_asked_for() -> None:
    settings = LoopDetection(rules=("cycle",), stop_on_same_loop=True)
    outcome = await call(looping(), loop_detection=settings, label="turn 2")
    assert isinstance(outcome.error, LoopedReply)
    assert outcome.requests == 2
    assert "looped again at character 0 (rule cycle) as before" in str(outcome.error)
    assert "void" not in str(outcome.error)


async def test_another_loop_or_another_place_is_not_the_same() -> None:
    settings = LoopDetection(rules=("cycle",), stop_on_same_loop=True)
    elsewhere = FakeAnswer(chunks=[chunk({"content": "Once "}), *looping().chunks])
    other = FakeAnswer(chunks=[chunk({"content": "abc 1;\n"})] * 2_000)
    outcome = await call(looping(), elsewhere, other, ANSWER, loop_detection=settings)
    assert outcome.reply.attempts == 4


async def test_a_loop_without_a_place_is_never_the_same() -> None:
    settings = LoopDetection(rules=("length",), max_response_chars=100, stop_on_same_loop=True)
    outcome = await call(looping(), loop_detection=settings, retries=2)
    assert outcome.requests == 3


async def test_by_default_every_attempt_is_spent() -> None:
    outcome = await call(looping(), loop_detection=LoopDetection(rules=("cycle",)), retries=3)
    assert outcome.requests == 4


async def test_a_retry_after_a_loop_may_ask_otherwise() -> None:
    outcome = await call(
        refused(500), looping(), ANSWER, loop_detection="seed", retry_with={"temperature": 0.7}
    )
    sent: list[dict[str, Any]] = [json.loads(request.body) for request in outcome.transport.requests]
    assert ["temperature" in body for body in sent] == [False, False, True]
    assert sent[2]["messages"] == ASK["messages"]


# The bill.


async def test_a_provider_that_bills_to_the_end_is_named(caplog: pytest.LogCaptureFixture) -> None:
    await call(looping(provider="Groq"), ANSWER, loop_detection="seed")
    assert "Groq may bill the whole reply" in warnings(caplog)[-1]
    caplog.clear()
    await call(looping(provider="DeepSeek"), ANSWER, loop_detection="seed")
    assert "may bill" not in warnings(caplog)[-1]


# What else may have been billed.


async def test_a_reply_that_stalled_may_have_been_billed_and_is_remembered() -> None:
    stalled = FakeAnswer(chunks=[chunk({"content": "Some"}, id="gen-7", provider="Acme"), HANG])
    outcome = await call(stalled, ANSWER, idle_secs=5)
    [abandoned] = outcome.reply.tally.abandoned
    assert (abandoned.generation_id, abandoned.counts.total, abandoned.provider) == ("gen-7", 4, "Acme")
    assert (abandoned.model, abandoned.usage) == ("m", None)
    assert abandoned.cause == "nothing came for 5 s (served by Acme)"
    assert outcome.reply.tally.loop_aborts == 0


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (FakeAnswer(chunks=[chunk({"content": "Some"}, id="gen-7"), HANG]), CallTimeout),
        (FakeAnswer(chunks=[chunk({"content": "Some"}, id="gen-7"), TransportError("broke")]), RetriesSpent),
        (FakeAnswer(chunks=[chunk({"content": "Some"}, id="gen-7"), b"data: {bad\n\n"]), UnreadableReply),
    ],
)
async def test_so_is_one_that_ended_the_call(last: FakeAnswer, error: type[Exception]) -> None:
    outcome = await call(last, call_timeout_secs=10, retries=0)
    assert type(outcome.error) is error
    assert [one.generation_id for one in outcome.error.tally.abandoned] == ["gen-7"]


async def test_g7_what_an_unreadable_reply_was_billed_for_is_not_lost() -> None:
    usage = event({"id": "gen-7", "choices": [], "usage": {"completion_tokens": 40, "cost": 0.5}})
    outcome = await call(FakeAnswer(chunks=[usage, DONE]))
    assert isinstance(outcome.error, UnreadableReply)
    [abandoned] = outcome.error.tally.abandoned
    assert abandoned.usage is not None
    assert (abandoned.usage.cost, abandoned.usage.output_tokens) == (0.5, 40)


async def test_a_refusal_before_a_word_was_not_billed() -> None:
    outcome = await call(refused(500), refused(400))
    assert outcome.error is not None
    assert outcome.error.tally.abandoned == []


async def test_the_model_of_a_discarded_reply_is_the_one_that_was_asked() -> None:
    outcome = await call(looping(), looping(), ANSWER, loop_detection="seed", retry_with={"model": "other"})
    assert [one.model for one in outcome.reply.tally.discarded] == ["m", "other"]


async def test_a_provider_is_known_by_its_address_where_the_stream_does_not_say(
    caplog: pytest.LogCaptureFixture,
) -> None:
    groq = "https://api.groq.com/openai/v1"
    outcome = await call(looping(), ANSWER, loop_detection="seed", base_url=groq, api_key="k")
    assert outcome.reply.tally.discarded[0].provider == "groq"
    assert "groq may bill the whole reply" in warnings(caplog)[-1]


# Names, and what is left behind.


@pytest.mark.parametrize(
    ("answer", "options"),
    [
        (refused(400), {}),
        (SILENT, {"call_timeout_secs": 5}),
        (FakeAnswer(chunks=[b"data: {bad\n\n"]), {}),
        (TransportError("no", permanent=True), {}),
        (refused(500), {"retries": 0}),
    ],
)
async def test_every_error_begins_with_the_name_of_its_call(answer: FakeAnswer, options: Any) -> None:
    outcome = await call(answer, label="turn 14", **options)
    assert str(outcome.error).startswith("model turn 14 — ")


async def test_a_wait_after_a_loop_that_is_too_long_is_still_the_loops_error() -> None:
    outcome = await call(looping(), refused(429, **{"Retry-After": "901"}), loop_detection="seed")
    assert isinstance(outcome.error, LoopedReply)
    assert "901 s" in str(outcome.error)


async def test_a_wait_as_long_as_a_call_may_take_is_waited() -> None:
    outcome = await call(refused(429, **{"Retry-After": "900"}), ANSWER)
    assert outcome.seconds == 900


async def test_the_status_of_a_fault_in_the_middle_is_kept() -> None:
    outcome = await call(FakeAnswer(chunks=[event({"error": {"code": 503, "message": "full"}})]), retries=0)
    assert isinstance(outcome.error, RetriesSpent)
    assert outcome.error.status == 503


async def test_a_call_that_takes_too_long_names_who_served_it() -> None:
    named = FakeAnswer(chunks=[chunk({"content": "a"}, provider="Acme"), HANG])
    outcome = await call(named, call_timeout_secs=5)
    assert "(served by Acme)" in str(outcome.error)


async def test_no_timer_is_left_behind() -> None:
    for answer in (ANSWER, refused(400), FakeAnswer(chunks=[b"<html>"])):
        outcome = await call(answer)
        assert outcome.clock._next() is None


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"\n \n", b"\xef", b"\xef\xbb"])
async def test_a_document_is_known_however_its_beginning_was_cut(start: bytes) -> None:
    mark = b"\xef\xbb\xbf"
    body = b'{"choices": [{"index": 0, "message": {"content": "Yes", "reasoning": "Hm"}, "finish_reason": "stop"}]}'
    rest = mark.removeprefix(start) if mark.startswith(start) else b""
    outcome = await call(FakeAnswer(chunks=[start, rest + body]))
    deltas = [(item.channel, item.text) for item in outcome.items if isinstance(item, Delta)]
    assert deltas == [("reasoning", "Hm"), ("content", "Yes")]


# Giving up.


async def test_closing_the_stream_closes_the_connection() -> None:
    transport = FakeTransport(ANSWER)
    client = ModelClient("m", transport=transport)
    async with aclosing(client.stream(ASK)) as items:
        async for _ in items:
            break
    [response] = transport.responses
    assert response.dropped


async def test_a_client_closes_its_transport() -> None:
    transport = FakeTransport(ANSWER)
    async with ModelClient("m", base_url="http://model.test/v1", transport=transport) as client:
        assert repr(client) == "ModelClient('m' at http://model.test/v1)"
    assert transport.closed


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"retries": -1}, "retries is -1"),
        ({"retries": True}, "retries is True"),
        ({"idle_secs": 0}, "idle_secs is 0"),
        ({"call_timeout_secs": "9"}, "call_timeout_secs is '9'"),
        ({"idle_secs": float("nan")}, "idle_secs is nan"),
        ({"loop_detection": "paranoid"}, "paranoid"),
        ({"retry_with": {"n": 2}}, "retry_with has n"),
        ({"retry_with": {"x": object()}}, "retry_with is no JSON"),
        ({"idle_secs": 10**400}, "idle_secs is 1"),
        ({"idle_secs": float("inf")}, "idle_secs is inf"),
        ({"retry_with": {"messages": []}}, "retry_with has messages"),
    ],
)
def test_settings_that_mean_nothing_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        ModelClient("m", **options)


async def test_a_request_that_cannot_be_sent_is_refused_before_anything_is() -> None:
    transport = FakeTransport(ANSWER)
    with pytest.raises(InputError, match="no model was named"):
        await ModelClient(transport=transport).complete(ASK)
    assert transport.requests == []
