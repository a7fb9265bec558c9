import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType

import click
import pytest

from loopwatch.cli import main as main_module
from loopwatch.errors import InputError, LoopwatchError, SettingsError
from tests.cli.program import Call, one_line, run

Plant = Callable[[Callable[[], object]], None]

LONG = """
import sys, types, click
from loopwatch.cli import main
main.COMMANDS["trial"] = "planted"
module = sys.modules["loopwatch.cli.trial"] = types.ModuleType("trial")
module.trial = click.command("trial")(lambda: print("a line\\n" * 1_000))
main.main(["trial"])
"""
"""A program with a command of many lines, which leaves the last of them to be flushed at the end."""

BUFFERED = os.environ | {"PYTHONUNBUFFERED": ""}


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Adds a command ``trial`` that does what it is told."""

    def planted(does: Callable[[], object]) -> None:
        module = ModuleType("loopwatch.cli.trial")
        module.__dict__["trial"] = click.command("trial")(does)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(main_module.COMMANDS, "trial", "planted by a test")

    return planted


def raising(error: BaseException) -> Callable[[], object]:
    def does() -> None:
        raise error

    return does


# What it says of itself.


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_the_commands_with_a_line_each(option: str) -> None:
    done = run(option)
    assert (done.returncode, done.stderr) == (0, "")
    listed = [line.split(maxsplit=1) for line in done.stdout.partition("Commands:\n")[2].splitlines()]
    assert listed == [[name, line] for name, line in sorted(main_module.COMMANDS.items())]


def test_help_imports_no_command_and_nothing_heavy() -> None:
    code = (
        "import json, sys\nfrom loopwatch.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: print(json.dumps(list(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(json.loads(done.stderr))
    assert "loopwatch.cli.main" in modules
    assert not modules & {"rich", "aiohttp", "asyncio", "msgspec", "pydantic", "loopwatch.detect.detector"}
    assert not [name for name in main_module.COMMANDS if f"loopwatch.cli.{name}" in modules]


@pytest.mark.parametrize("command", main_module.COMMANDS)
def test_each_command_has_a_help_with_an_example(call: Call, command: str) -> None:
    done = call(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: loopwatch {command} ")
    assert f"Example: loopwatch {command}" in " ".join(done.out.split())


def test_version_is_the_distribution_s(call: Call) -> None:
    assert call("--version") == (0, f"loopwatch, version {metadata.version('loopwatch')}\n", "")


def test_without_arguments_the_help_goes_to_stderr_and_the_code_is_2(call: Call) -> None:
    done = run()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == call("--help").out


# What it refuses.


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (["benhc"], "loopwatch: No such command 'benhc'"),
        (["--verbose"], "loopwatch: No such option '--verbose'"),
        (["bench", "--fast"], "loopwatch bench: No such option '--fast'"),
        (["bench"], "loopwatch bench: Missing argument 'CORPUS'"),
        (["bench", ".", ".."], "loopwatch bench: Got unexpected extra argument"),
        (["bench", ".", "--preset", "lazy"], "loopwatch bench: Invalid value for '--preset': 'lazy'"),
        (["bench", "a\nb"], "loopwatch bench: Invalid value for 'CORPUS'"),
    ],
    ids=lambda value: " ".join(value).replace("\n", " ") if isinstance(value, list) else "",
)
def test_what_is_typed_wrong_is_one_line_and_the_code_2(call: Call, args: list[str], line: str) -> None:
    done = call(*args)
    assert (done.code, done.out) == (2, "")
    said = one_line(done.err)
    assert said.startswith(line)
    assert said.endswith(f"(see {line.partition(':')[0]} --help)")


def test_a_program_refuses_in_the_same_way() -> None:
    done = run("benhc")
    assert (done.returncode, done.stdout) == (2, "")
    assert one_line(done.stderr).startswith("loopwatch: No such command 'benhc'")


# How a command ends.


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (LoopwatchError("it failed"), 1, "loopwatch: it failed"),
        (InputError("no such reply"), 2, "loopwatch: no such reply"),
        (SettingsError("no such preset"), 2, "loopwatch: no such preset"),
        (InputError("a\nb.jsonl: empty"), 2, "loopwatch: a b.jsonl: empty"),
        (click.ClickException("it\nfailed"), 1, "loopwatch: it failed (see loopwatch --help)"),
        (click.UsageError("not so"), 2, "loopwatch trial: not so (see loopwatch trial --help)"),
    ],
    ids=["any other", "input", "settings", "message of two lines", "click's own", "usage"],
)
def test_an_error_is_one_line_and_its_code(
    call: Call, plant: Plant, error: Exception, code: int, line: str
) -> None:
    plant(raising(error))
    done = call("trial")
    assert (done.code, done.out, one_line(done.err)) == (code, "", line)


def test_a_bug_is_not_dressed_up_as_an_error(plant: Plant) -> None:
    plant(raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        main_module.main(["trial"])


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()], ids=["Ctrl-C", "abort"])
def test_an_interrupted_command_has_the_code_130_and_no_message(
    call: Call, plant: Plant, error: BaseException
) -> None:
    plant(raising(error))
    done = call("trial")
    assert (done.code, done.out, done.err.strip()) == (130, "", "")


@pytest.mark.parametrize(("result", "code"), [(None, 0), (3, 3), ("a word", 0)])
def test_a_command_that_ends_well_may_name_its_code(
    call: Call, plant: Plant, result: object, code: int
) -> None:
    plant(lambda: result)
    assert call("trial") == (code, "", "")


def test_a_command_may_exit_with_a_code(call: Call, plant: Plant) -> None:
    plant(lambda: click.get_current_context().exit(3))
    assert call("trial") == (3, "", "")


def test_ctrl_c_stops_a_program_at_work_with_130_and_no_traceback(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    os.mkfifo(corpus)
    command = [sys.executable, "-m", "loopwatch", "bench", str(corpus)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        writer = writer_of(corpus, program)  # keeps it waiting for the corpus
        program.send_signal(signal.SIGINT)
        os.close(writer)  # the signal may come just before the read: then the end of the file ends it
        try:
            out, err = program.communicate(timeout=60)
        finally:
            program.kill()
    assert (program.returncode, out, err.strip()) == (130, "", "")


def writer_of(pipe: Path, program: subprocess.Popen[str]) -> int:
    """The end to write to of a named pipe, as soon as the program has opened the other."""
    while program.poll() is None:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads it yet
            time.sleep(0.01)
    raise AssertionError(program.communicate()[1])


# Where its output goes.


def into_a_closed_pipe(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program whose reader has gone before it writes its first line."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [sys.executable, *command],
            stdout=writer,
            stderr=subprocess.PIPE,
            env=BUFFERED,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writer)


REAL = Path(__file__).parents[2] / "corpus" / "real.jsonl.gz"


@pytest.mark.parametrize(
    "command",
    [
        ("-m", "loopwatch", "--help"),
        ("-m", "loopwatch", "bench", REAL),
        ("-m", "loopwatch", "bench", REAL, "--json"),
        ("-c", LONG),
    ],
    ids=["help", "table", "json", "buffered"],
)
def test_a_reader_that_has_gone_is_no_matter_for_a_message(command: tuple[str | Path, ...]) -> None:
    done = into_a_closed_pipe(*command)
    assert (done.returncode, done.stderr) == (1, "")


def test_head_gets_its_line_and_nobody_a_message() -> None:
    pipeline = '"$0" -c "$1" | head -n 1'
    done = subprocess.run(
        ["sh", "-c", pipeline, sys.executable, LONG], capture_output=True, env=BUFFERED, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("a line\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "command",
    [("-m", "loopwatch", "--help"), ("-m", "loopwatch", "bench", REAL), ("-c", LONG)],
    ids=["help", "table", "buffered"],
)
def test_output_that_does_not_fit_is_one_line_and_the_code_1(command: tuple[str | Path, ...]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, *command],
            stdout=full,
            stderr=subprocess.PIPE,
            env=BUFFERED,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert one_line(done.stderr) == "loopwatch: [Errno 28] No space left on device"


def test_a_program_without_stdout_does_its_work() -> None:
    command = ["sh", "-c", 'exec "$0" -m loopwatch --help >&-', sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_the_program_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    import_module("loopwatch.__main__")
    assert capsys.readouterr() == ("", "")
