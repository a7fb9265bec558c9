"""watch: the stream is handed through, cut at the trip, its source closed."""

from collections.abc import AsyncIterable, AsyncIterator, Iterator

import pytest

from loopwatch import LoopDetection, LoopTripped, watch
from loopwatch.errors import SettingsError

HEAD = "Here is the plan:\n"
SENTENCE = "Let me look at the parser once more. "


class Stream:
    """A vendor's kind of stream: an iterable with a close of its own, next to its iterator."""

    def __init__(self) -> None:
        self.closed = False

    def __iter__(self) -> Iterator[str]:
        return iter([HEAD, *[SENTENCE] * 500])

    def close(self) -> None:
        self.closed = True


class AsyncStream:
    """The same, asynchronous."""

    def __init__(self) -> None:
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[str]:
        for piece in [HEAD, *[SENTENCE] * 500]:
            yield piece

    async def close(self) -> None:
        self.closed = True


class HalfAsyncStream:
    """An async iterator of its own whose close is no coroutine, and one without any close."""

    def __init__(self) -> None:
        self.closed = False

    def __aiter__(self) -> "HalfAsyncStream":
        return self

    async def __anext__(self) -> str:
        return SENTENCE

    def close(self) -> None:
        self.closed = True


class Endless:
    """An iterator that cannot be closed."""

    def __iter__(self) -> "Endless":
        return self

    def __next__(self) -> str:
        return SENTENCE


class AsyncEndless:
    """The same, asynchronous."""

    def __aiter__(self) -> "AsyncEndless":
        return self

    async def __anext__(self) -> str:
        return SENTENCE


async def drain(stream: AsyncIterable[str]) -> None:
    async for _ in stream:
        pass


def test_a_sound_stream_passes_through_untouched() -> None:
    pieces = ["One ", "", "two ", "three."]
    assert list(watch(pieces)) == pieces


def test_a_loop_is_cut_and_the_text_so_far_kept() -> None:
    stream = watch([HEAD, *[SENTENCE] * 500])
    with pytest.raises(LoopTripped) as caught:
        list(stream)
    error = caught.value
    assert error.trip.rule == "cycle"
    assert error.text.startswith(HEAD + SENTENCE)
    assert error.text == stream.text
    assert error.sound_text == HEAD
    assert str(error).startswith("model looped: a passage of 37 characters repeated ")
    assert "parser" not in str(error)


def test_pieces_are_handed_out_up_to_the_one_that_trips() -> None:
    stream = watch([HEAD, *[SENTENCE] * 500])
    handed: list[str] = []
    with pytest.raises(LoopTripped) as caught:
        handed.extend(stream)
    assert "".join(handed) + SENTENCE == caught.value.text
    assert stream.detector.trip is caught.value.trip


def test_a_generator_is_closed_at_the_trip() -> None:
    ended = []

    def generate() -> Iterator[str]:
        try:
            while True:
                yield SENTENCE
        finally:
            ended.append("closed")

    with pytest.raises(LoopTripped):
        list(watch(generate()))
    assert ended == ["closed"]


def test_a_vendors_stream_is_closed_by_its_own_close() -> None:
    stream = Stream()
    with pytest.raises(LoopTripped):
        list(watch(stream))
    assert stream.closed


class GeneratedStream:
    """A vendor's kind of stream whose iterator is a generator of its own."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.closed = False
        self.failure = failure

    def __iter__(self) -> Iterator[str]:
        while True:
            yield SENTENCE

    def close(self) -> None:
        self.closed = True
        if self.failure:
            raise self.failure


def test_closing_the_iterator_alone_is_not_enough() -> None:
    stream = GeneratedStream()
    with pytest.raises(LoopTripped):
        list(watch(stream))
    assert stream.closed


def test_a_close_that_fails_does_not_hide_the_loop() -> None:
    with pytest.raises(LoopTripped) as caught:
        list(watch(GeneratedStream(OSError("reset"))))
    assert str(caught.value.__context__) == "reset"


def test_what_cannot_be_closed_is_left_alone() -> None:
    with pytest.raises(LoopTripped):
        list(watch(Endless()))


def test_settings_are_a_preset_or_settings() -> None:
    with pytest.raises(LoopTripped) as caught:
        list(watch([SENTENCE] * 500, "eager"))
    eager = caught.value.trip.chars
    with pytest.raises(LoopTripped) as caught:
        list(watch([SENTENCE] * 500, LoopDetection.preset("balanced")))
    assert eager < caught.value.trip.chars
    with pytest.raises(SettingsError):
        watch([], "patient")


def test_without_an_onset_all_the_text_is_sound() -> None:
    with pytest.raises(LoopTripped) as caught:
        list(watch(["x" * 200], LoopDetection(max_response_chars=100)))
    assert caught.value.sound_text == "x" * 200


async def test_an_async_stream_is_guarded_and_closed_alike() -> None:
    stream = AsyncStream()
    with pytest.raises(LoopTripped) as caught:
        await drain(watch(stream))
    assert stream.closed
    assert caught.value.sound_text == HEAD


async def test_an_async_generator_is_closed_at_the_trip() -> None:
    ended = []

    async def generate() -> AsyncIterator[str]:
        try:
            while True:
                yield SENTENCE
        finally:
            ended.append("closed")

    with pytest.raises(LoopTripped):
        await drain(watch(generate()))
    assert ended == ["closed"]


async def test_an_async_close_need_not_be_a_coroutine() -> None:
    stream = HalfAsyncStream()
    with pytest.raises(LoopTripped):
        await drain(watch(stream))
    assert stream.closed


async def test_an_async_stream_that_cannot_be_closed_is_left_alone() -> None:
    with pytest.raises(LoopTripped):
        await drain(watch(AsyncEndless()))


async def test_a_sound_async_stream_ends_by_itself() -> None:
    async def generate() -> AsyncIterator[str]:
        yield "One "
        yield "two."

    assert [piece async for piece in watch(generate())] == ["One ", "two."]
