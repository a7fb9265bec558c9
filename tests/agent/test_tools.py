"""The tools: what they do, and that they stay where they belong."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopwatch.agent.calling import Toolbox, Wanted
from loopwatch.agent.secrecy import is_secret, plain_environment, secrets_of
from loopwatch.agent.tools.files import MOST_ENTRIES, Files
from loopwatch.agent.tools.shell import MOST_OUTPUT, Shell
from loopwatch.agent.tools.tool import MOST_BYTES, Tool, clipped, tool
from loopwatch.clock import SystemClock
from loopwatch.errors import InputError

KEY = "sk-test-0123456789abcdef"


def toolbox(*tools: Tool, key: str = KEY) -> Toolbox:
    return Toolbox({one.name: one for one in tools}, secrets_of(["THE_KEY"], {"THE_KEY": key}), SystemClock())


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A working folder, with something beside it that is none of its business."""
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "outside.txt").write_text("outside", encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    return folder


@pytest.fixture
def use(work: Path) -> Callable[..., Any]:
    """Calls a tool on files; what it said."""
    box = toolbox(*Files(work).tools())

    def use(name: str, **arguments: Any) -> str:
        return asyncio.run(
            box.one(Wanted(f"{name}_file" if name != "list" else "list_files", arguments))
        ).text

    return use


# Files.


def test_a_file_is_written_read_edited_and_listed(use: Callable[..., str], work: Path) -> None:
    assert use("write", path="a/b/c.txt", text="one\ntwo\nthree\n") == "Wrote 14 bytes to a/b/c.txt."
    assert use("read", path="a/b/c.txt") == "one\ntwo\nthree\n"
    assert use("read", path="./a/../a/b/c.txt", first_line=2, lines=1) == "two\n[… more from line 3 on]"
    assert use("edit", path="a/b/c.txt", old="two", new="2") == "Edited a/b/c.txt."
    assert (work / "a/b/c.txt").read_text(encoding="utf-8") == "one\n2\nthree\n"
    (work / "link").symlink_to("a")
    assert use("list") == "a/\nlink@"
    assert use("list", path="link/b") == "c.txt"
    assert use("read", path="link/b/c.txt").startswith("one")


@pytest.mark.parametrize(
    "path", ["../outside.txt", "/etc/passwd", "a/../../outside.txt", "..", "up/outside.txt", "abs", "loop"]
)
def test_no_path_leads_out(use: Callable[..., str], work: Path, path: str) -> None:
    (work / "up").symlink_to("..")
    (work / "abs").symlink_to("/etc/passwd")
    (work / "loop").symlink_to("loop")
    for name, more in (("read", {}), ("write", {"text": "x"}), ("edit", {"old": "outside", "new": "in"})):
        said = use(name, path=path, **more)
        assert said.startswith("Error: ")
        assert "outside" not in said.removeprefix("Error: the path leads out of the working folder")
    assert use("list", path=path).startswith("Error: ")
    assert (work.parent / "outside.txt").read_text(encoding="utf-8") == "outside"
    assert sorted(one.name for one in work.parent.iterdir()) == ["elsewhere", "outside.txt", "work"]


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(use: Callable[..., str], work: Path) -> None:
    (work / "d").mkdir()
    (work / "d/f.txt").write_text("in", encoding="utf-8")
    assert use("read", path="d/f.txt") == "in"
    (work / "d").rename(work / "e")
    (work / "d").symlink_to("../elsewhere")
    assert "leads out" in use("write", path="d/f.txt", text="x")
    assert not [*(work.parent / "elsewhere").iterdir()]


def test_what_is_no_ordinary_file_is_not_opened(use: Callable[..., str], work: Path) -> None:
    os.mkfifo(work / "pipe")
    for name, more in (("read", {}), ("write", {"text": "x"}), ("edit", {"old": "a", "new": "b"})):
        assert use(name, path="pipe", **more) == "Error: it is no ordinary file"
    assert use("read", path=".").startswith("Error: ")
    assert use("write", path=".", text="x") == "Error: it is a folder"
    assert use("read", path="a\0b") == "Error: the path holds a character that no name can have"


def test_an_edit_must_know_its_place(use: Callable[..., str]) -> None:
    use("write", path="f", text="a b a")
    assert "2 times" in use("edit", path="f", old="a", new="c")
    assert "0 times" in use("edit", path="f", old="z", new="c")
    assert "0 times" in use("edit", path="f", old="", new="c")


def test_much_is_shown_in_part(use: Callable[..., str], work: Path) -> None:
    for number in range(MOST_ENTRIES + 2):
        (work / f"{number:05}").touch()
    assert use("list").splitlines()[-1] == "[… 2 more]"
    (work / "long").write_text("x" * (MOST_BYTES + 10), encoding="utf-8")
    assert use("read", path="long").endswith("[… more from line 1 on]")
    text, size = clipped("ä" * MOST_BYTES)
    assert (len(text.encode()) <= MOST_BYTES + 50, size) == (True, 2 * MOST_BYTES)


def test_a_file_keeps_its_mode_and_is_replaced_whole(use: Callable[..., str], work: Path) -> None:
    use("write", path="run.sh", text="#!/bin/sh")
    (work / "run.sh").chmod(0o755)
    use("write", path="run.sh", text="#!/bin/bash")
    assert (work / "run.sh").stat().st_mode & 0o777 == 0o755
    assert [one.name for one in work.iterdir()] == ["run.sh"]


# The shell.


def shell(work: Path, command: str, timeout: float = 20) -> str:
    box = toolbox(Shell(work, plain_environment(["THE_KEY"]), timeout_secs=timeout).tool())
    return asyncio.run(box.one(Wanted("shell", {"command": command}))).text


def test_a_command_says_what_it_did(work: Path) -> None:
    assert shell(work, "echo out; echo err >&2; pwd; exit 3") == f"out\nerr\n{work}\n[exit status 3]"
    assert shell(work, "kill -TERM $$") == "[signal SIGTERM]"
    assert shell(work, "cat") == "[exit status 0]"  # nothing to read, and nobody who waits for it


def test_a_command_ends_at_its_limit_with_all_that_it_started(work: Path) -> None:
    said = shell(work, "echo begun; (setsid sleep 500 & echo $! > pid); sleep 500", timeout=0.5)
    assert said == "Error: begun\n[ended: it took longer than 0.5 s]"
    assert not _runs(work / "pid")


def test_nothing_that_a_command_leaves_behind_outlives_it(work: Path) -> None:
    assert shell(work, "sleep 500 & echo $! > one; setsid sleep 500 & echo $! > two") == "[exit status 0]"
    assert not _runs(work / "one")
    assert not _runs(work / "two")


def test_only_the_end_of_a_long_output_is_kept(work: Path) -> None:
    said = shell(work, "seq 100000")
    assert said.endswith("99999\n100000\n[exit status 0]")
    assert said.startswith("[… ")
    assert len(said) < MOST_OUTPUT + 100


def test_a_key_is_neither_given_nor_shown(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    monkeypatch.setenv("SOME_API_KEY", "another-secret")
    assert KEY not in shell(work, "env")
    assert "another-secret" not in shell(work, "env")
    assert shell(work, f"echo {KEY}") == "[hidden]\n[exit status 0]"


@pytest.mark.parametrize(
    ("name", "secret"), [("OPENAI_API_KEY", True), ("DB_PASSWORD", True), ("HOME", False)]
)
def test_what_a_secret_is_called(name: str, secret: bool) -> None:  # noqa: FBT001
    assert is_secret(name) == secret


def _runs(pid: Path) -> bool:
    from tests.processes import ended

    return not ended(int(pid.read_text(encoding="utf-8")))


# Tools of one's own.


def test_a_tool_that_hangs_is_left_behind() -> None:
    def hang() -> None:
        time.sleep(3600)

    async def wait() -> None:
        await asyncio.sleep(3600)

    box = toolbox(tool(hang, limit_secs=0.05), tool(wait, limit_secs=0.05))
    for name in ("hang", "wait"):
        done = asyncio.run(box.one(Wanted(name, {})))
        assert (done.text, done.failure) == ("Error: it took longer than 0.05 s", "timeout")


def test_a_tools_own_time_out_is_its_failure() -> None:
    async def fail() -> None:
        raise TimeoutError("upstream")

    done = asyncio.run(toolbox(tool(fail)).one(Wanted("fail", {})))
    assert (done.text, done.failure) == ("Error: TimeoutError: upstream", "failed")


def test_what_cannot_be_a_tool_is_refused() -> None:
    def untyped(one) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        del one

    def many(*ones: int) -> None:
        del ones

    def strange(one: asyncio.Lock) -> None:
        del one

    for function in (untyped, many, strange):
        with pytest.raises(InputError, match=f"tool '{function.__name__}'"):
            tool(function)


def test_results_of_any_kind_are_text() -> None:
    def listing() -> list[dict[str, int]]:
        return [{"a": 1}]

    def odd() -> object:
        return "\ud800 and"

    box = toolbox(tool(listing), tool(odd))
    assert asyncio.run(box.one(Wanted("listing", {}))).text == '[{"a":1}]'
    assert asyncio.run(box.one(Wanted("odd", {}))).text == "? and"


async def test_tools_that_may_run_side_by_side_do_and_others_wait() -> None:
    running, most, order = 0, 0, []

    async def slow(name: str) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5):
            await asyncio.sleep(0)
        running -= 1
        order.append(name)
        return name

    async def alone(name: str) -> str:
        assert not running
        return await slow(name)

    box = toolbox(tool(slow, parallel=True), tool(alone))
    wanted = [Wanted("slow", {"name": "a"}), Wanted("slow", {"name": "b"}), Wanted("alone", {"name": "c"})]
    done = await box.all([*wanted, Wanted("slow", {"name": "d"})])
    assert [one.text for one in done] == ["a", "b", "c", "d"]
    assert (most, order[2:]) == (2, ["c", "d"])
