"""What is said about attempts that came to nothing; the two sentences about loops are the seed's.

``label`` is the caller's name for the call, a run's ``turn 14``; it may be empty.
"""

from loopwatch.client.listener import Loop
from loopwatch.client.tally import Tally
from loopwatch.pricing.abandoned import bills_after_drop


def retrying(label: str, *, attempt: int, attempts: int, cause: str, wait: float) -> str:
    """An attempt failed, and another follows."""
    return f"{_subject(label)}attempt {attempt} of {attempts} failed: {cause}; the next one in {wait:.1f} s"


def discarded(label: str, tally: Tally) -> str:
    """Replies were thrown away before one was accepted."""
    replies = "response" if tally.loop_aborts == 1 else "responses"
    on = f" on {label}" if label else ""
    return (
        f"loop detection discarded {tally.loop_aborts} looping model {replies}{on} before one completed,"
        f" throwing away {tally.loop_abort_words} words of generated output"
        f" ({tally.loop_abort_chars} characters); it was all paid for and none of it entered the context."
        f"{_billed_to_the_end(tally)}"
    )


def looped_every_attempt(label: str, tally: Tally) -> str:
    """The attempts are spent, and there were loops among them."""
    return f"{_subject(label)}model looped every attempt: {_last(tally)}{_thrown_away(tally)}"


def looped_the_same(label: str, tally: Tally, loop: Loop) -> str:
    """The same loop came twice."""
    where = f"in {loop.channel} " if loop.channel != "content" else ""
    again = f"model looped again {where}at character {loop.trip.onset} (rule {loop.trip.rule}) as before"
    return f"{_subject(label)}{again}: {_last(tally)}{_thrown_away(tally)}"


def spent(label: str, *, attempts: int, cause: str) -> str:
    """The attempts are spent, and none of them looped."""
    times = "once" if attempts == 1 else f"{attempts} times"
    return f"{_subject(label)}the model was asked {times} and gave no reply: {cause}"


def too_long_a_wait(label: str, *, asked: int, ceiling: float, cause: str) -> str:
    """The provider wants to be left alone for longer than a call may take."""
    wait = f"the provider asks to wait {asked} s (Retry-After), longer than the {ceiling:g} s a call may take"
    return f"{_subject(label)}{wait}: {cause}"


def shadowed(label: str, loop: str) -> str:
    """A loop was seen, and nothing done about it."""
    return f"{_subject(label)}loop detection would have discarded this reply (shadow): model looped: {loop}"


def named(label: str, error: str) -> str:
    """An error that ended a call."""
    return f"{_subject(label)}{error}"


def _subject(label: str) -> str:
    return f"model {label} — " if label else ""


def _last(tally: Tally) -> str:
    return f"model looped: {tally.discarded[-1].trip}"


def _thrown_away(tally: Tally) -> str:
    billed = _billed_to_the_end(tally)
    return (
        f"; discarded {tally.loop_aborts} response(s) totalling {tally.loop_abort_chars} characters"
        f" of generated output{'.' if billed else ''}{billed}"
    )


def _billed_to_the_end(tally: Tally) -> str:
    """A further sentence where a provider does not stop billing when the connection is dropped."""
    named = {one.provider for one in tally.discarded if one.provider}
    names = sorted(name for name in named if bills_after_drop(name))
    if not names:
        return ""
    return f" {' and '.join(names)} may bill the whole reply, though the connection was dropped."
