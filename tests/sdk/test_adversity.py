"""Servers that hang, answer garbage or lie, processes that fork and end: the application goes on, rows are kept."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from loopwatch.errors import LoopwatchError, SettingsError
from loopwatch.sdk.link import Link
from loopwatch.sdk.tracker import Tracker
from tests.sdk.conftest import Track
from tests.sdk.vendors import Collector, Vendors

ASK: Any = [{"role": "user", "content": "Why is the sky blue?"}]
BEGIN = """
import sys, os, openai, multiprocessing
from loopwatch import Tracker
tracker = Tracker(api_key="k", endpoint=sys.argv[2])
def ask(user, **more):
    with openai.OpenAI(api_key="sk", base_url=sys.argv[1] + "/v1") as client, tracker.user(user):
        return tracker.wrap(client).chat.completions.create(
            model="m", messages=[{"role": "user", "content": "x"}], **more
        )
"""
LONGEST = 60
"""Seconds within which a program must have ended that would wait for ever if it waited."""


@pytest.fixture
def hanging() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def client(vendors: Vendors) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1", max_retries=0) as made:
        yield made


def run(vendors: Vendors, endpoint: str, body: str) -> None:
    """Run a program of its own to its end."""
    command = [sys.executable, "-W", "ignore", "-c", BEGIN + body, vendors.url, endpoint]
    environment = {**os.environ, "PYTHONASYNCIODEBUG": ""}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=LONGEST, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr


def users(collector: Collector) -> list[str]:
    return sorted(row["userId"] for row in collector.rows)


def test_a_program_ends_though_the_server_hangs(vendors: Vendors, hanging: str) -> None:
    run(vendors, hanging, 'ask("u1")')


def test_forked_children_send_their_own_rows_and_no_others(vendors: Vendors, collector: Collector) -> None:
    body = """
ask("parent")
made = [multiprocessing.get_context("fork").Process(target=ask, args=(f"child{n}",)) for n in range(3)]
for one in made: one.start()
for one in made: one.join()
sys.exit(any(one.exitcode for one in made))
"""
    run(vendors, collector.url, body)
    assert users(collector) == ["child0", "child1", "child2", "parent"]


def test_a_stream_that_is_open_at_a_fork_is_the_parent_s_to_log(
    vendors: Vendors, collector: Collector
) -> None:
    body = """
kept = [ask("parent", stream=True), ask("parent too", stream=True)]
pid = os.fork()
if pid == 0:
    ask("child")
    kept.pop()
    sys.exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    run(vendors, collector.url, body)
    assert users(collector) == ["child", "parent", "parent too"]


def test_a_stream_that_is_open_when_the_program_ends_is_logged(
    vendors: Vendors, collector: Collector
) -> None:
    run(vendors, collector.url, 'kept = ask("u1", stream=True)')
    assert users(collector) == ["u1"]
    assert collector.rows[0]["usageSource"] == "estimated"


def test_a_run_s_budget_holds_in_a_child(vendors: Vendors, collector: Collector) -> None:
    body = """
from loopwatch.errors import LimitExceeded
with tracker.agent("a", max_iterations=2):
    ask("parent")
    pid = os.fork()
    if pid == 0:
        ask("child")
        try:
            ask("too much")
        except LimitExceeded:
            os._exit(0 if tracker.flush() else 4)
        os._exit(3)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    run(vendors, collector.url, body)
    assert users(collector) == ["child", "parent"]


async def test_a_check_that_hangs_is_waited_for_once(
    vendors: Vendors, collector: Collector, track: Track
) -> None:
    collector.check_pause = 30
    tracker = track()
    async with openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        wrapped: Any = tracker.wrap(client)

        async def ask(number: int) -> None:
            await wrapped.chat.completions.create(model="m", messages=ASK, user_id=f"u{number}", plan="pro")

        await asyncio.gather(*[ask(number) for number in range(40)])
    assert len(collector.checks) <= 4
    assert tracker.flush()
    assert len(collector.rows) == 40


@pytest.mark.parametrize("status", [301, 404, 407, 429, 500])
def test_answers_that_may_change_keep_the_rows(
    client: openai.OpenAI, collector: Collector, track: Track, status: int
) -> None:
    collector.statuses = [(status, {"retry-after": "36000"})] * 2
    told: list[LoopwatchError] = []
    tracker = track(on_error=told.append)
    tracker.wrap(client).chat.completions.create(model="m", messages=ASK)
    while not tracker.flush(1):
        pass
    assert len(collector.rows) == 1
    assert tracker.dropped == 0
    assert len(told) == 1


def test_what_is_too_large_is_sent_in_parts(
    client: openai.OpenAI, collector: Collector, track: Track
) -> None:
    collector.statuses = [(413, {})] * 2
    tracker = track()
    wrapped = tracker.wrap(client)
    for _ in range(8):
        wrapped.chat.completions.create(model="m", messages=ASK)
    assert tracker.flush(20)
    assert len({row["eventId"] for row in collector.rows}) == len(collector.rows) == 8
    assert tracker.dropped == 0


def test_what_is_left_at_the_end_is_counted(client: openai.OpenAI, track: Track) -> None:
    tracker = track(endpoint="http://127.0.0.1:9")
    tracker.wrap(client).chat.completions.create(model="m", messages=ASK)
    assert not tracker.close(0.2)
    assert tracker.dropped == 1


@pytest.mark.parametrize(
    "usage",
    [
        None,
        "many",
        [],
        {"prompt_tokens": "12", "completion_tokens": None},
        {"prompt_tokens": -5, "completion_tokens": 10**30},
        {"prompt_tokens": 1.5, "completion_tokens": True},
        {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": "x"},
    ],
)
def test_usage_that_cannot_be_meant_is_the_log_s_trouble_and_not_the_caller_s(
    vendors: Vendors, client: openai.OpenAI, collector: Collector, track: Track, usage: Any
) -> None:
    vendors.usage = usage
    tracker = track()
    answer = tracker.wrap(client).chat.completions.create(model="m", messages=ASK)
    assert answer.choices[0].message.content
    for _ in tracker.wrap(client).chat.completions.create(model="m", messages=ASK, stream=True):
        pass
    assert tracker.flush()
    assert len(collector.rows) + tracker.dropped == 2


def test_what_a_broken_stream_had_said_is_estimated(
    vendors: Vendors, client: openai.OpenAI, collector: Collector, track: Track
) -> None:
    vendors.breaks_after = 3
    tracker = track()
    with pytest.raises(openai.APIConnectionError):
        list(tracker.wrap(client).chat.completions.create(model="m", messages=ASK, stream=True))
    assert tracker.flush()
    (row,) = collector.rows
    assert row["usageSource"] == "estimated"
    assert row["outputTokens"] > 0


def test_half_a_character_in_a_name_is_replaced(
    client: openai.OpenAI, collector: Collector, track: Track
) -> None:
    tracker = track()
    wrapped: Any = tracker.wrap(client)
    with tracker.user("a\ud800b"):
        wrapped.chat.completions.create(model="m", messages=ASK)
    assert tracker.flush()
    assert users(collector) == ["a?b"]


@pytest.mark.parametrize(
    "endpoint", ["localhost:8700", "ftp://x", "http://", "http://x:99999", "http://a b", ""]
)
def test_an_address_that_is_none_is_refused(endpoint: str) -> None:
    with pytest.raises(SettingsError, match="give the server's address, like http://127"):
        Tracker(api_key="k", endpoint=endpoint)


def test_the_password_in_an_address_is_not_shown() -> None:
    with pytest.raises(SettingsError) as refused:
        Tracker(api_key="k", endpoint="ftp://me:secret@host")
    assert "secret" not in str(refused.value)
    assert "secret" not in repr(Link("http://me:secret@host", None))


@pytest.mark.parametrize("key", ["a\nb", "kü", "a\x00b"])
def test_a_key_that_no_header_can_carry_is_refused(key: str) -> None:
    with pytest.raises(SettingsError, match="loopwatch keys create") as refused:
        Tracker(api_key=key)
    assert key not in str(refused.value)


@pytest.mark.parametrize("key", ["", " ", "\n", None])
def test_a_key_is_needed(key: str | None) -> None:
    with pytest.raises(SettingsError, match="api_key"):
        Tracker(api_key=key)


def test_the_line_break_of_a_key_file_is_taken_off(
    client: openai.OpenAI, collector: Collector, track: Track
) -> None:
    tracker = track(api_key="lw_key\n")
    tracker.wrap(client).chat.completions.create(model="m", messages=ASK)
    assert tracker.flush()
    assert collector.posts[0]["x-api-key"] == "lw_key"


def test_a_proxy_in_the_environment_does_not_stand_before_this_machine(
    client: openai.OpenAI, collector: Collector, track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    tracker = track()
    tracker.wrap(client).chat.completions.create(model="m", messages=ASK)
    assert tracker.flush()
    assert len(collector.rows) == 1


@pytest.mark.parametrize(
    "proxy", ["gopher://me:hunter2@127.0.0.1:9", "http://me:hunter2@host:x", "http://me:hunter2/3@host:1"]
)
def test_a_proxy_that_cannot_be_used_is_told_and_breaks_nothing(
    client: openai.OpenAI, track: Track, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    told: list[LoopwatchError] = []
    tracker = track(endpoint="http://loopwatch.invalid", on_error=told.append)
    monkeypatch.setenv("ALL_PROXY", proxy)
    wrapped: Any = tracker.wrap(client)
    assert wrapped.chat.completions.create(model="m", messages=ASK, user_id="u", plan="pro").choices
    assert not tracker.flush(1)
    assert "proxy" in str(told[0])
    assert "hunter2" not in str(told[0])
