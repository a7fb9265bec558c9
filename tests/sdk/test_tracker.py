import subprocess
import sys
from datetime import timedelta
from typing import Any
from uuid import UUID

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

import loopwatch
from loopwatch.clock import ManualClock
from loopwatch.errors import InputError, LoopwatchError, MissingUser, NotAClient, SettingsError, UnknownPlan
from loopwatch.sdk.labels import labels_in
from loopwatch.sdk.litellm import _Log
from loopwatch.sdk.tracker import Tracker
from loopwatch.sdk.windows import Windows
from tests.sdk.conftest import Track
from tests.sdk.vendors import TEXT, Collector, Vendors

ASK: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
SAID = "".join(TEXT)


def test_the_seed_s_call(vendors: Vendors, track: Track, collector: Collector) -> None:
    tracker = track(plans={"free": 0, "pro": 49})
    params = {"model": "gpt-4o-mini", "messages": ASK, "userId": "usr_8f21c9", "feature": "research-agent"}
    with openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        assert tracker.chat(client, params, plan="pro").choices[0].message.content == SAID
        assert tracker.chat(client, model="m", input="Why?", user_id="u2").output_text == SAID
        assert tracker.chat(client, model="m", prompt="Why?").choices[0].text == SAID
    assert params["userId"] == "usr_8f21c9"
    with anthropic.Anthropic(api_key="sk", base_url=vendors.url) as claude:
        tracker.chat(claude, model="c", max_tokens=9, messages=ASK[1:], user_id="u3")
    gemini = genai.Client(api_key="AIza", http_options=types.HttpOptions(base_url=vendors.url))
    assert tracker.chat(gemini, {"model": "g", "messages": ASK}, user_id="u4").text == SAID
    chunks = tracker.chat(gemini, {"model": "g", "messages": ASK, "stream": True}, user_id="u5")
    assert "".join(chunk.text or "" for chunk in chunks) == SAID
    gemini.close()
    assert vendors.requests[-2]["systemInstruction"]["parts"][0]["text"] == "Be brief."
    assert vendors.requests[-2]["contents"][0]["role"] == "user"
    assert tracker.flush()
    users = [row.get("userId") for row in collector.rows]
    assert users == ["usr_8f21c9", "u2", None, "u3", "u4", "u5"]
    assert collector.rows[0]["planRevenueUsd"] == 49


async def test_chat_with_an_async_client(vendors: Vendors, track: Track, collector: Collector) -> None:
    tracker = track()
    async with openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        answer = await tracker.chat(client, model="m", messages=ASK, user_id="u1")
    assert answer.choices[0].message.content == SAID
    assert tracker.flush()
    assert collector.rows[0]["userId"] == "u1"


def test_plans_and_users_are_judged_before_anything(vendors: Vendors) -> None:
    tracker = Tracker(local=True, plans={"free": 0})
    with openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        with pytest.raises(UnknownPlan, match=r"there is no plan 'pro': add it to Tracker\(plans=...\)"):
            tracker.chat(client, model="m", messages=ASK, user_id="u1", plan="pro")
        with pytest.raises(MissingUser, match="a plan is named without a user"):
            tracker.chat(client, model="m", messages=ASK, plan="free")
        with pytest.raises(MissingUser, match="user_id must be text"):
            tracker.chat(client, model="m", messages=ASK, user_id=" ")
        strict = Tracker(local=True, require_user=True)
        with pytest.raises(MissingUser, match="no user is named: pass user_id="):
            strict.chat(client, model="m", messages=ASK)
    assert not vendors.requests


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (openai, "the module openai: give it a client"),
        (openai.OpenAI, "the class OpenAI: give it a client"),
        ("gpt-4o", r"a builtins.str: it takes openai.OpenAI\(\)"),
    ],
)
def test_what_is_no_client_is_told_what_is(what: Any, said: str) -> None:
    with pytest.raises(NotAClient, match=said):
        Tracker(local=True).wrap(what)


def test_half_of_google_s_client_is_no_client() -> None:
    gemini = genai.Client(api_key="AIza")
    with pytest.raises(NotAClient, match=r"give it the google.genai.Client\(\) itself, whose .aio"):
        Tracker(local=True).wrap(gemini.aio)
    gemini.close()


@pytest.mark.parametrize("ceiling", [-1, True, "50", float("nan")])
def test_a_ceiling_is_a_number(ceiling: Any) -> None:
    with pytest.raises(SettingsError, match=r"max_iterations is .*: it must be a number from 0 on"):
        Tracker(local=True).agent("a", max_iterations=ceiling)
    Tracker(local=True).agent("a", max_seconds=float("inf"), max_cost=0)


def test_settings_that_cannot_be_meant() -> None:
    with pytest.raises(SettingsError, match=r"give Tracker\(api_key=...\)"):
        Tracker()
    with pytest.raises(SettingsError, match="plan 'pro' costs -1"):
        Tracker(local=True, plans={"pro": -1})
    with pytest.raises(SettingsError, match="on_trip is 'stop'"):
        Tracker(local=True, on_trip="stop")
    with pytest.raises(SettingsError, match="there is no preset 'calm'"):
        Tracker(local=True, guard="calm")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"guard": True}, "guard is True: give a preset's name"),
        ({"queue": 0}, "queue is 0: it must be a whole number from 1 on"),
        ({"on_velocity": print, "token_threshold": True}, "token_threshold is True"),
        ({"on_velocity": print, "window_seconds": 0}, "window_seconds is 0: it must be a number above 0"),
        ({"on_velocity": print, "cooldown_seconds": float("nan")}, "cooldown_seconds is nan"),
    ],
)
def test_what_no_tracker_can_run_on_is_refused_at_once(options: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Tracker(api_key="k", **options)


def test_labels_are_text_and_ids_may_be_of_other_kinds() -> None:
    tracker = Tracker(local=True)
    user: Any = UUID(int=7)
    with tracker.user(user, feature="f") as labels:
        assert labels == (str(user), "f", None)
    feature: Any = 2.5
    with pytest.raises(InputError, match="feature is of type float: it must be text"):
        tracker.user("u1", feature=feature)


def test_a_framework_s_metadata_says_labels_in_any_type() -> None:
    metadata = {"user_id": UUID(int=7), "feature": 2.5, "plan": " ", "thread_id": "t"}
    assert labels_in(metadata) == (str(UUID(int=7)), "2.5", None)
    assert labels_in({"userId": "a\ud800", "user_id": None}) == ("a?", None, None)


def test_what_litellm_would_swallow_is_told() -> None:
    told: list[LoopwatchError] = []
    tracker = Tracker(api_key="k", plans={"free": 0}, on_error=told.append)
    _Log(tracker).add({"litellm_params": {"metadata": {"user_id": "u", "plan": "gold"}}}, None)
    assert "a call was not logged: there is no plan 'gold'" in str(told[0])
    assert tracker.dropped == 1
    tracker.close(0)


def test_a_name_forges_no_line_of_the_log(vendors: Vendors, caplog: pytest.LogCaptureFixture) -> None:
    tracker = Tracker(local=True, token_threshold=1)
    with openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        tracker.chat(client, model="m", input="Why?", user_id="u1\nERROR forged")
    assert [record.getMessage() for record in caplog.records if "tokens in" in record.getMessage()] == [
        "user u1 ERROR forged: 120 tokens in 300 s"
    ]


def test_a_tracker_shows_no_key() -> None:
    tracker = Tracker(api_key="lw_secret")
    assert "lw_secret" not in repr(tracker)
    assert tracker.close(0)


def test_a_burst_is_told_once_in_a_cooldown(vendors: Vendors) -> None:
    clock = ManualClock()
    told: list[Any] = []
    tracker = Tracker(local=True, on_velocity=told.append, clock=clock)
    with openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client, tracker.user("u1", feature="f"):
        wrapped = tracker.wrap(client)

        def calls(count: int) -> None:
            for _ in range(count):
                wrapped.responses.create(model="m", input="Why?")

        calls(3)
        assert not told
        tracker._windows = Windows(clock, threshold=360, window_seconds=300, cooldown_seconds=1_800)
        calls(3)
        assert not told  # 360 tokens are not more than 360
        calls(2)
        clock.advance(timedelta(minutes=29).total_seconds())
        calls(4)
        clock.advance(61)
        calls(4)
    assert [(one.user_id, one.tokens, one.suppressed, one.feature) for one in told] == [
        ("u1", 480, 0, "f"),
        ("u1", 600, 2, "f"),
    ]


def test_a_hook_that_fails_harms_no_call(vendors: Vendors, caplog: pytest.LogCaptureFixture) -> None:
    def hook(_: object) -> None:
        raise RuntimeError("hook")

    tracker = Tracker(local=True, on_velocity=hook, token_threshold=1)
    with openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        assert tracker.chat(client, model="m", input="Why?", user_id="u1").output_text == SAID
    assert "a hook of the tracker failed" in caplog.text


def test_the_tracker_brings_no_vendor_and_no_server() -> None:
    code = "import sys; from loopwatch import Tracker; Tracker(local=True); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "openai",
        "anthropic",
        "google.genai",
        "httpx2",
        "aiohttp",
        "sqlalchemy",
        "starlette",
        "pydantic",
    }
    assert not heavy & set(done.stdout.split())
    assert loopwatch.Tracker is Tracker
