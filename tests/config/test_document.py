"""Agents, slots and capabilities: what each key may be, and what one part says about another."""

from typing import Any

import pytest

from tests.config.documents import (
    EVERYTHING,
    SOUND,
    defects,
    load,
    refused,
    sound,
    warnings,
    with_limits,
    with_slot,
)

ROOT = SOUND["agents"][0]
AGENT = "agent `Implementer`: "


def with_root(**changes: Any) -> dict[str, Any]:
    return sound(agents=[ROOT | changes])


def with_agents(*others: dict[str, Any]) -> dict[str, Any]:
    return sound(agents=[ROOT, *others])


# What is accepted.


def test_every_key_is_read() -> None:
    config = load(EVERYTHING)
    assert config.warnings == ()
    assert config.declared == EVERYTHING
    document = config.document
    assert document.model_dump(by_alias=True, exclude_unset=True, mode="json") == EVERYTHING
    assert document.preset == "balanced"
    lead, worker = document.agents
    assert config.root is lead
    assert (lead.id, lead.name, lead.slug, lead.model_slot, lead.model_id) == (
        *("lead", "Lead", "lead-1", "primary", None),
    )
    assert (lead.prompt_cache_ttl, lead.custom_instructions) == ("1h", "Be brief.")
    assert lead.subagents == ("worker",)
    shell, code = lead.capabilities
    assert (shell.id, shell.enabled, shell.implementation) == ("shell", True, None)
    assert shell.params == {"timeoutSecs": 60}
    assert (code.id, code.enabled, code.implementation) == ("responses-as-code", False, "python")
    assert (worker.model_id, worker.model_slot, worker.capabilities) == ("gpt-5.4-nano", None, ())
    slot = document.slots["primary"]
    assert (slot.model, slot.base_url) == ("gpt-5.4-mini", "https://openrouter.ai/api/v1")
    assert (slot.api_key_env, slot.generation_lookup) == ("OPENROUTER_API_KEY", True)
    assert config.limits.max_step_loops == 3


def test_what_may_be_left_out_may_be_left_out() -> None:
    config = load(sound())
    assert warnings(sound()) == []
    assert (config.document.preset, config.root.capabilities, config.root.subagents) == (None, (), ())
    slot = config.document.slots["primary"]
    assert (slot.base_url, slot.api_key_env, slot.generation_lookup) == (None, None, None)


def test_without_slots_each_agent_names_its_model() -> None:
    document = {"agents": [{"id": "a", "name": "A", "modelId": "m"}], "limits": SOUND["limits"]}
    assert load(document).document.slots == {}


@pytest.mark.parametrize("capability", ["shell", "files", "spawn", "responses-as-code"])
def test_the_capabilities_are_known_by_name(capability: str) -> None:
    (read,) = load(with_root(capabilities=[{"id": capability}])).root.capabilities
    assert (read.id, read.enabled, read.params) == (capability, True, {})


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8080/v1", "https://api.example.com", "https://api.example.com/", "http://[::1]:80/v1"],
)
def test_a_base_url_is_a_host_and_perhaps_a_port_and_a_path(url: str) -> None:
    assert load(with_slot(baseUrl=url)).document.slots["primary"].base_url == url


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "_x", "openai_api_key_2", "OpenAIKeyForTests", "K2"])
def test_a_key_is_named_by_its_variable(name: str) -> None:
    assert load(with_slot(apiKeyEnv=name)).document.slots["primary"].api_key_env == name


# What is refused in one place.


@pytest.mark.parametrize("document", [None, [], '"text"', 3, True])
def test_a_document_is_an_object(document: Any) -> None:
    assert defects(document) == ["line 1, column 1: must be an object { … }"]


def test_an_empty_document_lacks_agents_and_limits() -> None:
    assert [line.partition(":")[0] for line in defects({})] == [
        *("limits.maxParallel", "limits.replayMaxBytes", "agents"),
    ]


def test_there_is_at_least_one_agent() -> None:
    assert defects(sound(agents=[])) == ["agents = []: must have at least one entry"]


@pytest.mark.parametrize(
    ("agents", "line"),
    [
        (None, "agents = null: must be a list [ … ]"),
        ({"a": 1}, "agents = {…}: must be a list [ … ]"),
        ([1], "agents[0] = 1: must be an object { … }"),
        ([[]], "agents[0] = []: must be an object { … }"),
    ],
)
def test_agents_are_a_list_of_objects(agents: Any, line: str) -> None:
    assert defects(sound(agents=agents)) == [line]


def test_an_agent_needs_an_id_a_name_and_a_model() -> None:
    assert defects(sound(agents=[{}])) == [
        "agents[0].id: is missing: it has no default",
        "agents[0].name: is missing: it has no default",
        "agents[0].modelSlot: is missing: name a slot, or give a modelId",
    ]


@pytest.mark.parametrize("key", ["id", "name", "modelSlot", "promptCacheTtl", "customInstructions"])
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        *(("", "must not be empty"), (" \n", "must not be empty")),
        *((None, "must be text in double quotes"), (5, "must be text in double quotes")),
    ],
)
def test_text_is_text_and_not_empty(key: str, value: Any, reason: str) -> None:
    found = [defect for defect in refused(with_root(**{key: value})).defects if defect.locus.endswith(key)]
    assert reason in [defect.reason for defect in found]


@pytest.mark.parametrize("slug", ["Lead", "lead-", "-lead", "lead--1", "le ad", "", "lead_1", "lead\n"])
def test_a_slug_is_lowercase_groups_joined_by_hyphens(slug: str) -> None:
    (line,) = defects(with_root(slug=slug))
    assert line.endswith(": must be lowercase letters and digits, joined by single hyphens")


@pytest.mark.parametrize(
    ("capability", "line"),
    [
        ({}, "capabilities[0].id: is missing: it has no default"),
        ("shell", 'capabilities[0] = "shell": must be an object { … }'),
        (
            {"id": "shel"},
            "capabilities[0].id = \"shel\": must be 'shell', 'files', 'spawn' or 'responses-as-code'",
        ),
        ({"id": "shell", "enabled": None}, "capabilities[0].enabled = null: must be true or false"),
        ({"id": "shell", "params": 1}, "capabilities[0].params = 1: must be an object { … }"),
        ({"id": "shell", "implementation": ""}, 'capabilities[0].implementation = "": must not be empty'),
        (
            {"id": "shell", "params": {"timeoutSecs": float("nan")}},
            "capabilities[0].params.timeoutSecs = NaN: must be a whole number of at least 1",
        ),
        (
            {"id": "responses-as-code", "params": {"cpusecs": 1}},
            "capabilities[0].params.cpusecs: is no key here: did you mean `cpuSecs`?",
        ),
        (
            {"id": "responses-as-code", "params": {"memoryMb": 1}},
            "capabilities[0].params.memoryMb = 1: must be a whole number of at least 64",
        ),
        (
            {"id": "files", "implementation": "other"},
            'capabilities[0].implementation = "other": there is no such implementation: leave the key out',
        ),
    ],
)
def test_a_capability_has_an_id_and_perhaps_more(capability: Any, line: str) -> None:
    assert defects(with_root(capabilities=[capability])) == [AGENT + line]


@pytest.mark.parametrize(
    "url",
    [
        *("api.example.com", "ftp://example.com", "http://", "https:///v1", "https://a b/", ""),
        *(
            "https://user:secret@example.com/v1",
            "https://example.com/v1?key=secret",
            "https://example.com/#x",
        ),
    ],
)
def test_no_other_base_url_is_read_and_none_is_repeated(url: str) -> None:
    assert defects(with_slot(baseUrl=url)) == [
        "slots.primary.baseUrl: must be an http:// or https:// URL with nothing but a host, a port and a path"
    ]


@pytest.mark.parametrize("url", ["http://[::1/v1", "http://host:port/v1", "http://host:99999"])
def test_a_base_url_needs_a_host_and_port_that_can_be(url: str) -> None:
    assert defects(with_slot(baseUrl=url)) == ["slots.primary.baseUrl: has a host or port that cannot be"]


@pytest.mark.parametrize("slots", [None, [], "primary"])
def test_slots_are_an_object(slots: Any) -> None:
    (line,) = defects(sound(slots=slots))
    assert line.endswith(": must be an object { … }")


# Keys.


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (sound(agent=[]), "agent: is no key here: did you mean `agents`?"),
        (sound(modelSlots={}), "modelSlots: is no key here: did you mean `slots`?"),
        (with_root(model_slot="x"), AGENT + "model_slot: is no key here: did you mean `modelSlot`?"),
        (with_root(loopdetection={}), AGENT + "loopdetection: is no key here: did you mean `loopDetection`?"),
        (with_slot(baseURL="x"), "slots.primary.baseURL: is no key here: did you mean `baseUrl`?"),
        (
            with_root(capabilities=[{"id": "shell", "parms": {}}]),
            AGENT + "capabilities[0].parms: is no key here: did you mean `params`?",
        ),
        (with_limits(maxTurn=1), "limits.maxTurn: is no key here: did you mean `maxTurns`?"),
        (sound(zzz=1), "zzz: is no key here: there is $schema, preset, agents, slots, limits"),
        (sound(**{"": 1}), '[""]: is no key here: there is $schema, preset, agents, slots, limits'),
        (
            sound(**{"a.b\n": 1}),
            '["a.b\\n"]: is no key here: there is $schema, preset, agents, slots, limits',
        ),
    ],
    ids=range(10),
)
def test_an_unknown_key_is_named_with_the_nearest_known_one(document: Any, line: str) -> None:
    assert defects(document) == [line]


# Between the parts.


def test_an_agent_asks_one_model_by_its_slot_or_by_its_id() -> None:
    assert defects(with_root(modelId="m")) == [
        AGENT + 'modelId = "m": modelSlot is given too: keep one of the two'
    ]


@pytest.mark.parametrize(
    ("name", "slots", "hint"),
    [
        ("primry", {"primary": {"model": "m"}, "spare": {"model": "m"}}, ": did you mean `primary`?"),
        ("fast", {"primary": {"model": "m"}, "spare": {"model": "m"}}, ": there is primary, spare"),
        ("fast", {}, ""),
    ],
)
def test_a_model_slot_exists(name: str, slots: Any, hint: str) -> None:
    assert defects(with_root(modelSlot=name) | {"slots": slots}) == [
        f'{AGENT}modelSlot = "{name}": no slot has this name{hint}'
    ]


def test_without_slots_no_slot_has_the_name() -> None:
    document = {key: value for key, value in sound().items() if key != "slots"}
    assert defects(document) == [AGENT + 'modelSlot = "primary": no slot has this name']


@pytest.mark.parametrize("key", ["id", "slug"])
def test_no_two_agents_have_the_same_id_or_slug(key: str) -> None:
    first = ROOT | {"slug": "one"}
    second = first | {"id": "other", "slug": "two", "name": "Reviewer"} | {key: first[key]}
    assert defects(sound(agents=[first, second])) == [
        f'agent `Reviewer`: {key} = "{first[key]}": must be unique: another agent has it'
    ]


def test_two_agents_may_have_the_same_name() -> None:
    assert len(load(with_agents(ROOT | {"id": "second"})).document.agents) == 2


def test_no_capability_is_listed_twice() -> None:
    listed = [{"id": "shell"}, {"id": "files"}, {"id": "shell", "enabled": False}]
    assert defects(with_root(capabilities=listed)) == [
        AGENT + 'capabilities[2].id = "shell": must be unique: it is listed before'
    ]


def test_subagents_are_agents() -> None:
    worker = ROOT | {"id": "worker", "name": "Worker"}
    assert load(sound(agents=[ROOT | {"subagents": ["worker", "implementer"]}, worker])).root.subagents
    assert defects(sound(agents=[ROOT | {"subagents": ["wroker"]}, worker])) == [
        AGENT + 'subagents[0] = "wroker": no agent has this id: did you mean `worker`?'
    ]
    assert defects(with_root(subagents=["implementer"] * 2)) == [
        AGENT + "subagents = […]: must not name anything twice"
    ]
    assert defects(with_root(subagents=[7])) == [AGENT + "subagents[0] = 7: must be text in double quotes"]
