"""``loopwatch run`` and ``compare``, as whoever types them sees them."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from loopwatch.agent.folder import run_folders
from loopwatch.testing.answers import Scripted, answer, hanging, looping
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import Usage
from tests.agent.runs import SEED_BLOCK, calls, capabilities, document, finish, profile
from tests.cli.program import Call, one_line

ARMED = profile(loopDetection=SEED_BLOCK)
FILES = profile(capabilities=capabilities("files"))


class Ran(NamedTuple):
    code: int | None
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


async def loopwatch(
    tmp_path: Path,
    *script: Scripted,
    agents: tuple[dict[str, Any], ...] = (),
    limits: dict[str, Any] | None = None,
    args: tuple[str, ...] = (),
    interrupt: signal.Signals | None = None,
) -> Ran:
    """Run ``loopwatch run`` against a provider; ``interrupt`` is sent once the first turn has begun."""
    async with scripted_provider(*script) as provider:
        config = tmp_path / "config.json"
        config.write_bytes(msgspec.json.encode(document(provider.base_url, *agents, limits=limits)))
        command = ("run", str(config), "--task", "Do it.", "--runs", str(tmp_path / "runs"), *args)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "loopwatch", *command),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONASYNCIODEBUG": ""},
        )
        assert process.stdout is not None
        out = b""
        while interrupt is not None and b"turn_started" not in out:
            out += await process.stdout.readline()
        if interrupt is not None:
            process.send_signal(interrupt)
        more, err = await process.communicate()
    return Ran(process.returncode, (out + more).decode(), err.decode())


async def test_events_are_json_lines_and_progress_is_on_stderr(tmp_path: Path) -> None:
    listing = calls(("list_files", {}), usage=Usage(10, 5, cost=0.5))
    done = await loopwatch(tmp_path, listing, finish(), agents=(FILES,))
    assert done.code == 0
    types = [event["type"] for event in done.events]
    assert types[0] == "log"
    assert types[-2:] == ["session_summary", "session_ended"]
    assert types.count("turn_outcome") == 2
    assert all({"timestamp", "sessionId"} <= event.keys() for event in done.events)
    *progress, last = done.err.splitlines()
    assert progress == [
        "implementer: turn 1 progressed · 0.5000 USD so far",
        "implementer: turn 2 finished · 0.5000 USD so far",
    ]
    (folder,) = run_folders(tmp_path / "runs")
    assert last == f"loopwatch: completed after 2 turns, $0.50; the record is in {folder.path.resolve()}"
    summary = json.loads(folder.summary.read_bytes())
    assert summary["summary"] == done.events[-2]["summary"]


async def test_a_ceiling_is_exit_code_3(tmp_path: Path) -> None:
    done = await loopwatch(tmp_path, answer("Prose."), limits={"maxConsecutiveErrors": 2})
    assert done.code == 3
    assert "implementer: stopped at a ceiling: consecutive_errors at 2 of 2" in done.err


async def test_pretty_is_for_people(tmp_path: Path) -> None:
    done = await loopwatch(tmp_path, calls(("list_files", {})), finish(), agents=(FILES,), args=("--pretty",))
    lines = done.out.splitlines()
    assert lines[0] == "implementer: info: limits: no ceiling is armed — only the host's clock bounds the run"
    assert lines[1] == "implementer: begins, asking scripted-model"
    assert lines[2].startswith("implementer:   list_files · 0.")
    assert lines[-1] == "implementer: ended: completed"
    one_line(done.err)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
async def test_an_interrupt_cancels_and_the_record_is_whole(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    done = await loopwatch(tmp_path, hanging("Let me"), interrupt=number)
    assert done.code == code
    assert done.events[-1]["status"] == "canceled"
    (folder,) = run_folders(tmp_path / "runs")
    assert folder.read_journal().damage == []
    assert done.err.splitlines()[0] == "loopwatch: canceling; once more ends it at once"


async def test_whoever_stops_reading_ends_the_run_and_not_its_record(tmp_path: Path) -> None:
    async with scripted_provider(hanging("Let me")) as provider:
        config = tmp_path / "config.json"
        config.write_bytes(msgspec.json.encode(document(provider.base_url)))
        command = (
            f"{sys.executable} -m loopwatch run {config} --task x --runs {tmp_path}/runs | head -1; echo $?"
        )
        process = await asyncio.create_subprocess_exec(
            *("bash", "-o", "pipefail", "-c", command),
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONASYNCIODEBUG": ""},
        )
        out, _ = await process.communicate()
    assert out.decode().splitlines()[-1] == "1"
    (folder,) = run_folders(tmp_path / "runs")
    summary = folder.read_summary()
    assert summary is not None
    assert summary.status == "canceled"


def test_a_refused_configuration_is_2_and_every_defect_in_one_line(tmp_path: Path, call: Call) -> None:
    config = tmp_path / "config.json"
    config.write_bytes(
        msgspec.json.encode(document("http://127.0.0.1:9", profile(modelSlot="other")) | {"a": 1})
    )
    done = call("run", config, "--task", "x", "--runs", tmp_path / "runs")
    assert (done.code, done.out) == (2, "")
    assert "2 defects" in one_line(done.err)
    assert not (tmp_path / "runs").exists()
    missing = call("run", tmp_path / "no.json", "--task", "x")
    assert missing.code == 2
    assert one_line(missing.err).endswith("no.json: No such file or directory")
    assert call("run", config).code == 2


# compare


async def arm(tmp_path: Path, name: str, *script: Scripted, agents: tuple[dict[str, Any], ...] = ()) -> Path:
    limits = {"maxConsecutiveErrors": 2}
    for _ in range(2):
        await loopwatch(tmp_path / name, *script, agents=agents, limits=limits)
    return tmp_path / name / "runs"


async def test_two_arms_side_by_side(tmp_path: Path, call: Call) -> None:
    for name in ("off", "on"):
        (tmp_path / name).mkdir()
    priced = finish(usage=Usage(10, 10, cost=0.25))
    off = await arm(tmp_path, "off", answer("Prose."), priced)
    on = await arm(tmp_path, "on", looping("void 0;\n"), priced, agents=(ARMED,))
    done = call("compare", off, on)
    assert (done.code, done.err) == (0, "")
    rows = {line[:26].strip(): line[26:].split() for line in done.out.splitlines()[1:]}
    assert rows["runs"] == ["2", "2"]
    assert rows["detector armed"] == ["0", "2"]
    assert rows["turns"] == ["4", "2"]
    assert rows["error turns"] == ["2", "0"]
    assert rows["of all turns"] == ["50.0%", "0.0%"]
    assert rows["replies cut as loops"] == ["0", "2"]
    assert rows["characters thrown away"] == ["0", "24,522"]
    assert rows["cost"] == ["$0.5000", "$0.5000"]
    assert "the price of 2 replies cut as loops is unknown and in no sum" in done.out
    first, second = map(json.loads, call("compare", "--json", off, on).out.splitlines())
    assert (first["errors_by_type"], second["loop_abort_words"]) == ({"missing_completion_no_call": 2}, 6_130)
    (tmp_path / "on/runs").joinpath(next(run_folders(on)).session_id, "summary.json").unlink()
    assert "1 of 2 runs have no summary" in call("compare", off, on).out
    (_, cut) = map(json.loads, call("compare", "--json", off, on).out.splitlines())
    assert (cut["completed"], cut["otherwise"], cut["loop_aborts"]) == (1, 1, 2)


def test_a_folder_without_runs_is_no_arm(tmp_path: Path, call: Call) -> None:
    done = call("compare", tmp_path, tmp_path)
    assert done.code == 2
    assert one_line(done.err) == f"loopwatch: {tmp_path}: no run is in it (loopwatch run --runs DIR)"
