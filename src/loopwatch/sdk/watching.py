"""One call while it is under way: what is heard of its answer becomes one row, whatever ends it.

A row has figures and names, never a text. It is made exactly once: at the end of the answer, at a failure,
or when a stream is closed, dropped or cut.
"""

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypedDict

import msgspec

from loopwatch.clock import Clock
from loopwatch.detect.settings import CHANNELS, LoopDetection
from loopwatch.errors import LoopTripped, LoopwatchError
from loopwatch.pricing.scripts import count_chars
from loopwatch.pricing.tokens import TokenRates
from loopwatch.records.call import Call, UsageSource
from loopwatch.sdk.guarding import Guard
from loopwatch.sdk.question import Question
from loopwatch.wire.assembly import DRAFTS
from loopwatch.wire.draft import Draft
from loopwatch.wire.openai import decode_chunk
from loopwatch.wire.usage import Usage

Verdict = Literal["pass", "hide", "cut"]
LEARNT_CHARS = 20_000
"""Replies longer than this teach nothing about characters a token: counting them takes a millisecond."""
NOTHING = Usage()


class _Loop(TypedDict, total=False):
    """What a row may say of a loop."""

    loop_rule: str
    loop_aborts: int
    loop_abort_words: int
    loop_abort_chars: int
    generation_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every call of a tracker needs: time, settings, and where its row goes.

    ``take`` is given each row with its usage (None: unknown) and the question it answers, ``lost`` what
    kept a call from becoming a row. ``open`` has the calls that are under way; whoever takes one out of it
    ends it, so that each is ended once.
    """

    clock: Clock
    rates: TokenRates
    guard: LoopDetection | None
    quiet: bool
    plans: dict[str, float]
    take: Callable[[Call, Usage | None, Question], None]
    lost: Callable[[Exception], None]
    open: set["Watched"]


class Watched:
    """One call under way. ``hear`` each event of a stream, or ``read`` a whole answer; then ``end``."""

    def __init__(self, question: Question, desk: Desk) -> None:
        self.question = question
        self._desk = desk
        self._began = desk.clock.monotonic()
        self._draft = DRAFTS[question.format]()
        self._guard = None if desk.guard is None or not question.streams else Guard(desk.guard)
        self._cut = False
        desk.open.add(self)

    @property
    def draft(self) -> Draft:
        """What has been heard of the answer."""
        return self._draft

    @property
    def guard(self) -> Guard | None:
        """Who reads it for loops; None where nobody does."""
        return self._guard

    def hear(self, data: bytes) -> Verdict:
        """What is to become of an event: the caller's, ours alone, or the last that is read."""
        try:
            pieces = self._draft.push(data)
        except LoopwatchError:  # the vendor's client reads it too, and raises what its users know
            return "pass"
        if self._guard is not None and pieces and self._guard.read(pieces):
            self._cut = True
            return "cut"
        if self.question.hides_usage and not pieces and b'"usage"' in data and _is_usage_alone(data):
            return "hide"
        return "pass"

    def read(self, data: bytes) -> None:
        """A whole answer, as its provider wrote it; the call is over."""
        with suppress(LoopwatchError):  # of a new shape: whatever figures were found are kept
            self._draft.push_whole(data)
        self._draft.done = True
        self.end()

    def fail(self) -> None:
        """The call was answered with an error, or not at all: nothing was used, as far as anyone knows."""
        self.end(failed=True)

    def tripped(self) -> LoopTripped | None:
        """What to raise for a reply that was cut; None where it shall end quietly."""
        guard = self._guard
        if guard is None or guard.trip is None or self._desk.quiet:
            return None
        return LoopTripped(guard.trip, self._draft.text(guard.channel))

    def end(self, *, failed: bool = False) -> None:
        """The call is over, however; only the first end counts, and only in the process that began it."""
        try:
            self._desk.open.remove(self)  # atomic, and may be interrupted by the garbage collector
        except KeyError:
            return
        try:
            self._end(failed=failed)
        except Exception as error:  # noqa: BLE001  the application has its answer, and is to keep it
            self._desk.lost(error)

    def _end(self, *, failed: bool) -> None:
        question, draft, now = self.question, self._draft, self._desk.clock.now()
        usage, source, method = self._usage(failed=failed)
        reported = usage or NOTHING
        row = Call(
            event_id=str(uuid.uuid4()),
            at=now,
            received_at=now,
            user_id=question.labels.user_id,
            feature=question.labels.feature,
            plan=question.labels.plan,
            plan_revenue_usd=self._desk.plans.get(question.labels.plan or ""),
            provider=question.provider,
            request_model=question.model,
            response_model=draft.model,
            input_tokens=reported.input_tokens or 0,
            cache_read_input_tokens=reported.cache_read_input_tokens or 0,
            cache_creation_input_tokens=reported.cache_creation_input_tokens or 0,
            output_tokens=reported.output_tokens or 0,
            reasoning_output_tokens=reported.reasoning_output_tokens or 0,
            usage_source=source,
            estimate_method=method,
            latency_ms=round((self._desk.clock.monotonic() - self._began) * 1_000),
            **self._loop(),
        )
        if question.run is not None and not failed:
            question.run.heard(draft.tool_calls)
        self._desk.take(row, usage, question)

    def _usage(self, *, failed: bool) -> tuple[Usage | None, UsageSource, str | None]:
        """The tokens, where they come from, and how they were estimated if they were."""
        draft = self._draft
        usage = draft.usage
        complete = draft.done or draft.finish_reason is not None
        if usage is not None and usage.output_tokens is not None and complete:
            self._learn(usage)
            return usage, "provider", None
        text = self._text()
        if failed or (not self.question.streams and usage is None and not text):
            return usage, "unknown", None
        return self._estimated(text, usage or NOTHING)

    def _estimated(self, text: str, known: Usage) -> tuple[Usage, UsageSource, str]:
        """The tokens of a reply with this text, and of what was asked where ``known`` does not tell."""
        rates, provider = self._desk.rates, self.question.provider
        output = rates.estimate(text, provider)
        asked = known.input_tokens
        if asked is None:
            asked = rates.estimate("\n".join(self.question.texts), provider).tokens
        figures = msgspec.structs.replace(
            known, input_tokens=asked, output_tokens=max(output.tokens, known.output_tokens or 0), cost=None
        )
        return figures, "estimated", output.method

    def _text(self) -> str:
        return "".join(map(self._draft.text, CHANNELS))

    def _learn(self, usage: Usage) -> None:
        text = self._text()
        if 0 < len(text) <= LEARNT_CHARS and not usage.reasoning_output_tokens:
            self._desk.rates.learn(self.question.provider, count_chars(text), usage.output_tokens or 0)

    def _loop(self) -> _Loop:
        """What the row says of a loop; of one that was only seen (shadow), its rule."""
        trip = None if self._guard is None else self._guard.trip
        if trip is None:
            return {}
        if not self._cut:
            return {"loop_rule": trip.rule}
        generation = self._draft.generation_id
        return {
            "loop_rule": trip.rule,
            "loop_aborts": 1,
            "loop_abort_words": trip.words,
            "loop_abort_chars": trip.chars,
            "generation_ids": () if generation is None else (generation,),
        }


def _is_usage_alone(data: bytes) -> bool:
    """Whether it is the chunk that only comes because usage was asked for."""
    try:
        chunk = decode_chunk(data)
    except msgspec.DecodeError:
        return False
    return chunk.usage is not None and not chunk.choices and not chunk.error
