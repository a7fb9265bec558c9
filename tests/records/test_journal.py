"""A journal read back: whole, cut at every byte, damaged, of another version."""

import io
import json

import pytest

from loopwatch.errors import InputError
from loopwatch.records.journal import decode, fold
from loopwatch.records.rows import CeilingRow, End
from tests.records.journals import AGENT, ROWS, WHOLE, header, lines


def test_a_whole_journal_lacks_nothing() -> None:
    record = fold(WHOLE)
    assert record.damage == []
    assert record.end is not None
    assert record.entries == len(WHOLE)
    assert [message["role"] for message in record.contexts[AGENT]] == ["system", "user", "assistant"]
    assert [reply.text for reply in record.replies[AGENT]] == ["Hello"]
    errors = record.rollup.errors.sums()
    assert (errors.turns, errors.errors, errors.loop_aborts, errors.loop_abort_chars) == (2, 1, 6, 9)
    assert errors.by_type == {"model_response_loop": 1}
    assert record.rollup.cost_nano == 250_000_000
    assert record.rollup.agents[AGENT].status == "completed"


def test_a_journal_cut_at_any_byte_is_read_as_far_as_it_goes() -> None:
    data = b"".join(WHOLE)
    first = len(WHOLE[0])
    for size in range(len(data)):
        cut = io.BytesIO(data[:size])
        if size < first:
            with pytest.raises(InputError, match=r"no journal of a run"):
                fold(cut)
            continue
        record = fold(cut)
        whole_lines = data[:size].count(b"\n")
        assert record.entries == whole_lines
        assert "session_killed" in record.damage
        assert ("corrupt_journal" in record.damage) == (not data[:size].endswith(b"\n"))


@pytest.mark.parametrize("number", range(1, len(WHOLE)))
def test_a_line_that_is_damaged_or_gone_is_told_and_the_rest_is_kept(number: int) -> None:
    damaged = [*WHOLE[:number], b'{"type":"mess\xff\n', *WHOLE[number + 1 :]]
    assert "corrupt_journal" in fold(damaged).damage
    gone = [*WHOLE[:number], *WHOLE[number + 1 :]]
    if number < len(WHOLE) - 1:
        assert "corrupt_journal" in fold(gone).damage
    else:
        assert fold(gone).damage == ["session_killed"]


def test_a_journal_that_reached_its_size_says_so() -> None:
    ended = lines(ROWS[0], ROWS[1], (CeilingRow(most=9), None), (End(status="completed", entries=4), None))
    assert fold(ended).damage == ["byte_ceiling"]


def test_what_later_versions_add_is_passed_over() -> None:
    later = [
        *WHOLE[:-1],
        b'{"type":"hologram","seq":12,"timestamp":"","depth":[1,{"a":2}]}\n',
        b'{"type":"end","seq":13,"timestamp":"","status":"completed","entries":14,"mood":"good"}\n',
    ]
    assert fold(later).damage == []


def test_a_later_version_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="version 2, and this loopwatch reads 1: upgrade it"):
        fold(lines((header(version=2), None)))


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{}\n", b"[1]\n", b'{"type":"log"}\n', lines((header(format="other"), None))[0]]
)
def test_what_is_no_journal_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="no journal of a run"):
        fold([data])


def test_a_message_that_is_not_there_though_nothing_is_damaged_is_refused() -> None:
    altered = lines(ROWS[0], ROWS[4])
    with pytest.raises(InputError, match="lacks message 0 of implementer"):
        fold(altered)
    dangling = lines(ROWS[0], ROWS[6])
    with pytest.raises(InputError, match="turn 1 of implementer refers to messages"):
        fold(dangling)


def test_a_line_is_an_object_with_whose_and_when_it_is() -> None:
    entry = decode(WHOLE[1])
    assert (entry.envelope.type, entry.envelope.seq, entry.envelope.agent_id) == ("log", 1, AGENT)
    assert json.loads(WHOLE[1])["message"] == "loop detection: armed"
