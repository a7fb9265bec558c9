"""The rolling window in the process: the second seed's own first step, without a server.

It dies with the process and knows nothing of other ones; ``loopwatch serve`` does both.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from loopwatch.clock import Clock
from loopwatch.records.call import Call
from loopwatch.records.moments import micros, span_micros
from loopwatch.sdk.forking import renewed_after_fork
from loopwatch.sdk.numbers import require
from loopwatch.velocity.cooldown import may_alert
from loopwatch.velocity.tokens import weighed
from loopwatch.velocity.window import RollingWindow, above

USERS = 10_000
"""Users whose windows are kept; beyond it the one who has been silent for longest is forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Velocity:
    """One user's burst: more ``tokens`` within ``window_seconds`` than ``threshold``.

    ``feature`` and ``model`` are those of the call that crossed it; ``suppressed`` counts the crossings
    since the last one that was told, which the cooldown kept quiet.
    """

    user_id: str
    tokens: int
    threshold: int
    window_seconds: float
    feature: str | None
    model: str
    suppressed: int


class _User:
    __slots__ = ("last", "suppressed", "window")

    def __init__(self, window: int) -> None:
        self.window = RollingWindow(window)
        self.last: int | None = None
        self.suppressed = 0


class Windows:
    """Every user's window. Safe to use from several threads.

    ``threshold`` is in tokens. Raises SettingsError for figures that cannot be meant.
    """

    def __init__(
        self, clock: Clock, *, threshold: int, window_seconds: float, cooldown_seconds: float
    ) -> None:
        require("token_threshold", threshold)
        require("window_seconds", window_seconds, zero=False)
        require("cooldown_seconds", cooldown_seconds)
        self._clock = clock
        self._threshold = threshold
        self._seconds = window_seconds
        self._cooldown = span_micros(cooldown_seconds)
        self._users: OrderedDict[str, _User] = OrderedDict()
        self._lock = threading.RLock()  # what the garbage collector ends is counted by whoever it interrupts
        renewed_after_fork(self)

    def forget(self) -> None:
        """Begin anew in a forked child, with what is known so far."""
        self._lock = threading.RLock()

    def add(self, call: Call) -> Velocity | None:
        """Count a call; the burst where it is to be told now. An anonymous call counts nowhere."""
        if call.user_id is None:
            return None
        now = micros(self._clock.now())
        with self._lock:
            user = self._user(call.user_id)
            user.window.add(micros(call.at), weighed(call.fresh_tokens, call.cache_read_input_tokens))
            tokens = user.window.total(now)
            if not above(tokens, self._threshold):
                return None
            if not may_alert(user.last, now, self._cooldown):
                user.suppressed += 1
                return None
            suppressed, user.suppressed, user.last = user.suppressed, 0, now
        return Velocity(
            user_id=call.user_id,
            tokens=tokens,
            threshold=self._threshold,
            window_seconds=self._seconds,
            feature=call.feature,
            model=call.model,
            suppressed=suppressed,
        )

    def _user(self, name: str) -> _User:
        user = self._users.get(name)
        if user is None:
            user = self._users[name] = _User(span_micros(self._seconds))
        self._users.move_to_end(name)
        if len(self._users) > USERS:
            self._users.popitem(last=False)
        return user
