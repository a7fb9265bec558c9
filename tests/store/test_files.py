"""Files that are no database, or no longer one: one line that says what to do."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from loopwatch.clock import ManualClock
from loopwatch.errors import StoreError, StoreUnavailable
from loopwatch.store.opening import open_store
from tests.store.calls import a_call, log, price_of

ROOT = Path(__file__).parents[2]


async def refusal(url: str, clock: ManualClock) -> str:
    """Why the database cannot be opened."""
    with pytest.raises(StoreError) as refused:
        async with open_store(url, clock):
            raise AssertionError
    assert "\n" not in str(refused.value)
    return str(refused.value)


async def test_a_file_of_something_else(tmp_path: Path, clock: ManualClock) -> None:
    file = tmp_path / "calls.db"
    for contents in (b"\x89PNG\r\n", b"SQLite format", b"x" * 8_192):
        file.write_bytes(contents)
        said = await refusal(f"sqlite:///{file}", clock)
        assert said.startswith(f"{file} is no SQLite database: name another file, or put a backup")
        assert file.read_bytes() == contents


async def test_an_empty_file_becomes_a_database(tmp_path: Path, clock: ManualClock) -> None:
    (tmp_path / "calls.db").touch()
    async with open_store(f"sqlite:///{tmp_path}/calls.db", clock) as store:
        await store.ready()


async def test_what_is_no_file(tmp_path: Path, clock: ManualClock) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is no file" in await refusal(f"sqlite:///{tmp_path}/pipe", clock)


async def test_a_database_of_another_program(tmp_path: Path, clock: ManualClock) -> None:
    file = tmp_path / "calls.db"
    for statement in ("CREATE TABLE bookmarks (url TEXT)", "CREATE TABLE alembic_version (version_num TEXT)"):
        with closing(sqlite3.connect(file)) as other:
            other.execute(statement)
        assert "is of another program" in await refusal(f"sqlite:///{file}", clock)
    with closing(sqlite3.connect(file)) as other:
        tables = other.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
    assert tables == [("alembic_version",), ("bookmarks",)]


async def test_a_file_that_ends_too_soon(tmp_path: Path, clock: ManualClock) -> None:
    file = tmp_path / "calls.db"
    async with open_store(f"sqlite:///{file}", clock):
        pass
    with file.open("r+b") as cut:
        cut.truncate(6_000)
    said = await refusal(f"sqlite:///{file}", clock)
    assert said.startswith(f"the database {file} is damaged: stop the server and put the last backup")


async def test_damage_that_is_met_while_it_runs(
    tmp_path: Path, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "calls.db"
    async with open_store(f"sqlite:///{file}", clock, price=price_of) as store:
        project = (await store.projects.create("Acme")).id
        for batch in range(20):
            await log(store, project, *(a_call(clock, 1, f"u{batch}-{n}") for n in range(100)))
    size = file.stat().st_size
    with file.open("r+b") as damaged:
        damaged.seek(size // 2)
        damaged.write(b"\xa5" * (size // 2))
    async with open_store(f"sqlite:///{file}", clock, price=price_of) as store:
        with pytest.raises(StoreUnavailable, match="is damaged") as found:
            await log(store, project, *(a_call(clock, 1, f"u{n}") for n in range(500)))
        assert found.value.retry_after > 0
        assert store.writer.counts.stored == 0
        with pytest.raises(StoreUnavailable, match="is damaged"):
            await store.reports.recent(project, limit=1_000)
    assert [str(file) in line for line in caplog.messages if "is damaged" in line] == [True, True]


@pytest.mark.skipif(os.geteuid() != 0, reason="run as root: it starts programs as a user who may do less")
@pytest.mark.parametrize("which", ["file", "folder"])
def test_what_this_user_may_not_write(which: str) -> None:
    folder = Path(f"/tmp/loopwatch-{os.getpid()}-{which}")  # noqa: S108  pytest's are closed to others
    folder.mkdir(mode=0o777)
    file = folder / "calls.db"
    try:
        with closing(sqlite3.connect(file)) as made:
            made.execute("VACUUM")
        folder.chmod(0o777 if which == "file" else 0o555)
        file.chmod(0o444 if which == "file" else 0o666)
        program = (
            "import os, pathlib\n"
            "from loopwatch.store.files import refuse_unusable\n"
            "os.setuid(65534)\n"
            f"refuse_unusable(pathlib.Path({str(file)!r}))"
        )
        # Nobody may write where coverage keeps its figures.
        plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=plain)
    finally:
        file.unlink()
        folder.rmdir()
    named = file if which == "file" else f"the folder {folder}"
    assert f"{named} may not be" in done.stderr.splitlines()[-1]
