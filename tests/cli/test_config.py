import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loopwatch.config.starter import STARTER
from tests.cli.program import Call, one_line, run

SOUND = """\
{ // one agent
  "agents": [ {"id": "a", "name": "Anna", "modelId": "m"}, ],
  "limits": {"maxParallel": 1, "replayMaxBytes": 1, "maxTurns": 9},
}
"""
ARMED = SOUND.replace(
    '"m"',
    '"m", "loopDetection": {"enabled": true, "windowWords": 64, "repeatThreshold": 32,\n'
    '  "minOffenders": 300, "minSaturatedRun": 0, "maxResponseChars": 1000}',
)
"""Sound, with a warning on its third line."""
REFUSED = SOUND.replace('"m"', '""').replace("9", "0").replace('"replay', '"reply')

WARNING = (
    "agent `Anna`: loopDetection.minOffenders = 300: a window of 64 words (windowWords) never holds that many"
    " different ones: only the length backstop can fire"
)
LAUNCH = (
    "loop detection: armed — a reply is abandoned as soon as 300 or more words have each occurred more than"
    " 32 times in the last 64, or once it passes 1000 characters"
)
CEILINGS = "limits: armed — maxTurns 9"
DEFECTS = [
    'agent `Anna`: modelId = "": must not be empty (line 2)',
    "limits.replayMaxBytes: is missing: it has no default (line 3)",
    "limits.maxTurns = 0: must be a whole number of at least 1 (line 3)",
    "limits.replyMaxBytes: is no key here: did you mean `replayMaxBytes`? (line 3)",
]


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Writes a document into a file."""

    def write(text: str | bytes) -> Path:
        path = tmp_path / "mine.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


# check


def test_a_sound_document_is_said_to_be_so(call: Call, written: Any) -> None:
    path = written(SOUND)
    assert call("config", "check", path) == (0, f"{path}: sound\n{CEILINGS}\n", "")
    assert call("config", "check", "--json", path) == (0, "", "")


def test_warnings_and_the_launch_follow(call: Call, written: Any) -> None:
    path = written(ARMED)
    done = call("config", "check", path)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [f"{path}: sound", f"warning: {WARNING} (line 3)", LAUNCH, CEILINGS]


def test_every_defect_is_a_line_on_stderr_and_the_code_is_2(call: Call, written: Any) -> None:
    done = call("config", "check", written(REFUSED))
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == DEFECTS


def test_json_is_an_object_a_defect(call: Call, written: Any) -> None:
    done = call("config", "check", written(REFUSED), "--json")
    assert (done.code, done.err) == (2, "")
    objects = [json.loads(line) for line in done.out.splitlines()]
    assert [one["kind"] for one in objects] == ["defect"] * 4
    assert objects[0] == {
        "kind": "defect",
        "agent": "Anna",
        "locus": "modelId",
        "value": '""',
        "reason": "must not be empty",
        "line": 2,
        "column": 54,
    }
    assert [objects[1][key] for key in ("agent", "locus", "value")] == [None, "limits.replayMaxBytes", None]


def test_json_is_an_object_a_warning(call: Call, written: Any) -> None:
    done = call("config", "check", written(ARMED), "--json")
    assert (done.code, done.err) == (0, "")
    (warning,) = [json.loads(line) for line in done.out.splitlines()]
    assert (warning["kind"], warning["agent"], warning["value"]) == ("warning", "Anna", "300")


@pytest.mark.parametrize(
    ("text", "code", "out"), [(SOUND, 0, f"standard input: sound\n{CEILINGS}\n"), (REFUSED, 2, "")]
)
def test_a_dash_is_standard_input(text: str, code: int, out: str) -> None:
    done = run("config", "check", "-", stdin=None, input=text)
    assert (done.returncode, done.stdout) == (code, out)
    assert done.stderr.splitlines() == (DEFECTS if code else [])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"", "line 1, column 1: expected a value, found the end of the document"),
        (b"{\n  oops", "line 2, column 3: expected a key in double quotes, or }, found `o`"),
        (b"\x89PNG\r\n", "line 1, column 1: this is not UTF-8 text"),
        (b"[" * 10_000_000, "the document is larger than 1048576 bytes"),
    ],
    ids=["empty", "broken", "binary", "large"],
)
def test_junk_is_one_line_and_the_code_2(call: Call, written: Any, text: bytes, line: str) -> None:
    done = call("config", "check", written(text))
    assert (done.code, done.out, one_line(done.err)) == (2, "", line)


@pytest.mark.parametrize(
    ("name", "reason"), [("none.json", "No such file or directory"), (".", "Is a directory")]
)
def test_a_file_that_cannot_be_read_is_one_line_and_the_code_2(
    call: Call, tmp_path: Path, name: str, reason: str
) -> None:
    done = call("config", "check", tmp_path / name)
    assert (done.code, done.out, one_line(done.err)) == (2, "", f"loopwatch: {tmp_path / name}: {reason}")


def test_a_key_that_was_written_down_is_not_repeated(call: Call, written: Any) -> None:
    slot = '"slots": {"s": {"model": "m", "apiKeyEnv": "sk-proj-abcdefghijkl"}}, "limits"'
    done = call("config", "check", written(SOUND.replace('"limits"', slot)))
    assert done.code == 2
    assert "abcdefgh" not in done.err
    assert one_line(done.err).startswith("slots.s.apiKeyEnv: looks like the key itself: ")


# init


def test_init_prints_the_starter_which_passes_the_check(call: Call) -> None:
    assert call("config", "init") == call("config", "init", "-") == (0, STARTER, "")
    done = run("config", "check", "-", stdin=None, input=STARTER)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("standard input: sound\nloop detection: armed — ")


def test_init_writes_a_file_but_never_over_one(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    assert call("config", "init", path) == (0, "", f"Written to {path}\n")
    assert path.read_text(encoding="utf-8") == STARTER
    path.write_text("mine", encoding="utf-8")
    done = call("config", "init", path)
    assert (done.code, done.out) == (2, "")
    assert one_line(done.err) == f"loopwatch: {path} exists and was left as it is: choose another name"
    assert path.read_text(encoding="utf-8") == "mine"


def test_init_follows_no_link_to_nowhere(call: Call, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "nowhere.json")
    assert call("config", "init", link).code == 2
    assert not link.exists()


def test_init_into_a_folder_that_is_missing_is_one_line_and_the_code_2(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "none" / "new.json"
    done = call("config", "init", path)
    assert (done.code, done.out) == (2, "")
    assert one_line(done.err) == f"loopwatch: {path}: No such file or directory"


# schema, and the group


def test_schema_is_a_json_schema(call: Call) -> None:
    done = call("config", "schema")
    assert (done.code, done.err) == (0, "")
    schema = json.loads(done.out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == "loopwatch configuration"


@pytest.mark.parametrize("command", ["check", "init", "schema"])
def test_each_command_has_a_help_with_an_example(call: Call, command: str) -> None:
    done = call("config", command, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"Example: loopwatch config {command}" in " ".join(done.out.split())


def test_without_a_command_the_help_goes_to_stderr_and_the_code_is_2(call: Call) -> None:
    done = call("config")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: loopwatch config ")


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (["chek"], "loopwatch config: No such command 'chek'"),
        (["check"], "loopwatch config check: Missing argument 'FILE'"),
        (["schema", "x"], "loopwatch config schema: Got unexpected extra argument (x)"),
    ],
    ids=" ".join,
)
def test_what_is_typed_wrong_is_one_line_and_the_code_2(call: Call, args: list[str], line: str) -> None:
    done = call("config", *args)
    assert (done.code, done.out) == (2, "")
    assert one_line(done.err).startswith(line)


def test_help_of_the_group_loads_no_model_of_a_document() -> None:
    code = (
        "import json, sys\nfrom loopwatch.cli.main import main\n"
        "try: main(['config', '--help'])\nexcept SystemExit: print(json.dumps(list(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pydantic", "loopwatch.config"} & {*json.loads(done.stderr)}
