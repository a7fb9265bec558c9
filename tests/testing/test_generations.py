import pytest

from loopwatch.testing.answers import answer, hanging, priced, status
from loopwatch.testing.provider import ScriptedProvider, scripted_provider
from tests.testing.asking import Answered, ask, fetch


async def look_up(provider: ScriptedProvider, generation_id: str) -> Answered:
    return await fetch("GET", f"{provider.base_url}/generation?id={generation_id}", headers={"X-Key": "k"})


async def test_a_price_is_late() -> None:
    async with scripted_provider() as provider:
        provider.generations.price(
            "gen-1",
            after=2,
            total_cost=0.35,
            native_tokens_prompt=1_200,
            provider_name="Acme",
            more={"usage": 1},
        )
        answers = [await look_up(provider, "gen-1") for _ in range(4)]
    assert [answered.status for answered in answers] == [404, 404, 200, 200]
    assert answers[-1].json == {
        "data": {"total_cost": 0.35, "native_tokens_prompt": 1_200, "provider_name": "Acme", "usage": 1}
    }


async def test_nothing_is_known_of_any_other() -> None:
    async with scripted_provider() as provider:
        provider.generations.price("gen-1", total_cost=1)
        assert (await look_up(provider, "gen-2")).status == 404
        assert (await look_up(provider, "gen-1")).status == 200
    assert provider.generations.ids == ["gen-2", "gen-1"]


async def test_a_look_up_may_fail_in_any_way() -> None:
    async with scripted_provider() as provider:
        provider.generations.answer("gen-1", status(500), status(200, "no JSON"), status(200, {"data": "x"}))
        answers = [await look_up(provider, "gen-1") for _ in range(3)]
        provider.generations.otherwise(status(429), priced(total_cost=2))
        others = [(await look_up(provider, "gen-2")).status, (await look_up(provider, "gen-3")).status]
    assert [answered.status for answered in answers] == [500, 200, 200]
    assert [answered.body for answered in answers[1:]] == [b"no JSON", b'{"data":"x"}']
    assert others == [429, 200]


async def test_look_ups_are_kept_apart_from_requests() -> None:
    async with scripted_provider(answer("Hello")) as provider:
        await ask(provider)
        await look_up(provider, "gen-1")
    assert len(provider.requests) == 1
    (lookup,) = provider.generations.lookups
    assert (lookup.method, lookup.path, lookup.headers["x-key"]) == ("GET", "/v1/generation", "k")
    assert lookup.ended == "finished"


async def test_a_look_up_may_hang() -> None:
    async with scripted_provider() as provider:
        provider.generations.otherwise(hanging())
        with pytest.raises(TimeoutError):
            await fetch("GET", f"{provider.base_url}/generation?id=x", timeout=0.5)
        await provider.generations.lookups[0].over()
    assert provider.generations.lookups[0].ended == "dropped"
