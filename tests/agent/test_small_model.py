"""A whole run of a real model that really loops."""

from pathlib import Path
from typing import Any

import pytest

from loopwatch.agent.run import Result, Run
from loopwatch.testing.smallmodel import INSTALL, small_model, weights
from tests.agent.runs import LIMITS, capabilities, profile

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(weights() is None, reason=f"the small model is not installed: {INSTALL}"),
]
REQUEST = {"temperature": 0, "max_tokens": 800}
SOON = {
    "enabled": True,
    "windowWords": 32,
    "repeatThreshold": 6,
    "minOffenders": 2,
    "minSaturatedRun": 24,
    "maxResponseChars": 1200,
    "retryWith": {"temperature": 0.9, "repeat_penalty": 1.2, "max_tokens": 200},
}
"""For a model so small: it loops, or runs on, within a few hundred tokens."""


async def work(tmp_path: Path, **root: Any) -> Result:
    limits = LIMITS | {"maxTurns": 2, "maxModelRetries": 2, "modelCallTimeoutSecs": 300}
    with small_model() as model:
        config = {
            "agents": [
                profile(name="Writer", capabilities=capabilities("files", "responses-as-code"), **root)
            ],
            "slots": {"primary": {"model": model.name, "baseUrl": model.base_url, "request": REQUEST}},
            "limits": limits,
        }
        task = "Write one very long URL with 200 query parameters."
        return await Run(config, task, runs=tmp_path).astart()


async def test_a_real_model_in_a_run(tmp_path: Path) -> None:
    result = await work(tmp_path, loopDetection=SOON)
    assert result.status in ("exhausted", "completed")
    record = result.folder.read_journal()
    assert record.damage == []
    assert record.rollup.errors.sums() == result.summary.summary.errors
    assert result.summary.summary.errors.turns >= 1
    assert result.summary.summary.errors.loop_aborts >= 1
    assert result.summary.summary.loop_abort_unpriced == result.summary.summary.errors.loop_aborts
    assert sum(slot.tokens.output or 0 for slot in result.summary.summary.slot_costs) > 0
