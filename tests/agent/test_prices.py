"""What discarded replies cost in the end: looked up once, in the total and in no ceiling."""

from pathlib import Path

import pytest

from loopwatch.agent.run import Run
from loopwatch.testing.answers import Answer, looping, status
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import Loop, Role, Usage
from tests.agent.clocks import HastyClock
from tests.agent.runs import SEED_BLOCK, TASK, Ended, begun, document, finish, profile

ARMED = profile(loopDetection=SEED_BLOCK)


async def three_loops(tmp_path: Path, **limits: float) -> Ended:
    """Three loops, of which one is priced, one is never known and one has no id; then a turn of 0.25."""
    nameless = Answer([Role(), Loop("void 0;\n")], id="")
    script = (looping("void 0;\n"), looping("void 0;\n"), nameless)
    last = finish(usage=Usage(100, 80, cost=0.25))
    async with begun(
        tmp_path,
        *script,
        last,
        agents=(ARMED,),
        limits=limits,
        slot={"generationLookup": True},
        clock=HastyClock(),
    ) as (run, events, provider):
        figures = {"native_tokens_prompt": 1200, "native_tokens_cached": 200}
        provider.generations.price(
            "gen-1",
            total_cost=0.35,
            native_tokens_completion=5080,
            native_tokens_reasoning=80,
            after=2,
            **figures,
        )
        provider.generations.answer("gen-2", status(500))
        result = await run.astart()
    return Ended(result, events, provider)


async def test_g5_prices_go_into_the_total_and_never_into_the_work(tmp_path: Path) -> None:
    done = await three_loops(tmp_path)
    figures = done.summary
    assert (figures["cost"], figures["workCost"], figures["loopAbortUnpriced"]) == (0.6, 0.25, 2)
    (slot,) = figures["slotCosts"]
    assert slot["tokens"] == {"uncachedInput": 1100, "cachedInput": 200, "output": 5080, "reasoning": 80}
    assert (slot["cost"], slot["workCost"]) == ({"comparable": 0.6, "actual": 0.6}, 0.25)
    assert figures["terminalStatus"] == "completed"
    deltas = [(usage["figure"], usage["cost"]["comparable"]) for usage in done.of("usage")]
    assert deltas == [("work", 0.25), ("total", 0.35)]
    types = [event["type"] for event in done.events]
    assert types.index("late_price") > max(
        number for number, type_ in enumerate(types) if type_ == "turn_outcome"
    )
    assert [lookup.query["id"] for lookup in done.provider.generations.lookups].count("gen-2") == 1
    assert (
        "the price of 3 abandoned replies was looked up: $0.35 for 1; that of 2 is not known" in done.logged()
    )


async def test_g6_the_cost_ceiling_never_sees_them(tmp_path: Path) -> None:
    done = await three_loops(tmp_path, maxCost=0.5)
    assert (done.result.status, done.summary["limitHit"], done.summary["cost"]) == ("completed", None, 0.6)


async def test_what_nobody_can_be_asked_for_is_estimated_and_in_no_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scripted_provider(looping("void 0;\n"), finish()) as provider:
        monkeypatch.setenv("HTTP_PROXY", provider.base_url.removesuffix("/v1"))
        config = document("http://api.openai.com/v1", ARMED, model="gpt-4o-mini")
        result = await Run(config, TASK, runs=tmp_path, clock=HastyClock()).astart()
    done = Ended(result, [], provider)
    assert not provider.generations.lookups
    assert (done.summary["loopAbortUnpriced"], done.summary["cost"]) == (1, None)
    assert 0.0001 < done.summary["loopAbortEstimatedCost"] < 0.01
