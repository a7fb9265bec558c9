"""The lag finder against the obvious, slow way to see a repetition."""

from hypothesis import given, settings
from hypothesis import strategies as st

from loopwatch.detect.lags import FAR, LEVELS, NEAR, LagFinder, Level, Repetition, Tail

STEP = 64


def follow(text: str, levels: tuple[Level, ...] = LEVELS, step: int = STEP) -> tuple[Tail, LagFinder]:
    """Read ``text`` in steps; what is left of the last step is not read."""
    tail, finder = Tail(), LagFinder(levels)
    for start in range(0, len(text) - step + 1, step):
        tail.append(text[start : start + step])
        finder.advance(tail, step)
    return tail, finder


def onset_of(text: str, lag: int) -> int:
    """Where the stretch begins in which every character up to the end equals the one ``lag`` before it."""
    index = len(text)
    while index > lag and text[index - 1] == text[index - 1 - lag]:
        index -= 1
    return index - lag


def words(count: int, first: int = 0) -> str:
    return " ".join(f"w{number}" for number in range(first, first + count)) + " "


def test_sound_text_has_no_repetition() -> None:
    _, finder = follow(words(3_000))
    assert finder.repetitions == ()


def test_a_short_period_is_found_within_two_steps_with_its_onset() -> None:
    text = words(100) + "void 0; " * 40
    tail, finder = follow(text)
    assert finder.repetitions[0] == Repetition(8, onset_of(text[: tail.end], 8))
    assert finder.repetitions[0].length(tail) == tail.end - finder.repetitions[0].onset


def test_a_row_is_found_behind_the_shorter_period_inside_it() -> None:
    row = "0, " * 60 + "3, " + "0, " * 30 + "\n"
    _, finder = follow("level = [\n" + row * 20)
    assert len(row) in {found.lag for found in finder.repetitions}


def test_a_period_longer_than_what_is_kept_at_hand_is_followed() -> None:
    unit = words(4_000)
    assert NEAR < len(unit) < LEVELS[-1].reach
    text = "A short beginning. " + unit * 3
    tail, finder = follow(text)
    assert finder.repetitions == (Repetition(len(unit), onset_of(text[: tail.end], len(unit))),)


def test_a_change_far_back_in_a_long_period_ends_it() -> None:
    unit = words(4_000)
    _, finder = follow(unit * 2 + unit[:20_000] + "?" * STEP)
    assert finder.repetitions == ()


def test_a_repetition_ends_with_the_first_step_that_differs() -> None:
    text = "ab" * 200 + words(100)
    _, finder = follow(text[: 400 + STEP])
    assert finder.repetitions == ()


def test_a_lag_known_at_one_level_is_not_found_again_at_another() -> None:
    _, finder = follow("abcdefgh" * 2_000)
    assert [found.lag for found in finder.repetitions] == [8]


def test_the_onset_is_the_oldest_position_known_where_it_has_been_forgotten() -> None:
    tail, finder = follow(words(20) * 1_200, levels=(Level(65_536, 24, 1_024),))
    (found,) = finder.repetitions
    assert 0 < found.onset <= tail.end - NEAR


def test_nothing_grown_changes_nothing_and_a_short_text_has_no_anchor() -> None:
    tail, finder = Tail(), LagFinder()
    finder.advance(tail, 0)
    tail.append("ab")
    finder.advance(tail, 2)
    assert finder.repetitions == ()
    tail.append("ab" * 5)
    LagFinder((Level(1, 24, 1_024),)).advance(tail, 10)


def test_the_tail_keeps_the_end_and_forgets_the_rest() -> None:
    tail = Tail()
    text = words(30_000)
    for start in range(0, len(text), 100):
        tail.append(text[start : start + 100])
    assert tail.end == len(text)
    for count in (0, 1, 500, NEAR, NEAR + 1, FAR):
        assert tail.last(count) == text[len(text) - count :]
    assert text.endswith(tail.last(len(text)))
    assert len(tail.last(len(text))) <= NEAR + FAR


@settings(max_examples=200, deadline=None)
@given(
    st.text("ab\n", max_size=200),
    st.text("abc ", min_size=1, max_size=150),
    st.integers(2, 60),
)
def test_what_is_found_is_true_and_as_long_as_it_can_be(head: str, unit: str, copies: int) -> None:
    text = head + unit * copies
    tail, finder = follow(text)
    read = text[: tail.end]
    for found in finder.repetitions:
        assert found.onset == onset_of(read, found.lag)


@settings(max_examples=100, deadline=None)
@given(st.text("ab\n", max_size=200), st.text("abc ", min_size=1, max_size=120))
def test_a_long_run_is_always_found(head: str, unit: str) -> None:
    text = head + unit * (2_000 // len(unit))
    tail, finder = follow(text)
    longest = max((found.length(tail) for found in finder.repetitions), default=0)
    assert longest >= tail.end - len(head) - 64


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text("ab", min_size=1, max_size=9_000), min_size=1, max_size=12),
    st.integers(1, 20_000),
    st.integers(1, 64),
)
def test_going_on_is_seen_wherever_the_copy_stands(parts: list[str], lag: int, grown: int) -> None:
    tail = Tail()
    for part in parts:
        tail.append(part)
    kept = tail.last(NEAR + FAR)
    grown = min(grown, len(parts[-1]), NEAR // 3)
    expected = len(kept) >= lag + grown and kept[-grown:] == kept[-lag - grown : -lag]
    assert tail.goes_on(lag, grown) == expected
