"""The programs in the documentation run, as they stand there."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from loopwatch.testing.answers import answer, looping
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import Usage

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/howto/ask-a-model.md", "docs/howto/test-your-harness.md")
LOOP = "round and round it goes, "


def programs(page: str) -> list[str]:
    """The whole programs on a page; a piece of one uses names that it does not make."""
    found = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return [code for code in found if "for piece in watch(pieces)" not in code]


EVERY = [(page, number) for page in PAGES for number in range(len(programs(page)))]


@pytest.mark.parametrize(("page", "number"), EVERY)
async def test_a_program_in_the_documentation_runs(page: str, number: int) -> None:
    code = programs(page)[number]
    sky = answer("It scatters.", usage=Usage(10, 20))
    async with scripted_provider(looping(LOOP), sky) as provider:
        provider.generations.price("gen-1", total_cost=0.0004)
        running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", code),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"OPENAI_BASE_URL": provider.base_url},
        )
        out, err = await running.communicate()
    assert (running.returncode, err.decode()) == (0, "")
    assert LOOP not in out.decode() or "was discarded" in out.decode()
    if provider.requests:
        assert [request.ended for request in provider.requests] == ["dropped", "finished"]
        assert "It scatters." in out.decode() or "gen-1 0.0004" in out.decode()


def test_the_program_about_steps_runs() -> None:
    (code,) = programs("docs/explanation/steps.md")
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "the same call brought the same result 5 times in a row (from step 0 on, 5 steps" in done.stdout


def test_there_are_programs() -> None:
    assert len(EVERY) == 10
