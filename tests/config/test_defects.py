"""How what is wrong is told: all of it, in order, attributed, in one line each, and no secret in it."""

import json
from typing import Any

import pytest

from loopwatch.config.defects import Defect
from loopwatch.config.loading import load_config
from loopwatch.errors import ConfigError, LoopwatchError
from tests.config.documents import (
    SEED_BLOCK,
    defects,
    load,
    refused,
    sound,
    with_block,
    with_limits,
    with_slot,
)

TEN = """\
{ // two agents, ten defects
  "agents": [
    {
      "id": "implementer", "name": "Implementer",
      "modelSlot": "primry",
      "loopDetection": {
        "enabled": true, "repeatThreshold": 0, "windowWords": 1.5,
        "minOffenders": 2, "minSaturatedRun": 3000,
      },
    },
    {
      "id": "reviewer", "name": "Reviewer", "modelId": "m",
      "loopDetektion": {},
      "capabilities": [ { "id": "shel" } ],
    },
  ],
  "slots": { "primary": { "model": "m", "apiKeyEnv": "sk-proj-not-a-variable" } },
  "limits": {
    "maxTurns": 0, "maxErrorRate": 0.5,
    "maxParallel": 4,
  },
}
"""


def test_ten_defects_of_one_document_are_told_at_once_in_its_order() -> None:
    error = refused(TEN)
    assert [defect.placed for defect in error.defects] == [
        'agent `Implementer`: modelSlot = "primry": no slot has this name: did you mean `primary`? (line 5)',
        "agent `Implementer`: loopDetection.windowWords = 1.5: must be a whole number of at least 1 (line 7)",
        "agent `Implementer`: loopDetection.repeatThreshold = 0: must be a whole number of at least 1 (line 7)",
        "agent `Implementer`: loopDetection.maxResponseChars: is missing: an armed detector writes all five knobs (for example 250000) (line 6)",
        "agent `Reviewer`: loopDetektion: is no key here: did you mean `loopDetection`? (line 13)",
        "agent `Reviewer`: capabilities[0].id = \"shel\": must be 'shell', 'files', 'spawn' or 'responses-as-code' (line 14)",
        "slots.primary.apiKeyEnv: looks like the key itself: put the key into an environment variable and name that (line 17)",
        "limits.replayMaxBytes: is missing: it has no default (line 18)",
        "limits.maxTurns = 0: must be a whole number of at least 1 (line 19)",
        "limits.errorRateWindow: is missing: maxErrorRate means nothing without it (line 18)",
    ]


def test_the_order_is_that_of_the_document_as_it_is_written() -> None:
    document = {"limits": {"maxTurns": 0}, "agents": [], "zzz": 1, "slots": {"b": 1, "a": 2}, "preset": 5}
    assert [defect.locus for defect in refused(document).defects] == [
        *("limits.maxParallel", "limits.replayMaxBytes", "limits.maxTurns"),
        *("agents", "zzz", "slots.b", "slots.a", "preset"),
    ]


def test_the_error_is_one_line_with_all_of_them() -> None:
    error = refused(with_limits(maxTurns=0, maxCost=-1))
    one, other = map(str, error.defects)
    assert str(error) == f"the configuration has 2 defects: {one}; {other}"
    assert str(refused(with_limits(maxTurns=0))) == one
    assert isinstance(error, LoopwatchError)
    assert isinstance(error, ValueError)


def test_an_agent_without_a_name_is_called_by_its_id_or_its_place() -> None:
    block = {"enabled": False, "windowWords": 0}
    agents: list[Any] = [
        {"id": "first", "name": " ", "modelSlot": "primary"},
        {"id": 5, "name": "", "modelSlot": "primary", "loopDetection": block},
    ]
    assert defects(sound(agents=agents)) == [
        'agent `first`: name = " ": must not be empty',
        "agents[1].id = 5: must be text in double quotes",
        'agents[1].name = "": must not be empty',
        "agents[1].loopDetection.windowWords = 0: must be a whole number of at least 1",
    ]


def test_keys_that_come_twice_are_all_told() -> None:
    text = '{"agents": [{"id": "a", "id": "a", "name": "A", "modelId": "m"}], "slots": {}, "slots": {}, "limits":\n'
    text += '{"maxParallel": 1, "replayMaxBytes": 1, "maxTurns": 0, "maxTurns": 5, "maxTurns": 5}}'
    assert [defect.placed for defect in refused(text).defects] == [
        "agent `A`: id: comes twice in its object: keep one (line 1)",
        "slots: comes twice in its object: keep one (line 1)",
        "limits.maxTurns: comes twice in its object: keep one (line 2)",
    ]


def test_what_a_second_key_replaced_is_judged_without_stumbling() -> None:
    text = '{"preset": [1, NaN], "preset": "abc", "agents": [[NaN]], "agents": [], "limits": {"a": NaN}, "limits": 1}'
    assert [defect.locus for defect in refused(text).defects] == [
        *("preset[1]", "preset", "agents[0][0]", "agents", "agents", "limits", "limits", "limits.a"),
    ]


def test_warnings_come_in_the_order_of_the_document_with_their_places() -> None:
    document = with_block(SEED_BLOCK | {"windowWords": 1})
    document["limits"] |= {"maxErrorRate": 0, "errorRateWindow": 40}
    text = json.dumps(document, indent=1)
    first, second = load_config(text).warnings
    assert (first.agent, first.locus, first.value) == ("Implementer", "loopDetection.minOffenders", "2")
    assert (second.agent, second.locus, second.value) == (None, "limits.errorRateWindow", "40")
    for warning, written in ((first, '"minOffenders": 2'), (second, '"errorRateWindow": 40')):
        assert warning.line is not None
        assert written in text.splitlines()[warning.line - 1]


def test_a_defect_is_a_dictionary_too() -> None:
    (defect,) = refused(
        '{\n"agents": [{"id": "a", "name": "A", "modelId": ""}],"limits":{"maxParallel":1,"replayMaxBytes":1}}'
    ).defects
    assert defect.as_dict() == {
        "reason": "must not be empty",
        "agent": "A",
        "locus": "modelId",
        "value": '""',
        "line": 2,
        "column": 48,
    }
    assert str(Defect("it is so")) == Defect("it is so").placed == "it is so"


# What is not shown.

SECRETS = [
    "sk-proj-abcdefghijklmnop",
    "sk_live_abcdefgh",
    "Bearer abc",
    "AIzaSyA1234567890abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "0123456789abcdef0123456789abcdef",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_key_is_refused_as_one_and_never_repeated(secret: str) -> None:
    assert defects(with_slot(apiKeyEnv=secret)) == [
        "slots.primary.apiKeyEnv: looks like the key itself: put the key into an environment variable and name that"
    ]


@pytest.mark.parametrize(
    "value", ["correct horse battery", "hunter2!", "", 12345678, ["hunter2"], {"key": "hunter2"}]
)
def test_what_is_no_name_of_a_variable_is_not_repeated_either(value: Any) -> None:
    (line,) = defects(with_slot(apiKeyEnv=value))
    assert line in {
        "slots.primary.apiKeyEnv: must be the name of an environment variable, such as OPENAI_API_KEY",
        "slots.primary.apiKeyEnv: must be text in double quotes",
    }


@pytest.mark.parametrize("secret", SECRETS)
def test_no_message_repeats_a_key_wherever_it_was_written(secret: str) -> None:
    documents: list[Any] = [
        *(with_slot(apiKey=secret), with_slot(**{secret: 1}), with_slot(model=[secret]), secret),
        *(with_limits(maxTurns=secret), with_block({"enabled": secret}), with_block(secret)),
        *(with_block({"enabled": True, secret: secret}), sound(**{secret: 1}), sound(limits=[secret])),
        sound(agents=[{"id": "a", "name": "A", "modelSlot": secret}]),
        sound(agents=[{"id": "a", "name": "A", "modelId": "m", "subagents": [secret], "slug": secret}]),
        sound(agents=[{"id": "a", "name": "A", "modelSlot": "x"}], slots={secret: {}}),
    ]
    for document in documents:
        assert secret not in str(refused(document))
        assert secret not in repr(refused(document).defects)
    assert secret not in str(refused(f'{{"apiKeyEnv": {secret}}}'))


def test_what_a_terminal_would_obey_is_escaped_and_what_is_long_is_cut() -> None:
    document = with_block(
        {"enabled": False, "windowWords": "\x9b2J\u202e" + "x" * 100}, name="a\x1b[2J\nb" + "c" * 100
    )
    (line,) = defects(document)
    assert line.isprintable()
    assert line.startswith("agent `a\\u001b[2J\\u000abcccc")
    assert 'windowWords = "\\u009b2J\\u202exxx' in line
    assert len(line) < 250


def test_a_refusal_carries_no_value_of_the_document_elsewhere() -> None:
    with pytest.raises(ConfigError) as caught:
        load(with_slot(apiKeyEnv="hunter 2"))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
