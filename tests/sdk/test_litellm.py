"""LiteLLM's callback against LiteLLM itself, in an environment of its own."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.sdk.vendors import Collector, Vendors

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("LOOPWATCH_LITELLM_PYTHON", "")
HOW = "set LOOPWATCH_LITELLM_PYTHON to a python that has requirements/litellm.txt; `make test-all` makes one"


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON, reason=HOW)
def test_litellm_s_calls_are_logged_once_each(vendors: Vendors, collector: Collector) -> None:
    program = str(Path(__file__).with_name("litellm_calls.py"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    environment.pop("PYTHONASYNCIODEBUG", None)
    command = [PYTHON, program, vendors.url, collector.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    rows = {row["userId"]: row for row in collector.rows}
    assert sorted(row["userId"] for row in collector.rows) == ["async", "failed", "streamed", "whole"]
    for user in ("whole", "async", "streamed"):
        assert (rows[user]["inputTokens"], rows[user]["outputTokens"]) == (100, 20)
        assert rows[user]["provider"] == "openai"
    assert rows["whole"]["feature"] == "f"
    assert rows["failed"]["usageSource"] == "unknown"
