"""The example runs, and its records are there to be read."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

from loopwatch.agent.arms import read_arm
from loopwatch.agent.folder import run_folders
from loopwatch.testing.provider import scripted_provider
from tests.agent.runs import calls, finish

EXAMPLES = Path(__file__).parents[2] / "examples"


async def test_two_arms(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", str(EXAMPLES / "two_arms.py")),
        *("--runs", str(tmp_path), "--models", "generator", "--tasks", "1"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONASYNCIODEBUG": ""},
    )
    out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (0, "")
    assert len(out.decode().splitlines()) == 2
    off, on = read_arm(tmp_path / "off"), read_arm(tmp_path / "on")
    assert (off.armed, off.loop_aborts) == (0, 0)
    assert off.by_type == {"model_length_capped": 2}
    assert (on.armed, on.loop_aborts, on.by_type["model_length_capped"]) == (1, 2, 0)


def test_the_records_of_real_runs_are_whole() -> None:
    folders = [folder for arm in ("off", "on") for folder in run_folders(EXAMPLES / "runs" / arm)]
    assert len(folders) >= 12
    for folder in folders:
        summary, record = folder.read_summary(), folder.read_journal()
        assert summary is not None
        assert record.damage == []
        assert record.rollup.errors.sums() == summary.summary.errors
        assert record.rollup.slot_costs == list(summary.summary.slot_costs)
    models = {model for folder in folders for model in folder.read_journal().header.models.values()}
    assert len(models) == 2
    on = read_arm(EXAMPLES / "runs" / "on")
    assert on.loop_abort_chars > 0
    assert json.dumps(on.as_dict())


async def test_the_program_of_the_how_to_runs(tmp_path: Path) -> None:
    page = (EXAMPLES.parent / "docs" / "howto" / "run-an-agent.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    script = (calls(("population", {"city": "Oslo"})), finish("717,710"))
    async with scripted_provider(*script) as provider:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", program),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=tmp_path,
            env=os.environ | {"OPENAI_BASE_URL": provider.base_url, "PYTHONASYNCIODEBUG": ""},
        )
        out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (0, "")
    assert out.decode().splitlines() == ["completed 717,710", "0 None"]
    assert provider.requests[-1].body["messages"][-1]["content"] == "717710"
