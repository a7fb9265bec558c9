import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from aiohttp import web

from loopwatch.cli import demo_story
from loopwatch.testing.answers import answer, looping
from loopwatch.testing.looping import SOUND, looping_server
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.smallmodel import weights
from tests.cli.program import one_line, run

ARGS = ("--port", "0", "--no-browser")
DEMO = [sys.executable, "-m", "loopwatch", "demo", *ARGS]
BUILT_IN = ("demo", *ARGS, "--probe", "--builtin", "--delay", "0")
ROUND = "and round and round it goes, "


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("PYTHONASYNCIODEBUG", raising=False)  # it reports slow steps on standard error


def parts(out: str) -> list[str]:
    """The first words of the story's own lines, in their order."""
    return re.findall(
        r"^(?:No model|A real|Question|Loop!|  rule|  began|  cut|  uncut|  cost|Retry|Finished|Attempts)",
        out,
        flags=re.MULTILINE,
    )


STORY = [
    "Question",
    "Loop!",
    "  rule",
    "  began",
    "  cut",
    "  uncut",
    "  cost",
    "Retry",
    "Finished",
    "Attempts",
]


def counts(out: str) -> tuple[int, int, int, int]:
    """Attempts, loops cut, characters and words discarded: the story's last line."""
    pattern = r"Attempts (\d+), loops cut (\d+), characters discarded ([\d,]+), words ([\d,]+)\.\n"
    found = re.search(pattern, out)
    assert found is not None
    attempts, cut, chars, words = (int(figure.replace(",", "")) for figure in found.groups())
    return attempts, cut, chars, words


def test_the_story_with_the_built_in_generator() -> None:
    done = run(*BUILT_IN)
    assert (done.returncode, done.stderr) == (0, "")
    assert parts(done.stdout) == ["No model", *STORY]
    attempts, cut, chars, words = counts(done.stdout)
    assert (attempts, cut) == (2, 1)
    assert 850 < chars < 2_000
    assert 100 < words < 400
    assert f"cut after  {chars:,} characters, about " in done.stdout
    assert SOUND in done.stdout
    assert "\x1b" not in done.stdout


def test_the_cost_is_that_of_the_tokens_at_the_price_in_the_line() -> None:
    out = run(*BUILT_IN).stdout
    tokens = int(re.findall(r"about ([\d,]+) tokens", out)[0].replace(",", ""))
    cost = f"about ${tokens / 100_000:.4f} instead of up to $0.0200, at $10 per million output tokens"
    assert cost in out


def test_without_the_model_the_story_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopwatch.testing.smallmodel.find_spec", lambda _: None)
    done = invoke("--probe", "--delay", "0")
    assert parts(done) == ["No model", *STORY]
    assert "`make demo`" in done


def invoke(*args: str) -> str:
    """What the command writes when it is called in this process."""
    from click.testing import CliRunner

    from loopwatch.cli.demo import demo

    result = CliRunner().invoke(demo, [*ARGS, *args])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_model_that_does_not_start_is_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
) -> None:
    monkeypatch.setattr("loopwatch.testing.smallmodel.weights", lambda: tmp_path)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    out = invoke("--probe", "--delay", "0")
    assert parts(out) == ["A real", "No model", *STORY]
    assert "But it does not start (the small model ended before it answered: exit code 1)." in out


def test_on_a_terminal_it_is_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    outside, inside = pty.openpty()
    with subprocess.Popen([*DEMO, *BUILT_IN[3:]], stdout=inside, stderr=inside, stdin=inside) as running:
        os.close(inside)
        out = b""
        while data := read(outside):
            out += data
    os.close(outside)
    assert running.returncode == 0
    assert b"\x1b[1mNo model" in out
    assert b"\x1b[1;31mLoop!" in out


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4_096)
    except OSError:  # how Linux says that the other side has gone
        return b""


# The server beside it.


def test_the_burst_is_one_alert_and_the_pages_answer() -> None:
    out = run(*BUILT_IN).stdout
    after = out.partition("Attempts 2, loops cut 1")[2]
    assert "Logged: one call of usr_8f21c9, 1 cut on the way" in after
    assert "possible agent loop detected" in after
    assert re.search(r"tokens \(5 min\): 5[\d,]{5}\n", after)
    assert re.search(r"cost so far: +\$0\.1\d\n", after)
    assert "the number of alerts stays 1" in after
    assert "/demo/users/usr_8f21c9" in after.splitlines()[-1]


def test_it_stays_up_until_it_is_told_to_end() -> None:
    with subprocess.Popen(
        [*DEMO, "--builtin", "--delay", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as up:
        assert up.stdout is not None
        assert up.stderr is not None
        links = []
        for line in up.stdout:
            links += re.findall(r"^  (http://\S+)   ", line)
            if line.startswith("Ctrl-C ends it"):
                break
        with urllib.request.urlopen(links[0], timeout=30) as page:  # noqa: S310  our own
            assert b"Acme AI" in page.read()
        assert "/join/" in links[1]
        up.send_signal(signal.SIGTERM)
        assert up.wait(20) == 0
        assert up.stderr.read() == ""


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run("demo", "--builtin", "--probe", "--port", port)
    assert done.returncode == 1
    assert "cannot be listened on" in one_line(done.stderr)


# What goes wrong.


def failed(*args: str) -> str:
    done = run("demo", *ARGS, *args)
    assert done.returncode == 1
    return one_line(done.stderr).removeprefix("loopwatch: ")


def test_it_gives_up_in_time() -> None:
    assert failed("--builtin", "--seconds", "1") == (
        "the demo was not done within 1 seconds: allow it more with --seconds"
    )


def test_a_model_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    assert failed("--base-url", f"http://127.0.0.1:{port}/v1") == (
        f"the model was asked once and gave no reply: cannot connect to 127.0.0.1:{port}: Connection refused"
    )


def test_an_address_that_is_none() -> None:
    done = run("demo", *ARGS, "--base-url", "nowhere")
    assert done.returncode == 2
    assert one_line(done.stderr).startswith("loopwatch: invalid base URL ")


def test_ctrl_c_ends_it_without_a_traceback() -> None:
    with subprocess.Popen(
        [*DEMO, "--builtin"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        for line in running.stdout:
            if line.startswith("Release notes"):
                break
        running.send_signal(signal.SIGINT)
        assert running.wait(10) == 130
        assert running.stderr.read().strip() == ""


# Models that behave otherwise, at an address of their own.


async def demo_at(url: str) -> "subprocess.CompletedProcess[str]":
    return await anyio.to_thread.run_sync(lambda: run("demo", *ARGS, "--probe", "--base-url", url))


async def test_the_model_stops_at_the_cut() -> None:
    async with looping_server(delay=0.005) as server:
        done = await demo_at(server.base_url)
    assert done.returncode == 0, done.stderr
    looped, answer = server.replies
    assert (looped.ended, answer.ended) == ("dropped", "stop")
    cut_after = int(re.findall(r"about ([\d,]+) tokens", done.stdout)[0])
    assert cut_after <= looped.tokens < 2 * cut_after, "within a second at this pace"


Script = Callable[[web.StreamResponse, float], Awaitable[None]]


@asynccontextmanager
async def model(script: Script) -> AsyncIterator[str]:
    """A model that streams what ``script`` writes, given the temperature asked for."""

    async def answer(request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        response = web.StreamResponse()
        await response.prepare(request)
        await script(response, asked["temperature"])
        return response

    app = web.Application()
    app.router.add_post("/chat/completions", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def send(response: web.StreamResponse, text: str, finish_reason: str | None = None) -> None:
    choice = {"delta": {"content": text}, "finish_reason": finish_reason}
    await response.write(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")


async def loop_for_ever(response: web.StreamResponse, temperature: float) -> None:
    del temperature
    for _ in range(200):
        await send(response, ROUND)
    await send(response, "", "length")


async def never_loop(response: web.StreamResponse, temperature: float) -> None:
    del temperature
    for number in range(2_000):
        await send(response, f"{number * number:x} ")
    await send(response, "", "stop")


async def break_off(response: web.StreamResponse, temperature: float) -> None:
    del temperature
    await send(response, "Well, ")


async def no_chunk(response: web.StreamResponse, temperature: float) -> None:
    del temperature
    await response.write(b"data: {\n\n")


async def steer_the_terminal(response: web.StreamResponse, temperature: float) -> None:
    if temperature == 0:
        await loop_for_ever(response, temperature)
    await send(response, "\x1b[2Jsound\x07 \u20ac\n", "length")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (loop_for_ever, "each of 4 attempts became a loop and was cut"),
        (never_loop, "none of 3 questions made this model loop: there is nothing to show"),
        (break_off, "the model's reply broke off"),
        (no_chunk, "event 1 of the reply cannot be read: Input data was truncated"),
    ],
    ids=["always loops", "never loops", "breaks off", "no chunk"],
)
async def test_a_model_that_cannot_be_shown(script: Script, message: str) -> None:
    async with model(script) as url:
        done = await demo_at(url)
    assert done.returncode == 1
    assert one_line(done.stderr) == "loopwatch: " + message


async def test_a_model_that_loops_again_is_cut_again() -> None:
    temperatures = []

    async def loop_twice(response: web.StreamResponse, temperature: float) -> None:
        temperatures.append(temperature)
        if len(temperatures) < 3:
            await loop_for_ever(response, temperature)
        else:
            await send(response, "Sound.", "stop")

    async with model(loop_twice) as url:
        done = await demo_at(url)
    assert done.returncode == 0, done.stderr
    assert counts(done.stdout)[:2] == (3, 2)
    assert temperatures == [0, demo_story.SOUND["temperature"], demo_story.SOUND["temperature"]]


async def test_an_endless_reply_without_a_loop_is_left() -> None:
    async with model(never_loop) as url:
        done = await demo_at(url)
    assert done.stdout.count(f"This time no loop, after {demo_story.PATIENCE} tokens.") == 3


async def test_a_reply_cannot_steer_the_terminal() -> None:
    async with model(steer_the_terminal) as url:
        done = await demo_at(url)
    assert done.returncode == 0, done.stderr
    assert "\n\ufffd[2Jsound\ufffd \u20ac\n" in done.stdout
    assert "Reached its max_tokens" in done.stdout


async def test_an_output_that_cannot_hold_every_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    async with model(steer_the_terminal) as url:
        done = await demo_at(url)
    assert done.returncode == 0, done.stderr
    assert "\n?[2Jsound? ?\n" in done.stdout


async def test_a_model_that_refuses() -> None:
    async with looping_server() as server:
        done = await demo_at(f"{server.base_url}/nowhere")
    assert done.returncode == 1
    assert "there is nothing at http://127.0.0.1:" in one_line(done.stderr)
    assert "/v1/nowhere (HTTP 404 Not Found)" in done.stderr


async def test_no_provider_s_key_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    async with scripted_provider(looping(ROUND), answer("Sound.")) as provider:
        done = await demo_at(provider.base_url)
    assert done.returncode == 0, done.stderr
    assert counts(done.stdout)[:2] == (2, 1)
    assert not [request for request in provider.requests if "Authorization" in request.headers]
    assert [request.ended for request in provider.requests] == ["dropped", "finished"]


# The real thing.


@pytest.mark.slow
@pytest.mark.skipif(weights() is None, reason="the small model is not installed: `make demo` installs it")
def test_the_story_with_the_real_model() -> None:
    done = subprocess.run([*DEMO, "--probe"], capture_output=True, text=True, check=False, timeout=150)
    assert (done.returncode, done.stderr) == (0, "")
    assert parts(done.stdout)[0] == "A real"
    attempts, cut, chars, words = counts(done.stdout)
    assert 1 <= cut == attempts - 1
    assert chars > words > 0
