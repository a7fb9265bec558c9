"""Forms as a browser sends them, and as nobody's browser does."""

import json
from collections.abc import Iterator

from loopwatch.config.draft import Draft, Texts, draft_of
from loopwatch.config.posted import posted
from loopwatch.config.reading import read
from loopwatch.config.written import written
from tests.config.documents import EVERYTHING


def fields(draft: Draft) -> Iterator[tuple[str, str]]:
    """The fields of a form that shows a draft."""

    def block(texts: Texts, prefix: str) -> Iterator[tuple[str, str]]:
        for key, text in texts.items():
            boxes = text.split(" ") if key in ("rules", "channels") else [text]
            yield from ((prefix + key, one.replace("\n", "\r\n")) for one in boxes if one)

    yield from block(draft.texts, "")
    for index, agent in enumerate(draft.agents):
        yield from block(agent.texts, f"agents.{index}.")
        yield from block(agent.loop, f"agents.{index}.loopDetection.")
    for index, slot in enumerate(draft.slots):
        yield from block(slot, f"slots.{index}.")
    yield from block(draft.limits, "limits.")
    yield "root", str(draft.root)


def test_a_form_says_what_the_draft_that_it_shows_says() -> None:
    draft = draft_of(read(json.dumps(EVERYTHING)))
    found = written(posted(fields(draft))).config
    assert found is not None
    assert found.declared == EVERYTHING


def test_a_gap_in_the_numbers_is_closed_and_the_root_found() -> None:
    draft = posted([("agents.7.name", "B"), ("agents.3.name", "A"), ("root", "7"), ("slots.2.name", "s")])
    assert [agent.texts for agent in draft.agents] == [{"name": "A"}, {"name": "B"}]
    assert draft.root == 1
    assert draft.slots == [{"name": "s"}]


def test_names_that_are_none_of_the_editors_are_left_out() -> None:
    names = ["agents..name", "agents.-1.name", "agents.99999.name", "agents.01.name", "agents.٣.name", "csrf"]
    draft = posted([(name, "x") for name in names] + [("root", "zero")])
    assert draft == Draft(root=None)


def test_a_root_that_nobody_is_is_none() -> None:
    assert posted([("agents.0.name", "A"), ("root", "5")]).root is None
    assert posted([("agents.0.name", "A")]).root is None
