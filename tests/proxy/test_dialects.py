"""How streams end before their time, in places that the vendors' clients do not lead to."""

import json
from typing import Any

import pytest

from loopwatch.proxy.dialects.dialect import Tail, merged
from loopwatch.proxy.dialects.names import DIALECTS, DialectName
from loopwatch.proxy.streamed import NOTHING
from loopwatch.wire.usage import Usage
from tests.proxy.house import events
from tests.proxy.replies import response_events

USAGE = Usage(input_tokens=9, output_tokens=4)


def ended(name: DialectName, heard: list[dict[str, Any]]) -> list[Any]:
    tail: Tail = DIALECTS[name].tail(NOTHING, "events")
    for event in heard:
        tail.hear(json.dumps(event).encode())
    return events(tail.closing(USAGE, "a remark"))


def test_a_summary_of_thoughts_is_closed_as_one() -> None:
    place = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
    heard = [
        *response_events([], ends=False)[:2],
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"id": "rs_1", "type": "reasoning", "summary": []},
        },
        {
            "type": "response.reasoning_summary_part.added",
            **place,
            "part": {"type": "summary_text", "text": ""},
        },
        {"type": "response.reasoning_summary_text.delta", **place, "delta": "Hm. ", "sequence_number": 9},
        {"type": "response.reasoning_summary_text.delta", **place, "delta": "Hm. ", "sequence_number": 10},
    ]
    text, part, item, last = ended("responses", heard)
    assert (text["type"], text["text"], text["sequence_number"]) == (
        "response.reasoning_summary_text.done",
        "Hm. Hm. ",
        11,
    )
    assert part["type"] == "response.reasoning_summary_part.done"
    assert item["item"]["summary"] == [{"type": "summary_text", "text": "Hm. Hm. "}]
    assert last["response"]["status"] == "completed"
    assert last["response"]["output"] == [item["item"]]


def test_a_refusal_is_closed_as_one() -> None:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    heard = [
        *response_events([], ends=False)[:3],
        {"type": "response.content_part.added", **place, "part": {"type": "refusal", "refusal": ""}},
        {"type": "response.refusal.delta", **place, "delta": "No. ", "sequence_number": 4},
    ]
    refusal, part, item, _ = ended("responses", heard)
    assert (refusal["type"], refusal["refusal"]) == ("response.refusal.done", "No. ")
    assert part["part"] == {"type": "refusal", "refusal": "No. "}
    assert item["item"]["status"] == "completed"


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize(
    "odd", [{}, {"choices": []}, {"type": 7, "item": 3}, {"response": "x"}, {"candidates": 1}]
)
def test_a_stream_of_odd_events_still_ends(name: DialectName, odd: dict[str, Any]) -> None:
    tail = DIALECTS[name].tail(NOTHING, "events")
    tail.hear(b"no json")
    tail.hear(json.dumps(odd).encode())
    assert tail.closing(USAGE, "a remark")
    assert tail.failing("a message")


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("odd", [b"[]", b'{"choices": 5}', b'{"candidates": [3]}', b'{"type": 7}', b"\xff"])
def test_odd_events_make_no_document_and_no_fault(name: DialectName, odd: bytes) -> None:
    assembler = DIALECTS[name].assembler()
    assembler.hear(odd)
    assert assembler.document() is None or assembler.is_torn


def test_fragments_are_merged() -> None:
    assert merged("a", "b") == "ab"
    assert merged(None, "b") == "b"
    assert merged({"n": 1, "id": "x"}, {"n": 2, "id": "x", "t": None}) == {"n": 2, "id": "x", "t": None}
    assert merged([{"index": 0, "t": "a"}], [{"index": 0, "t": "b"}, {"index": 1, "t": "c"}]) == [
        {"index": 0, "t": "ab"},
        {"index": 1, "t": "c"},
    ]
    assert merged([1], [2]) == [1, 2]
