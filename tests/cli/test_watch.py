import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import one_line
from tests.wire.streams import STREAMS, anthropic, block, chunk, event, gemini, lines

WATCH = [sys.executable, "-m", "loopwatch", "watch"]
ROUND = "and round we go, "
LOOP = b"".join(chunk({"content": ROUND}) for _ in range(300))
SOUND = chunk({"content": "Nothing is "}) + chunk({"content": "said twice."}) + b"data: [DONE]\n\n"


def watch(stream: bytes, *options: str) -> tuple[int, str, str]:
    """The exit code, the output and the messages for a stream that comes at once."""
    done = subprocess.run([*WATCH, *options], input=stream, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# What is printed.


@pytest.mark.parametrize("name", STREAMS)
def test_the_content_of_any_provider_is_printed_and_nothing_else(name: str) -> None:
    stream, pieces = STREAMS[name]
    said = "".join(piece.text for piece in pieces if piece.channel == "content")
    assert watch(stream) == (0, said, "")


def test_a_loop_is_stopped_and_the_reason_goes_to_standard_error() -> None:
    code, out, err = watch(LOOP)
    assert code == 3
    assert out == ROUND * (len(out) // len(ROUND))
    assert 800 < len(out) < 1_500
    said = one_line(err)
    assert said.startswith("loopwatch: the model looped: a passage of 17 characters repeated ")
    assert "round" not in said


def test_a_loop_as_json_is_one_object_and_no_text() -> None:
    code, out, err = watch(LOOP, "--json")
    assert (code, err) == (3, "")
    trip = json.loads(one_line(out))
    assert trip == {
        "channel": "content",
        "rule": "cycle",
        "words": trip["words"],
        "chars": trip["chars"],
        "onset": 0,
        "period": 17,
        "repeats": trip["chars"] / 17,
        "offenders": None,
        "saturated_run": None,
    }
    assert watch(SOUND, "--json") == (0, "", "")


@pytest.mark.parametrize(("preset", "code"), [("seed", 0), ("balanced", 3), ("eager", 3)])
def test_a_preset_may_be_chosen(preset: str, code: int) -> None:
    assert watch(LOOP, "--preset", preset)[0] == code


@pytest.mark.parametrize(
    ("channel", "delta"),
    [
        ("reasoning", {"reasoning": ROUND}),
        ("tools", {"tool_calls": [{"function": {"arguments": ROUND}}]}),
    ],
)
def test_other_channels_are_watched_where_they_are_named(channel: str, delta: dict[str, Any]) -> None:
    stream = b"".join(chunk(delta) for _ in range(300)) + SOUND
    assert watch(stream) == (0, "Nothing is said twice.", "")
    code, out, err = watch(stream, "--channels", f"content,{channel}")
    assert (code, out) == (3, "")
    assert one_line(err).startswith(f"loopwatch: the model looped in {channel}: ")
    code, out, _ = watch(stream, "--channels", channel, "--json")
    assert (code, json.loads(out)["channel"]) == (3, channel)


def test_each_of_several_replies_is_watched_by_itself() -> None:
    sound = [{"content": f"{n * 7_919 % 10_007} "} for n in range(300)]
    assert watch(b"".join(chunk(one, {"content": "a "}) for one in sound))[0] == 0
    assert watch(b"".join(chunk(one, {"content": ROUND}) for one in sound))[0] == 3


def test_loops_of_anthropic_gemini_and_ollama_are_stopped() -> None:
    for piece in (
        block(0, type="text_delta", text=ROUND),
        event(gemini({"text": ROUND})),
        lines({"message": {"role": "assistant", "content": ROUND}, "done": False}),
    ):
        assert watch(anthropic("ping") + piece * 300 if piece.startswith(b"event") else piece * 300)[0] == 3


def test_a_reply_that_came_whole_is_printed_and_watched() -> None:
    whole = {"choices": [{"message": {"role": "assistant", "content": "Nothing is said twice."}}]}
    for indent in (None, 2):
        assert watch(json.dumps(whole, indent=indent).encode()) == (0, "Nothing is said twice.", "")
    assert watch(lines({"choices": [{"message": {"content": ROUND * 300}}]}))[0] == 3


def test_a_pipe_gets_the_text_as_it_is() -> None:
    assert watch(chunk({"content": "\x1b[1mbold\x1b[0m\r\n"})) == (0, "\x1b[1mbold\x1b[0m\r\n", "")


# What goes wrong: one clear line each.


ERROR = {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "code": 401}}


@pytest.mark.parametrize(
    "stream",
    [
        json.dumps(ERROR).encode(),
        lines(ERROR),
        json.dumps(ERROR, indent=2).encode() + b"\n",
        json.dumps([ERROR], indent=2).encode(),
        event(ERROR),
    ],
    ids=["one line", "with its end", "several lines", "list", "event"],
)
def test_an_error_instead_of_a_stream_is_passed_on(stream: bytes) -> None:
    code, out, err = watch(stream)
    assert (code, out) == (1, "")
    assert one_line(err) == "loopwatch: the provider reports an error: Incorrect API key provided"


def test_an_error_midway_ends_it_and_what_came_before_is_printed() -> None:
    code, out, err = watch(chunk({"content": "Nothing "}) + event(ERROR) + chunk({"content": "more"}))
    assert (code, out) == (1, "Nothing ")
    assert one_line(err) == "loopwatch: the provider reports an error: Incorrect API key provided"


def test_an_event_that_cannot_be_read_is_named_and_the_rest_goes_on() -> None:
    code, out, err = watch(chunk({"content": "Nothing "}) + b"data: {oops\n\n" + chunk({"content": "more"}))
    assert (code, out) == (1, "Nothing more")
    assert one_line(err).startswith("loopwatch: event 2 cannot be read: JSON is malformed: ")
    assert watch(b"data: {oops\n\n" + LOOP)[0] == 3


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (b"", "loopwatch: the stream is empty"),
        (b"\n\n", "loopwatch: the stream is empty"),
        (b"<html>502 Bad Gateway</html>\n", "loopwatch: this is no stream of a known format: "),
        (b"{", "loopwatch: this is no stream of a known format: "),
        (bytes(range(256)) * 99, "loopwatch: this is no stream of a known format: "),
        (b"data: " + b"x" * (9 << 20), "loopwatch: a line of the stream has no end after 8,388,608 bytes"),
    ],
    ids=["empty", "blank", "HTML", "cut", "junk", "endless"],
)
def test_what_is_no_stream_is_one_line_and_the_code_2(stream: bytes, said: str) -> None:
    code, out, err = watch(stream)
    assert (code, out) == (2, "")
    assert one_line(err).startswith(said)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--preset", "lazy"], "loopwatch watch: Invalid value for '--preset': 'lazy'"),
        (["--channels", "all"], "loopwatch: channels has 'all': it may have content, reasoning, tools"),
        (["file"], "loopwatch watch: Got unexpected extra argument (file)"),
    ],
)
def test_what_is_typed_wrong_is_one_line_and_the_code_2(options: list[str], said: str) -> None:
    code, out, err = watch(SOUND, *options)
    assert (code, out) == (2, "")
    assert one_line(err).startswith(said)


def test_standard_input_that_is_closed_is_one_line_and_the_code_2() -> None:
    command = ["sh", "-c", 'exec "$0" -m loopwatch watch <&-', sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert one_line(done.stderr) == "loopwatch: standard input is closed: curl -N ... | loopwatch watch"


# As the stream comes.


class Live:
    """The program with a pipe into it that brings one event after the other."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self.program: subprocess.Popen[bytes] = subprocess.Popen(WATCH, stdin=pipe, stdout=pipe, stderr=pipe)

    def kill(self) -> None:
        """Leave nothing behind, whatever became of the test."""
        self.program.kill()
        self.program.wait()
        for stream in (self.program.stdin, self.program.stdout, self.program.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def send(self, data: bytes) -> None:
        assert self.program.stdin is not None
        self.program.stdin.write(data)
        self.program.stdin.flush()

    def send_until_cut_off(self, data: bytes) -> int:
        """How often the event could be sent."""
        for sent in range(3_000):
            try:
                self.send(data)
            except BrokenPipeError:
                return sent
            time.sleep(0.002)
        raise AssertionError("it reads on and on")

    def read(self, size: int) -> bytes:
        """Just so many bytes of its output, which must come while the stream goes on."""
        assert self.program.stdout is not None
        return self.program.stdout.read(size)

    def end(self) -> tuple[int, str]:
        """The exit code and the messages, once the stream has ended."""
        with suppress(BrokenPipeError):
            assert self.program.stdin is not None
            self.program.stdin.close()
        assert self.program.stderr is not None
        err = self.program.stderr.read().decode()
        return self.program.wait(60), err


@pytest.fixture
def live() -> Iterator[Live]:
    running = Live()
    yield running
    running.kill()


def test_text_is_printed_as_it_comes(live: Live) -> None:
    for word in ("Nothing ", "is said ", "twice"):
        live.send(chunk({"content": word}))
        assert live.read(len(word)) == word.encode()
    live.send(b'data: {"choices":[{"delta":{"con')
    live.send('tent":"é"}}]}\n\n'.encode())
    assert live.read(2) == "é".encode()
    assert live.end() == (0, "")


def test_whoever_fetches_the_stream_is_cut_off_soon_after_the_loop(live: Live) -> None:
    assert (
        live.send_until_cut_off(chunk({"content": ROUND})) < 1_500
    )  # a loop of 800 characters is 48 of them
    code, err = live.end()
    assert code == 3
    assert one_line(err).startswith("loopwatch: the model looped: ")


def test_the_writer_in_a_pipeline_gets_the_signal() -> None:
    writer = (
        "import sys, time\n"
        "data = sys.argv[1].encode() + b'\\n\\n'\n"
        "for _ in range(3000): sys.stdout.buffer.write(data); sys.stdout.buffer.flush(); time.sleep(0.002)"
    )
    pipeline = '{ "$0" -c "$1" "$2"; echo "writer $?" >&2; } | "$0" -m loopwatch watch; echo "watch $?" >&2'
    data = chunk({"content": ROUND}).decode().strip()
    done = subprocess.run(
        [
            "sh",
            "-c",
            pipeline,
            sys.executable,
            f"import signal\nsignal.signal(13, signal.SIG_DFL)\n{writer}",
            data,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "writer 141" in done.stderr
    assert "watch 3" in done.stderr
    assert done.stdout == ROUND * (len(done.stdout) // len(ROUND))


@pytest.mark.parametrize("send", [b"", chunk({"content": "Nothing "})], ids=["before", "midway"])
def test_ctrl_c_ends_it_with_130_and_no_traceback(live: Live, send: bytes) -> None:
    live.send(chunk({"content": "x"}) + send)
    live.read(1)
    live.program.send_signal(signal.SIGINT)
    assert live.program.wait(60) == 130
    code, err = live.end()
    assert (code, err.strip()) == (130, "")


def test_a_reader_that_has_gone_ends_it_without_a_message(live: Live) -> None:
    live.send(chunk({"content": "x"}))
    live.read(1)
    assert live.program.stdout is not None
    live.program.stdout.close()
    live.send_until_cut_off(chunk({"content": "y"}))
    live.program.stdout = None
    assert live.end() == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_does_not_fit_is_one_line_and_the_code_1() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            WATCH, input=SOUND, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert done.returncode == 1
    assert one_line(done.stderr.decode()) == "loopwatch: [Errno 28] No space left on device"


def test_an_input_that_cannot_be_read_is_one_line_and_the_code_1() -> None:
    reading, writing = os.pipe()
    flags = fcntl.fcntl(reading, fcntl.F_GETFL)
    fcntl.fcntl(reading, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    done = subprocess.run(WATCH, stdin=reading, capture_output=True, text=True, timeout=60, check=False)
    os.close(reading)
    os.close(writing)
    assert (done.returncode, done.stdout) == (1, "")
    assert one_line(done.stderr) == "loopwatch: [Errno 11] Resource temporarily unavailable"


# On a terminal.


def test_on_a_terminal_the_reason_begins_a_line_of_its_own() -> None:
    leading, following = pty.openpty()
    with subprocess.Popen(WATCH, stdin=subprocess.PIPE, stdout=following, stderr=following) as program:
        os.close(following)
        assert program.stdin is not None
        program.stdin.write(LOOP)
        with suppress(BrokenPipeError):
            program.stdin.close()
        shown = read_all(lambda: os.read(leading, 1 << 16))
    os.close(leading)
    assert program.returncode == 3
    text, reason = shown.decode().rstrip().split("\r\n")
    assert text.startswith(ROUND)
    assert reason.startswith("loopwatch: the model looped: ")


def read_all(read: Callable[[], bytes]) -> bytes:
    """What comes until the other end is closed, which a terminal says with an error."""
    data = b""
    with suppress(OSError):
        while more := read():
            data += more
    return data


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_are_closed_are_no_matter(closed: str) -> None:
    command = ["sh", "-c", f'exec "$0" -m loopwatch watch {closed}', sys.executable]
    done = subprocess.run(command, input=LOOP, capture_output=True, timeout=60, check=False)
    assert done.returncode == 3
