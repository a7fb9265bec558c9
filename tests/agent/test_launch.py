"""What a run refuses before anything is spent, and what its requests carry."""

from pathlib import Path
from typing import Any

import pytest

from loopwatch import Run
from loopwatch.agent.caching import cache_fields
from loopwatch.agent.folder import run_folders
from loopwatch.agent.programs import sandbox
from loopwatch.errors import ConfigError, InputError
from loopwatch.testing.answers import answer
from loopwatch.testing.provider import scripted_provider
from tests.agent.clocks import HastyClock
from tests.agent.runs import TASK, capabilities, document, finish, profile, run

NOWHERE = "http://127.0.0.1:9/v1"


def defects(*agents: dict[str, Any], **more: Any) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        Run(document(NOWHERE, *agents) | more, TASK)
    return [str(defect) for defect in refused.value.defects]


def test_every_defect_is_told_at_once() -> None:
    first = profile(promptCacheTtl="1h", tools=["lookup"])
    second = profile(id="b", name="Second", promptCacheTtl="5m")
    nowhere = "takes effect only at OpenAI and for Anthropic's models at OpenRouter: leave the key out here"
    assert defects(first, second) == [
        'agent `Implementer`: tools[0] = "lookup": no installed package offers this tool',
        f'agent `Implementer`: promptCacheTtl = "1h": {nowhere}',
        f'agent `Second`: promptCacheTtl = "5m": {nowhere}',
    ]


def test_two_tools_of_one_name_are_refused() -> None:
    def shell() -> None:
        """Not the house's."""

    with pytest.raises(ConfigError, match='tools = "shell": is the name of two tools'):
        Run(document(NOWHERE), TASK, tools=[shell])


def test_a_task_and_a_folder_to_work_in_are_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the task is empty"):
        Run(document(NOWHERE), " \n")
    with pytest.raises(InputError, match="there is no such folder"):
        Run(document(NOWHERE), TASK, work=tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="the run's folder cannot be made there"):
        Run(document(NOWHERE), TASK, runs=tmp_path / "file").start()


async def test_programs_do_not_run_where_they_cannot_be_shut_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot = "import loopwatch.agent.programs.kernel as k; k._LANDLOCK = (1 << 20,) * 3; "
    first, *rest = sandbox.BOOT.split("; ", 2)
    monkeypatch.setattr(sandbox, "BOOT", "; ".join([first, rest[0], boot + rest[1]]))
    coding = profile(capabilities=capabilities("responses-as-code"))
    with pytest.raises(ConfigError) as refused:
        await run(tmp_path, finish(), agents=(coding,))
    (defect,) = refused.value.defects
    assert str(defect) == (
        "agent `Implementer`: capabilities: programs cannot be shut in on this machine:"
        " Landlock is needed, of Linux 5.13 or later (Function not implemented)"
    )
    assert not [*run_folders(tmp_path)]


@pytest.mark.parametrize(
    ("provider", "model", "ttl", "fields"),
    [
        ("openrouter", "anthropic/claude", "1h", {"cache_control": {"type": "ephemeral", "ttl": "1h"}}),
        ("openai", "gpt-5.4", "24h", {"prompt_cache_retention": "24h"}),
        ("openrouter", "openai/gpt-5.4", "1h", None),
        ("openrouter", "anthropic/claude", "2h", None),
        ("openai", "gpt-5.4", "1h", None),
        (None, "m", "5m", None),
    ],
)
def test_a_cache_lifetime_is_sent_where_it_is_taken(
    provider: str | None, model: str, ttl: str, fields: dict[str, Any] | None
) -> None:
    if fields is not None:
        assert cache_fields(ttl, provider=provider, model=model) == fields
    else:
        with pytest.raises(InputError):
            cache_fields(ttl, provider=provider, model=model)


async def test_a_cache_lifetime_arrives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with scripted_provider(finish()) as provider:
        monkeypatch.setenv("HTTP_PROXY", provider.base_url.removesuffix("/v1"))
        config = document("http://openrouter.ai/api/v1", profile(promptCacheTtl="1h"))
        config["slots"]["primary"]["model"] = "anthropic/claude-sonnet-4.6"
        result = await Run(config, TASK, runs=tmp_path, clock=HastyClock()).astart()
    assert result.status == "completed"
    assert provider.requests[0].body["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


async def test_the_key_is_sent_and_stays_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-or-0123456789abcdef"
    monkeypatch.setenv("MY_MODEL_KEY", key)
    parrot = answer(f"The key is {key}.")
    done = await run(tmp_path, parrot, finish(key), slot={"apiKeyEnv": "MY_MODEL_KEY"})
    assert done.provider.requests[0].headers["authorization"] == f"Bearer {key}"
    assert key not in done.raw + done.result.folder.summary.read_text(encoding="utf-8")
    assert key not in str(done.events)


async def test_a_run_reads_its_configuration_from_a_file_and_works_where_it_is_told(tmp_path: Path) -> None:
    import json

    async with scripted_provider(finish("ok")) as provider:
        config = tmp_path / "loopwatch.json"
        config.write_text("// mine\n" + json.dumps(document(provider.base_url)), encoding="utf-8")
        run = Run(config, "Tu\udcff es.", runs=tmp_path / "runs", work=tmp_path)
        result = await run.astart()
    assert result.result == "ok"
    assert not result.folder.work.exists()
    assert provider.requests[0].body["messages"][1]["content"] == "Tu? es."
