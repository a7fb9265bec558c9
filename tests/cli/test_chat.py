import asyncio
import json
import re
import signal
import socket
import subprocess

import pytest

from loopwatch.testing.answers import Answer, answer, error, hanging, looping, status
from loopwatch.testing.exchange import Request, Step
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import CallTool, Cut, Done, Event, Finish, Role, Say, Think, Usage
from tests.cli.chatting import BILL, CHAT, LOOP, USAGE, chat, chat_at, environment
from tests.cli.program import Call, one_line

KEY = {"OPENAI_API_KEY": "sk-0123456789secret"}


# A pipe gets the accepted reply.


async def test_the_reply_goes_to_a_pipe_and_the_bill_to_standard_error() -> None:
    done = await chat(answer("Hello there.", usage=USAGE))
    assert (done.code, done.out, done.err) == (0, "Hello there.\n", BILL)


@pytest.mark.parametrize(
    ("text", "out"), [("one\ntwo\n", "one\ntwo\n"), ("one\n\n", "one\n\n"), ("\x1b[1m\r\n", "\x1b[1m\r\n")]
)
async def test_a_reply_is_passed_on_as_it_is(text: str, out: str) -> None:
    done = await chat(answer(text, usage=USAGE))
    assert (done.code, done.out, done.err) == (0, out, BILL)


async def test_a_pipe_never_sees_what_was_discarded() -> None:
    done = await chat(status(503), looping(LOOP, beginning="Well, "), answer("Sound.", usage=USAGE))
    assert (done.code, done.out) == (0, "Sound.\n")
    failed, looped, discarded, bill = done.err.splitlines()
    assert re.fullmatch(r"loopwatch: attempt 1 of 11 failed: HTTP 503 .*; the next one in 1\.0 s", failed)
    assert re.fullmatch(
        r"loopwatch: attempt 2 of 11 failed: model looped: .*; the next one in 2\.0 s", looped
    )
    assert discarded.startswith("loopwatch: loop detection discarded 1 looping model response before one")
    assert bill == (
        "loopwatch: 3 attempts; 12 input and 34 output tokens; cost unknown, as that of 1 discarded reply"
    )
    assert [request.ended for request in done.requests] == ["finished", "dropped", "finished"]


# What is asked.


async def test_the_request_has_what_was_given() -> None:
    args = ("--system", "Be brief.", "--temperature", "0.5", "--max-tokens", "50")
    done = await chat(answer("Hi.", usage=USAGE), args=args, env=KEY)
    (request,) = done.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["Authorization"] == "Bearer sk-0123456789secret"
    assert request.body == {
        "model": "some-model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
        "temperature": 0.5,
        "max_tokens": 50,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_without_options_the_request_has_no_sampling_and_no_key() -> None:
    (request,) = (await chat(answer("Hi."))).requests
    assert request.body.keys() == {"model", "messages", "stream", "stream_options"}
    assert "Authorization" not in request.headers


@pytest.mark.parametrize(
    ("url", "name"),
    [("https://api.openai.com/v1", "max_completion_tokens"), ("https://openrouter.ai/api/v1", "max_tokens")],
)
def test_the_limit_has_the_name_that_the_provider_knows(
    call: Call, monkeypatch: pytest.MonkeyPatch, url: str, name: str
) -> None:
    asked: list[dict[str, object]] = []

    async def ask(client: object, request: dict[str, object], _: object) -> None:
        del client
        asked.append(request)

    monkeypatch.setattr("loopwatch.cli.chat._ask", ask)
    assert call("chat", "-m", "m", "--base-url", url, "--max-tokens", "5", "Hello").code == 0
    assert asked == [{"messages": [{"role": "user", "content": "Hello"}], name: 5}]


async def test_a_key_of_another_name() -> None:
    env = {"MY_KEY": "mine"} | KEY
    (request,) = (await chat(answer("Hi."), args=("--api-key-env", "MY_KEY"), env=env)).requests
    assert request.headers["Authorization"] == "Bearer mine"


async def test_the_prompt_may_come_on_standard_input() -> None:
    async with scripted_provider(answer("Hi.")) as provider:
        done = await chat_at(
            provider.base_url, "-", stdin="Gr\u00fc\u00dfe\n\u6f22 \udcff".encode(errors="surrogateescape")
        )
    assert (done.code, done.out) == (0, "Hi.\n")
    assert provider.requests[0].body["messages"] == [
        {"role": "user", "content": "Gr\u00fc\u00dfe\n\u6f22 \ufffd"}
    ]


# What a reply does not say by itself.


TOOLS = (
    CallTool(index=0, id="a", name="look_up", arguments='{"of": 1}'),
    CallTool(index=1, id="b", name="a\x1b[2Jb"),
)


@pytest.mark.parametrize(
    ("reply", "out", "remark"),
    [
        (answer("One, tw", finish="length"), "One, tw\n", "the reply is cut short: it reached as many tokens as the provider allows"),
        (answer("One", finish="content_filter"), "One\n", "the reply is cut short by the provider's content filter"),
        (answer("One", finish="bored\x1b[2J"), "One\n", "the provider ended the reply with 'bored\ufffd[2J'"),
        (answer(""), "", "the reply is empty"),
        (answer("", reasoning="Hm? " * 300), "", "the reply is empty: all that came are 1,200 characters of reasoning"),
        (Answer([Role(), Say("One")]), "One\n", "the reply may be cut short: the stream ended and did not say that it was complete"),
        (Answer([Role(), *TOOLS, Finish("tool_calls"), Done()]), "", "the model wants to call look_up, a\ufffd[2Jb instead of answering (--json has the arguments)"),
        (Answer([Say("One"), *TOOLS[:1], Finish("tool_calls"), Done()]), "One\n", "the model also wants to call look_up (--json has the arguments)"),
    ],
    ids=["length", "filter", "unknown", "empty", "thought", "unfinished", "tools", "text and tools"],
)  # fmt: skip
async def test_what_is_missing_from_a_reply_is_said(reply: Answer, out: str, remark: str) -> None:
    done = await chat(reply)
    assert (done.code, done.out) == (0, out)
    assert done.err == f"loopwatch: {remark}\nloopwatch: 1 attempt; no tokens reported; cost unknown\n"


async def test_a_reply_that_reached_the_limit_that_was_given() -> None:
    done = await chat(answer("One, tw", finish="length", usage=USAGE), args=("--max-tokens", "34"))
    assert done.err == f"loopwatch: the reply is cut short: it reached --max-tokens 34\n{BILL}"


# What it costs.


async def test_the_cost_that_the_provider_reports() -> None:
    done = await chat(answer("Hi.", usage=Usage(12, 340, reasoning_tokens=300, cost=0.00123)))
    assert one_line(done.err) == (
        "loopwatch: 1 attempt; 12 input and 340 output tokens (300 of them reasoning); $0.00123"
    )


async def test_the_price_of_a_discarded_reply_is_looked_up_where_it_is_asked_for() -> None:
    async with scripted_provider(looping(LOOP), answer("Hi.", usage=Usage(12, 34, cost=0.5))) as provider:
        provider.generations.price("gen-1", after=1, total_cost=0.00042)
        done = await chat_at(provider.base_url, "--generation-lookup", "Hello")
    assert done.err.splitlines()[-1] == (
        "loopwatch: 2 attempts; 12 input and 34 output tokens; $0.50, and $0.00042 for 1 discarded reply"
    )
    assert provider.generations.ids == ["gen-1", "gen-1"]


async def test_a_look_up_that_fails_says_why() -> None:
    async with scripted_provider(looping(LOOP), answer("Hi.", usage=Usage(12, 34, cost=0.5))) as provider:
        provider.generations.otherwise(status(500))
        done = await chat_at(provider.base_url, "--generation-lookup", "Hello")
    assert done.err.splitlines()[-1].endswith(
        "; $0.50, and 1 discarded reply of unknown cost (the look-up was answered with HTTP 500)"
    )


# For programs.


async def test_json_is_one_object_and_says_all() -> None:
    steps: list[Step] = [
        Think("Hm."),
        Say("Hi."),
        TOOLS[0],
        Finish("tool_calls"),
        Usage(12, 34, cost=0.5),
        Done(),
    ]
    async with scripted_provider(looping(LOOP), Answer(steps), provider="Somebody") as provider:
        provider.generations.price("gen-1", total_cost=0.25)
        done = await chat_at(provider.base_url, "--json", "--generation-lookup", "Hello")
    assert done.code == 0
    told = json.loads(one_line(done.out))
    words, chars = told.pop("loop_abort_words"), told.pop("loop_abort_chars")
    assert 100 < words < chars < 3_000
    assert told == {
        "text": "Hi.",
        "tool_calls": [{"id": "a", "name": "look_up", "arguments": '{"of": 1}'}],
        "finish_reason": "tool_calls",
        "model": "some-model",
        "provider": "Somebody",
        "generation_id": "gen-2",
        "attempts": 2,
        "loop_aborts": 1,
        "loop_abort_unpriced": 0,
        "discarded_cost_usd": 0.25,
        "discarded_estimate_usd": None,
        "usage": {"input_tokens": 12, "output_tokens": 34, "cost": 0.5},
        "cost_usd": 0.5,
        "cost_source": "reported",
    }
    assert len(done.err.splitlines()) == 2, "what happened on the way, and no bill"


async def test_json_of_a_failure_says_what_was_lost() -> None:
    done = await chat(looping(LOOP), args=("--json", "--retries", "0"))
    assert done.code == 3
    told = json.loads(one_line(done.out))
    assert told["error_type"] == "model_response_loop"
    assert one_line(done.err) == f"loopwatch: {told['error']}"
    assert (told["attempts"], told["loop_aborts"], told["loop_abort_unpriced"]) == (1, 1, 1)
    assert told["discarded_cost_usd"] is None


# A model that only loops.


async def test_the_same_loop_again_ends_it() -> None:
    done = await chat(looping(LOOP))
    assert (done.code, done.out) == (3, "")
    first, last = done.err.splitlines()
    assert first.startswith("loopwatch: attempt 1 of 11 failed: model looped: ")
    assert last.startswith("loopwatch: model looped again at character 0 (rule cycle) as before: ")
    assert LOOP.strip() not in done.err
    assert [request.ended for request in done.requests] == ["dropped", "dropped"]


async def test_the_same_loop_may_be_asked_for_until_the_retries_are_spent() -> None:
    args = ("--no-stop-on-same-loop", "--retries", "1", "--preset", "eager")
    done = await chat(looping(LOOP), args=args)
    assert done.code == 3
    assert "model looped every attempt: " in done.err


async def test_reasoning_is_watched_where_it_is_asked_for() -> None:
    thinking = Answer([Think(LOOP * 200), Say("Hi."), Finish(), Done()])
    assert (await chat(thinking)).code == 0
    assert (await chat(thinking, args=("--channels", "content,reasoning", "--retries", "0"))).code == 3


async def test_what_was_lost_on_the_way_to_a_failure_is_said_where_it_is_known() -> None:
    async with scripted_provider(looping(LOOP)) as provider:
        provider.generations.otherwise(status(200, {"data": {"total_cost": 0.25}}))
        done = await chat_at(provider.base_url, "--generation-lookup", "--retries", "0", "Hello")
    assert done.code == 3
    lost, why = done.err.splitlines()
    assert lost == "loopwatch: $0.25 for 1 discarded reply"
    assert why.startswith("loopwatch: model looped every attempt: ")


# What goes wrong: one clear line each.


async def failure(*answers: Answer, args: tuple[str, ...] = (), env: dict[str, str] | None = None) -> str:
    done = await chat(*answers, args=("--retries", "0", *args), env=env)
    assert (done.code, done.out) == (1, "")
    return one_line(done.err).removeprefix("loopwatch: ")


async def test_a_wrong_key_is_named_and_not_told() -> None:
    said = await failure(status(401, error(401, "Incorrect API key provided: sk-0123456789secret")), env=KEY)
    assert said.startswith("127.0.0.1 refused the API key in OPENAI_API_KEY: ")
    assert "secret" not in said


async def test_a_missing_key_is_named() -> None:
    said = await failure(status(401))
    assert said == "no API key was sent: set OPENAI_API_KEY (HTTP 401 Unauthorized)"


async def test_a_page_of_html_is_no_reply() -> None:
    assert (await failure(status(200, "<html>Welcome</html>"))).startswith("the answer is a page of HTML")


async def test_a_provider_that_fails_midway() -> None:
    broken = Answer([Say("Hello"), Event({"error": {"message": "out of \x1b[2J memory", "code": 400}})])
    assert await failure(broken) == "the provider reports an error: out of [2J memory"


async def test_a_connection_that_breaks() -> None:
    said = await failure(Answer([Say("Hello"), Cut()]))
    assert "127.0.0.1" in said
    assert "closed the connection before the answer was complete" in said


async def test_a_provider_that_says_nothing() -> None:
    assert "nothing came for 0.2 s" in await failure(hanging(), args=("--idle", "0.2"))


async def test_a_reply_that_takes_too_long() -> None:
    endless = Answer([Say([f"{number * number:x} " for number in range(1_000)], delay=0.01)])
    assert (await failure(endless, args=("--timeout", "0.3"))).startswith("no reply within 0.3 s")


async def test_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    done = await chat_at(f"http://127.0.0.1:{port}/v1", "--retries", "0", "Hello")
    assert done.code == 1
    assert one_line(done.err).endswith(f"cannot connect to 127.0.0.1:{port}: Connection refused")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["-m", "m", "--base-url", "localhost:80", "Hello"], "invalid base URL"),
        (["-m", "m", "--temperature", "-1", "Hello"], "Invalid value for '--temperature'"),
        (["-m", "m", "--max-tokens", "0", "Hello"], "Invalid value for '--max-tokens'"),
        (["-m", "m", "--channels", "all", "Hello"], "channels"),
        (["-m", "m", " "], "the prompt is empty: there is nothing to ask"),
        (["-m", "", "Hello"], "no model was named"),
        (["Hello"], "Missing option '-m'"),
        (["-m", "m"], "Missing argument 'PROMPT'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_asked_is_refused(call: Call, args: list[str], said: str) -> None:
    done = call("chat", *args)
    assert (done.code, done.out) == (2, "")
    assert said in one_line(done.err)


def test_a_closed_standard_input_is_told() -> None:
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *CHAT, "-"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert closed.returncode == 2
    assert "standard input is closed" in one_line(closed.stderr)


# Ctrl-C.


SQUARES = Answer([Say([f"{number * number:x} " for number in range(20_000)])])


@pytest.mark.parametrize("reply", [hanging("Hello"), SQUARES], ids=["silent", "at once"])
async def test_ctrl_c_drops_the_connection_and_leaves_no_noise(reply: Answer) -> None:
    asked = asyncio.Event()

    def answering(request: Request) -> Answer:
        del request
        asked.set()
        return reply

    async with scripted_provider(answering) as provider:
        running = await asyncio.create_subprocess_exec(
            *CHAT,
            *("--base-url", provider.base_url, "Hello"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment({}),
        )
        await asked.wait()
        await asyncio.sleep(0.2)
        running.send_signal(signal.SIGINT)
        out, err = await running.communicate()
        await provider.disconnected()
    assert (running.returncode, out, err.strip()) == (130, b"", b"")
    assert [request.ended for request in provider.requests] == ["dropped"]
