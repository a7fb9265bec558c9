"""Every capture of a real model's stream, sent again over a socket and asked for with the client."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loopwatch.client.items import AttemptDiscarded, Delta, LoopSeen
from loopwatch.client.model import ModelClient
from loopwatch.detect.detector import LoopDetector
from loopwatch.detect.settings import LoopDetection
from loopwatch.testing.answers import Answer
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import Raw
from tests.client.calls import ASK

CORPUS = Path(__file__).parents[2] / "corpus"
with gzip.open(CORPUS / "real.jsonl.gz", "rt", encoding="utf-8") as lines:
    CASES: list[dict[str, Any]] = [json.loads(line) for line in lines]


def capture(case: dict[str, Any]) -> bytes:
    return gzip.decompress((CORPUS / "sse" / Path(case["sse"]).name).read_bytes())


async def test_unwatched_each_text_arrives_whole() -> None:
    answers = [Answer([Raw(capture(case))]) for case in CASES]
    async with (
        scripted_provider(*answers) as provider,
        ModelClient("m", base_url=provider.base_url, retries=0) as client,
    ):
        for case in CASES:
            reply = await client.complete(ASK)
            assert reply.text == case["text"], case["id"]
            assert reply.finish_reason == case["finish_reason"]
            assert reply.terminated
            assert reply.usage is not None
            assert reply.usage.output_tokens == case["tokens"]


@pytest.mark.parametrize("preset", ["balanced", "eager"])
async def test_watched_each_is_cut_exactly_where_the_detector_alone_cuts_it(preset: str) -> None:
    settings = LoopDetection.preset(preset)
    answers = [Answer([Raw(capture(case))]) for case in CASES]
    cut = 0
    async with scripted_provider(*answers) as provider:
        shadow = replace(settings, shadow=True)
        async with ModelClient("m", base_url=provider.base_url, retries=0, loop_detection=shadow) as client:
            for case in CASES:
                items = [item async for item in client.stream(ASK)]
                assert not any(isinstance(item, AttemptDiscarded) for item in items)
                seen = [item.trip for item in items if isinstance(item, LoopSeen)]
                detector = LoopDetector(settings)
                deltas = (item.text for item in items if isinstance(item, Delta))
                alone = next((trip for trip in map(detector.push, deltas) if trip is not None), None)
                assert seen == ([alone] if alone is not None else []), case["id"]
                cut += len(seen)
    assert cut == sum(1 for case in CASES if _trips(case["text"], settings))


def _trips(text: str, settings: LoopDetection) -> bool:
    return LoopDetector(settings).push(text) is not None
