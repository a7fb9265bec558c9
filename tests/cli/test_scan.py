import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Call, one_line, run
from tests.processes import ended

SCAN = [sys.executable, "-m", "loopwatch", "scan"]
CORPUS = Path(__file__).parents[2] / "corpus"
REAL = CORPUS / "real.jsonl.gz"
LOOP = "la la la, this is the song that never ends. " * 100
SOUND = "Nothing is said twice here."
KEYS = (
    "id source chars words tripped rule at_char at_word onset_char period_chars repeats saved_chars sample engine"
).split()


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def objects(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return write(tmp_path / "logs.jsonl", lines({"id": "a", "text": SOUND}, {"id": "b", "text": LOOP}))


# What it says.


def test_loops_are_named_and_a_summary_ends_it(call: Call, logs: Path) -> None:
    done = call("scan", logs)
    (one,) = [verdict for verdict in objects(call("scan", logs, "--json").out) if verdict["tripped"]]
    cut, saved = f"{one['at_char']:,}", f"{one['saved_chars']:,}"
    sample = one["sample"].replace("\n", "")[:60]
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{logs}: b: cycle since character 0, cut at {cut} of 4,400: {sample}{'...' * (len(one['sample']) > 60)}",
        "1 of 2 replies are loops (cycle 1).",
        f"Cutting them would have saved {saved} of 4,427 characters, about {one['saved_chars'] // 4:,} tokens.",
    ]


def test_where_there_is_no_loop_the_summary_stands_alone(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines({"text": SOUND}, {"text": SOUND}))
    assert call("scan", path) == (0, "2 replies, 54 characters: no loop.\n", "")


def test_rules_are_counted_in_the_summary(call: Call, tmp_path: Path) -> None:
    texts = [LOOP, " " * 9_000, LOOP, "".join(f"{n} " for n in range(60_000))]
    path = write(tmp_path / "a.jsonl", lines(*({"text": text} for text in texts)))
    out = call("scan", path).out
    assert "4 of 4 replies are loops (blank 1, cycle 2, length 1).\n" in out
    assert f"{path}: 4: length, cut at 250,001 of " in out


def test_json_is_one_object_a_reply_and_nothing_else(call: Call, logs: Path) -> None:
    done = call("scan", logs, "--json")
    assert (done.code, done.err) == (0, "")
    sound, loop = objects(done.out)
    assert list(sound) == list(loop) == KEYS
    assert (sound["id"], sound["source"], sound["tripped"], sound["rule"]) == ("a", str(logs), False, None)
    assert (loop["id"], loop["tripped"], loop["rule"], loop["onset_char"]) == ("b", True, "cycle", 0)
    assert loop["saved_chars"] == loop["chars"] - loop["at_char"]


def test_explain_says_how_near_each_rule_came_for_every_reply(call: Call, logs: Path) -> None:
    out = call("scan", logs, "--explain").out.splitlines()
    assert out[0] == f"{logs}: a: no loop in 27 characters"
    assert [line.split()[0] for line in out[1:5]] == ["cycle", "phrases", "blank", "length"]
    assert out[5].startswith(f"{logs}: b: cycle since character 0, cut at ")
    assert re.fullmatch(r"    cycle +1\d\d%  at +[\d,]+  text of 44 characters for .*", out[6])
    found = objects(call("scan", logs, "--explain", "--json").out)
    assert [list(one) for one in found] == [[*KEYS, "near"]] * 2
    assert found[0]["near"][0].keys() == {"rule", "share", "at_char", "detail"}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_corpus_is_scanned_in_order(jobs: str) -> None:
    captures = sorted((CORPUS / "sse").glob("*.sse.gz"))
    done = run("scan", REAL, *captures, "--json", "--jobs", jobs)
    assert (done.returncode, done.stderr) == (0, "")
    found = objects(done.stdout)
    assert [one["source"] for one in found] == [str(REAL)] * 88 + [str(path) for path in captures]
    recorded, streamed = (sorted(one["at_char"] or 0 for one in some) for some in (found[:88], found[88:]))
    assert recorded == streamed


# What it is told.


def test_a_preset_a_field_a_format_and_channels_are_chosen(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", lines({"a": {"b": LOOP}}))
    assert objects(call("scan", path, "--json", "--field", "a.b").out)[0]["tripped"]
    assert not objects(call("scan", path, "--json", "--field", "a.b", "--preset", "seed").out)[0]["tripped"]
    assert objects(call("scan", path, "--json", "--format", "text").out)[0]["chars"] == len(
        lines({"a": {"b": LOOP}})
    )
    path = write(tmp_path / "a.jsonl", lines({"choices": [{"message": {"content": "a", "reasoning": LOOP}}]}))
    named = [
        one["id"] for one in objects(call("scan", path, "--json", "--channels", "content, reasoning").out)
    ]
    assert named == ["1#reasoning", "1#content"]


@pytest.mark.parametrize(
    ("options", "code"), [([], 0), (["--fail-on-loop"], 3), (["--fail-on-loop", "--preset", "seed"], 0)]
)
def test_a_loop_may_be_a_failure(call: Call, logs: Path, options: list[str], code: int) -> None:
    assert call("scan", logs, *options).code == code
    assert call("scan", logs, "--json", *options).code == code


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ([], "loopwatch scan: Missing argument 'PATH...'"),
        (["a", "--preset", "lazy"], "loopwatch scan: Invalid value for '--preset': 'lazy'"),
        (["a", "--jobs", "0"], "loopwatch scan: Invalid value for '--jobs': 0"),
        (["a", "--max-line", "0"], "loopwatch scan: Invalid value for '--max-line': 0"),
        (["a", "--max-line", "9" * 30], "loopwatch scan: Invalid value for '--max-line': 9"),
        (["a", "--format", "csv"], "loopwatch scan: Invalid value for '--format': 'csv'"),
        (["a", "--channels", "x"], "loopwatch: channels has 'x': it may have content, reasoning, tools"),
        (["a", "--channels", ""], "loopwatch: channels has ''"),
        (["none.jsonl"], "loopwatch: none.jsonl: No such file or directory"),
        (["none"], "loopwatch: none: No such file or directory"),
        (
            ["none.jsonl", "none.txt"],
            "loopwatch: none.jsonl: No such file or directory; none.txt: No such file",
        ),
    ],
)
def test_what_is_typed_wrong_is_one_line_and_the_code_2(call: Call, args: list[str], line: str) -> None:
    done = call("scan", *args)
    assert (done.code, done.out) == (2, "")
    assert one_line(done.err).startswith(line)


# Bad input: one clear line each, nothing good lost.


def test_bad_records_are_named_the_rest_goes_on_and_the_code_is_1(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines({"text": LOOP}) + "oops\n{}\n" + lines({"text": SOUND}))
    done = call("scan", path, "--json", "--fail-on-loop")
    assert done.code == 1
    assert [one["id"] for one in objects(done.out)] == ["1", "4"]
    first, second = done.err.splitlines()
    assert first == f"{path}:2: not JSON: JSON is malformed: invalid character (byte 0)"
    assert second == f"{path}:3: no reply found in it: name the field with --field"
    assert "1 of 2 replies are loops" in call("scan", path).out


def test_a_path_that_is_not_there_is_named_the_rest_goes_on_and_the_code_is_2(call: Call, logs: Path) -> None:
    bad = write(logs.parent / "bad.jsonl", "oops\n")
    done = call("scan", "none.jsonl", bad, logs, "--json", "--fail-on-loop")
    assert done.code == 2
    assert done.err.splitlines()[0] == "none.jsonl: No such file or directory"
    assert len(done.err.splitlines()) == 2
    assert len(objects(done.out)) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.jsonl", b""),
        ("empty.json", b""),
        ("empty.sse", b""),
        ("empty.txt", b""),
        ("empty", b""),
        ("broken.json", b"{"),
        ("junk.jsonl", bytes(range(256)).replace(b"\n", b"") * 9),
        ("junk.json", bytes(range(256)) * 9),
        ("junk.sse", bytes(range(256)) * 9),
        ("junk.jsonl.gz", bytes(range(256)) * 9),
        ("junk.txt.zst", bytes(range(256)) * 9),
        ("junk.txt", bytes(range(256)) * 9),
        ("latin.txt", b"caf\xe9"),
        ("latin.jsonl", b'{"text": "caf\xe9"}'),
        ("two\nlines.jsonl", b"oops"),
        ("red\x1b[31m.jsonl", b"oops"),
    ],
)
def test_a_bad_file_is_one_line_and_the_good_one_is_scanned(
    call: Call, logs: Path, name: str, content: bytes
) -> None:
    bad = write(logs.parent / name, content)
    done = call("scan", bad, logs, "--json")
    assert done.code == 1
    shown = str(bad).replace("\n", "\\n").replace("\x1b", "\\x1b")
    assert one_line(done.err).startswith(shown)
    assert [one["id"] for one in objects(done.out)][-2:] == ["a", "b"]


def test_names_and_ids_cannot_write_to_the_terminal(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path / "re\x1b[31md\n.jsonl", lines({"id": "x\r\x1b[2J" + "y" * 900, "text": LOOP}))
    done = call("scan", path)
    first = done.out.splitlines()[0]
    assert first.isprintable()
    assert first.startswith(f"{tmp_path}/re\\x1b[31md\\n.jsonl: x\\r\\x1b[2J{'y' * 54}...: cycle since")


def test_names_that_are_no_text_are_printed_all_the_same(tmp_path: Path) -> None:
    try:
        path = write(tmp_path / os.fsdecode(b"caf\xe9.jsonl"), lines({"text": LOOP}))
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    for options in ([], ["--json"]):
        done = run("scan", path, *options)
        assert (done.returncode, done.stderr) == (0, "")
        assert "caf\\\\xe9" in done.stdout if options else "caf\\xe9.jsonl" in done.stdout


def test_a_line_over_the_limit_is_named_and_the_rest_goes_on(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines({"text": "x" * (1 << 20)}, {"text": SOUND}))
    done = call("scan", path, "--max-line", "1", "--json")
    assert done.code == 1
    assert one_line(done.err) == f"{path}:1: the line is longer than 1,048,576 bytes: raise --max-line"
    assert [one["id"] for one in objects(done.out)] == ["2"]
    assert call("scan", path, "--max-line", "2").code == 0


# Standard input.


def piped(data: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*SCAN, *options], input=data, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("data", "chars"),
    [
        (lines({"text": "ab"}).encode(), 2),
        (json.dumps({"choices": [{"message": {"content": "abc"}}]}, indent=2).encode(), 3),
        (b'data: {"choices": [{"delta": {"content": "abcd"}}]}\n\n', 4),
        (b"abcde", 5),
    ],
    ids=["lines", "document", "stream", "text"],
)
def test_standard_input_is_scanned_whatever_it_is(data: bytes, chars: int) -> None:
    for options in (["-"], ["-", "--jobs", "2"]):
        done = piped(data, *options, "--json")
        assert (done.returncode, done.stderr) == (0, b"")
        (one,) = objects(done.stdout.decode())
        assert (one["source"], one["chars"]) == ("-", chars)


def test_standard_input_without_anything_is_one_line() -> None:
    done = piped(b"", "-")
    assert (done.returncode, done.stdout) == (1, b"0 replies, 0 characters: no loop.\n")
    assert one_line(done.stderr.decode()) == "-: there is nothing in it"


def test_standard_input_that_is_closed_is_one_line_and_the_code_2() -> None:
    command = ["sh", "-c", 'exec "$0" -m loopwatch scan - <&-', sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert one_line(done.stderr) == "loopwatch: -: standard input is closed"


# A terminal.


def on_terminals(logs: Path, *, out_too: bool) -> tuple[str, str]:
    """What reaches a terminal on standard error, and a pipe on standard output unless that is it too."""
    leading, following = pty.openpty()
    command = [*SCAN, str(logs), "none.txt"]
    out = following if out_too else subprocess.PIPE
    env = os.environ | {"TERM": "xterm", "COLUMNS": "300"}
    with subprocess.Popen(command, stdout=out, stderr=following, env=env) as program:
        os.close(following)
        shown = b"".join(reads_of(leading))
        piped = b"" if program.stdout is None else program.stdout.read()
    os.close(leading)
    assert program.returncode == 2
    return shown.decode().replace("\r\n", "\n"), piped.decode()


def reads_of(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            return
        if not data:
            return
        yield data


@pytest.mark.parametrize("out_too", [False, True], ids=["piped", "all on a terminal"])
def test_a_terminal_shows_a_bar_and_every_line_whole(logs: Path, *, out_too: bool) -> None:
    shown, piped = on_terminals(logs, out_too=out_too)
    assert "━" in shown
    told = shown if out_too else piped
    assert re.search(
        rf"(?:^|\r\x1b\[2K){re.escape(str(logs))}: b: cycle since .* never ends\. ", told, re.MULTILINE
    )
    assert "1 of 2 replies are loops (cycle 1).\n" in told
    assert re.search(r"(?:^|\r\x1b\[2K)none\.txt: No such file or directory$", shown, re.MULTILINE)
    assert "No such file" not in piped
    assert "\x1b" not in piped


# How it ends.


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough work for some seconds."""
    with (tmp_path_factory.mktemp("large") / "large.jsonl").open("w", encoding="utf-8") as file:
        for number in range(3_000):
            text = " ".join(str(number * word * 7_919 % 10_007) for word in range(1_500))
            file.write(json.dumps({"text": text}) + "\n")
    return Path(file.name)


def workers_of(program: subprocess.Popen[Any]) -> list[int]:
    """The processes that do its work, as soon as both are there."""
    listing = Path(f"/proc/{program.pid}/task/{program.pid}/children")
    while program.poll() is None:
        children = [int(pid) for pid in listing.read_text(encoding="ascii").split()]
        found = [pid for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        if len(found) == 2:
            return found
        time.sleep(0.01)
    raise AssertionError("it ended without them")


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")


@needs_proc
@pytest.mark.parametrize("after", [0.0, 0.3, 1.0])
def test_ctrl_c_ends_every_process_with_130_and_no_traceback(large: Path, after: float) -> None:
    command = [*SCAN, str(large), "--jobs", "2", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as program:
        workers = workers_of(program)
        time.sleep(after)
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to all of them
        _, err = program.communicate(timeout=60)
    assert (program.returncode, err.strip()) == (130, "")
    assert all(map(ended, workers))


@needs_proc
def test_a_process_that_is_killed_is_one_line_and_the_code_1(large: Path) -> None:
    command = [*SCAN, str(large), "--jobs", "2", "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as program:
        workers = workers_of(program)
        os.kill(workers[1], signal.SIGKILL)
        _, err = program.communicate(timeout=60)
    assert program.returncode == 1
    assert (
        one_line(err) == "loopwatch: a scanning process was killed by signal 9: scan again, with fewer --jobs"
    )
    assert all(map(ended, workers))


@needs_proc
def test_processes_do_not_outlive_the_program(large: Path) -> None:
    command = [*SCAN, str(large), "--jobs", "2", "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        workers = workers_of(program)
        program.kill()
        program.wait(60)
    assert all(map(ended, workers))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_reader_that_has_enough_ends_it_soon_and_without_a_message(large: Path, jobs: str) -> None:
    began = time.monotonic()
    with subprocess.Popen(
        [*SCAN, str(large), "--json", "--jobs", jobs], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert json.loads(program.stdout.readline())["id"] == "1"
        program.stdout.close()
        assert program.stderr is not None
        assert program.stderr.read() == b""
    assert program.returncode == 1
    assert time.monotonic() - began < 30


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("options", [[], ["--json"], ["--json", "--jobs", "2"]])
def test_output_that_does_not_fit_is_one_line_and_the_code_1(options: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = run("scan", REAL, *options, stdout=full)
    assert done.returncode == 1
    assert one_line(done.stderr) == "loopwatch: [Errno 28] No space left on device"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_are_closed_are_no_matter(logs: Path, closed: str) -> None:
    command = ["sh", "-c", f'exec "$0" -m loopwatch scan "$1" --fail-on-loop {closed}', sys.executable]
    done = subprocess.run([*command, logs], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (3, "")
