"""A run that is ended from outside: by a file, by hand, by SIGKILL, by whoever listens, by a full disk."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from loopwatch.agent.folder import run_folders
from loopwatch.agent.journal import Journal
from loopwatch.records.rows import Log
from loopwatch.testing.answers import hanging, looping
from loopwatch.testing.provider import scripted_provider
from tests.agent.clocks import HastyClock
from tests.agent.runs import (
    SEED_BLOCK,
    TASK,
    Ended,
    begun,
    calls,
    capabilities,
    document,
    finish,
    profile,
    run,
)
from tests.processes import ended

ARMED = profile(loopDetection=SEED_BLOCK)
SHELL = profile(capabilities=capabilities("shell"))


async def until(events: list[dict[str, Any]], type_: str, count: int = 1) -> None:
    """Wait for the so-manieth event of a type."""
    async with asyncio.timeout(20):
        while sum(event["type"] == type_ for event in events) < count:  # noqa: ASYNC110  events tell nobody
            await asyncio.sleep(0.01)


async def test_a_file_ends_a_run_in_the_middle_of_a_reply(tmp_path: Path) -> None:
    async with begun(tmp_path, looping("void 0;\n"), hanging("Let me"), agents=(ARMED,)) as (
        one,
        events,
        provider,
    ):
        running = asyncio.ensure_future(one.astart())
        await until(events, "turn_started")
        async with asyncio.timeout(20):
            while len(provider.requests) < 2:  # noqa: ASYNC110  the provider tells nobody
                await asyncio.sleep(0.01)
        (folder,) = run_folders(tmp_path)
        folder.cancel.touch()
        result = await running
    done = Ended(result, events, provider)
    assert (done.result.status, done.result.exit_code) == ("canceled", 0)
    assert done.outcomes() == ["fatal"]
    assert done.errors["loopAborts"] == 1  # it was paid for all the same
    assert done.errors["loopAbortChars"] == 12_261
    assert done.summary["loopAbortUnpriced"] == 1
    assert done.journal.damage == []
    assert provider.requests[-1].ended == "dropped"
    assert done.of("session_ended") == [{"type": "session_ended", "status": "canceled"}]


async def test_a_task_that_is_canceled_leaves_a_whole_record(tmp_path: Path) -> None:
    async with begun(tmp_path, looping("void 0;\n"), hanging("Let me"), agents=(ARMED,)) as (
        one,
        _,
        provider,
    ):
        running = asyncio.ensure_future(one.astart())
        async with asyncio.timeout(20):
            while len(provider.requests) < 2:  # noqa: ASYNC110  the provider tells nobody
                await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    (folder,) = run_folders(tmp_path)
    summary = folder.read_summary()
    assert summary is not None
    assert (summary.status, summary.exit_code) == ("canceled", 0)
    assert (summary.summary.errors.loop_aborts, summary.summary.loop_abort_unpriced) == (1, 1)
    assert folder.read_journal().damage == []


async def test_a_command_is_ended_whole_with_the_run(tmp_path: Path) -> None:
    command = "sleep 1000 & echo $! > a; setsid sleep 1000 & echo $! > b; touch ready; wait"
    async with begun(tmp_path, calls(("shell", {"command": command})), agents=(SHELL,)) as (one, events, _):
        running = asyncio.ensure_future(one.astart())
        await until(events, "usage", 0)
        async with asyncio.timeout(20):
            while not [*tmp_path.glob("*/work/ready")]:  # noqa: ASYNC110, ASYNC240
                await asyncio.sleep(0.01)
        one.cancel()
        result = await running
    assert result.status == "canceled"
    assert all(ended(int((result.folder.work / name).read_text(encoding="utf-8"))) for name in "ab")


async def test_a_run_that_is_killed_leaves_all_that_it_did(tmp_path: Path) -> None:
    script = (calls(("shell", {"command": "echo one"})), calls(("shell", {"command": "echo two"})))
    async with scripted_provider(*script, hanging("Now I")) as provider:
        config = tmp_path / "config.json"
        config.write_bytes(msgspec.json.encode(document(provider.base_url, SHELL)))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "loopwatch", "run", str(config)),
            *("--task", TASK, "--runs", str(tmp_path / "runs")),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert process.stdout is not None
        turns = 0
        async with asyncio.timeout(30):
            async for line in process.stdout:
                turns += json.loads(line)["type"] == "turn_started"
                if turns == 3:
                    break
        process.send_signal(signal.SIGKILL)
        await process.wait()
    (folder,) = run_folders(tmp_path / "runs")
    assert folder.read_summary() is None
    record = folder.read_journal()
    assert record.damage == ["session_killed"]
    assert record.rollup.errors.turns == 2
    assert [reply.turn for reply in record.replies["implementer"]] == [1, 2]
    assert "two" in str(record.contexts["implementer"])
    assert record.header.config["agents"][0]["id"] == "implementer"


async def test_whoever_listens_may_fail_and_the_record_is_whole(tmp_path: Path) -> None:
    def deaf(event: dict[str, Any]) -> None:
        if event["type"] == "turn_started":
            raise BrokenPipeError

    async with begun(tmp_path, hanging("Let me")) as (one, _, _):
        one._emit = deaf
        with pytest.raises(BrokenPipeError):
            await one.astart()
    (folder,) = run_folders(tmp_path)
    summary = folder.read_summary()
    assert summary is not None
    assert summary.status == "canceled"
    assert folder.read_journal().damage == []


async def test_a_journal_that_reaches_its_size_stops_and_the_run_goes_on(tmp_path: Path) -> None:
    listing = calls(("shell", {"command": "seq 2000"}))
    most = 20_000
    done = await run(
        tmp_path, listing, listing, listing, finish(), agents=(SHELL,), limits={"replayMaxBytes": most}
    )
    assert done.result.status == "completed"
    assert done.journal.damage == ["byte_ceiling"]
    assert done.result.folder.journal.stat().st_size <= most
    assert done.errors["turns"] == 4
    assert json.loads(done.result.folder.summary.read_bytes())["journal"]["damage"] == ["byte_ceiling"]
    assert (
        f"the journal has reached its {most} bytes (replayMaxBytes): it records nothing more" in done.logged()
    )


async def test_a_journal_that_may_hold_nothing_says_whose_it_is(tmp_path: Path) -> None:
    done = await run(tmp_path, finish(), limits={"replayMaxBytes": 1})
    assert (done.result.status, done.journal.damage) == ("completed", ["byte_ceiling"])
    assert done.journal.header.task == TASK


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")  # noqa: PTH110
async def test_a_full_disk_ends_the_recording_and_not_the_run(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", most=10_000, redact=lambda line: line)
    journal.append(Log(level="info", message="one"), timestamp="")
    whole = journal.bytes
    kept = os.dup(journal._file)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal._file)
    journal.append(Log(level="info", message="two"), timestamp="")
    assert (journal.damage, journal.failure) == (["write_failed"], "No space left on device")
    journal.append(Log(level="info", message="three"), timestamp="")
    os.dup2(kept, journal._file)
    await journal.close("completed", timestamp="")
    assert (tmp_path / "journal.jsonl").stat().st_size == whole
    for handle in (kept, full):
        os.close(handle)


async def test_a_disk_that_takes_no_more_half_a_row_leaves_no_half(tmp_path: Path) -> None:
    program = """
import asyncio, resource, signal, sys
from pathlib import Path
from loopwatch.agent.journal import Journal
from loopwatch.records.rows import Log

journal = Journal(Path(sys.argv[1]), most=10**9, redact=lambda line: line)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal.append(Log(level="info", message="one"), timestamp="")
size = journal.bytes + 50
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
journal.append(Log(level="info", message="x" * 1000), timestamp="")
print(journal.failure, journal.damage)
asyncio.run(journal.close("completed", timestamp=""))
"""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, str(tmp_path / "j.jsonl")), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert out.decode().strip() == "File too large ['write_failed']"
    (line,) = (tmp_path / "j.jsonl").read_bytes().splitlines(keepends=True)
    assert line.endswith(b"\n")


async def test_a_summary_that_cannot_be_written_is_said_and_fails(tmp_path: Path) -> None:
    async with begun(tmp_path, finish(), clock=HastyClock()) as (one, events, provider):

        def keep(event: dict[str, Any]) -> None:
            events.append(event)
            if event["type"] == "turn_started":
                (folder,) = run_folders(tmp_path)
                folder.summary.mkdir()

        one._emit = keep
        result = await one.astart()
    done = Ended(result, events, provider)
    assert done.result.exit_code == 1
    assert any(line.startswith("no summary was written: ") for line in done.logged("error"))
    assert done.journal.end is not None
