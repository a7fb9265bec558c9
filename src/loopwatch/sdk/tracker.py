"""``Tracker``: an application's calls are logged with user, feature and plan, and cannot run away."""

import logging
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import msgspec

from loopwatch.clock import Clock, SystemClock
from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import InputError, LoopwatchError, ProjectKeyRefused, SettingsError, one_line
from loopwatch.pricing.prices import PriceTable
from loopwatch.pricing.tokens import TokenRates
from loopwatch.records.call import Call
from loopwatch.sdk.admission import Admission
from loopwatch.sdk.asking import ask
from loopwatch.sdk.caps import Caps, Downgrade
from loopwatch.sdk.ending import closed_at_end_of_child, closed_at_exit
from loopwatch.sdk.forking import renewed_after_fork
from loopwatch.sdk.guarding import settings_of
from loopwatch.sdk.labels import Around, taken_from_keywords
from loopwatch.sdk.link import Link
from loopwatch.sdk.numbers import is_figure
from loopwatch.sdk.question import Question
from loopwatch.sdk.runs import AgentRun
from loopwatch.sdk.sender import QUEUE, Sender
from loopwatch.sdk.steps import Monitor
from loopwatch.sdk.watching import Desk, Watched
from loopwatch.sdk.windows import Velocity, Windows
from loopwatch.sdk.wrapping import wrapped
from loopwatch.velocity.defaults import COOLDOWN_SECONDS, TOKEN_THRESHOLD, WINDOW_SECONDS
from loopwatch.wire.usage import Usage

T = TypeVar("T")

ENDPOINT = "http://127.0.0.1:8700"
COPIES = 16
"""Clients whose copies ``chat`` keeps at hand."""
log = logging.getLogger("loopwatch.sdk")


class Tracker:
    """Wraps the vendors' clients: ``client = Tracker(api_key="…").wrap(openai.OpenAI())``.

    ``api_key`` is a project's (``loopwatch keys create``), ``endpoint`` the server's address; with
    ``local=True`` nothing is sent anywhere. ``plans`` are the monthly prices in US dollars of the plans
    that calls may name (None: any plan, its price unknown). With a user and a plan the server is asked
    whether the call may be made (not with ``check_caps=False``).

    ``guard`` (a preset's name or a LoopDetection) reads each streamed reply and cuts it once it loops:
    LoopTripped is raised, or with ``on_trip="end"`` the stream just ends. ``on_velocity`` is told of a
    user's burst in this process: more than ``token_threshold`` tokens within ``window_seconds``, once in
    ``cooldown_seconds``. ``on_error`` is told what goes wrong with the logging, ``on_downgrade`` which
    model stands in for which; both are told once. Hooks run in whichever thread found it, and whatever
    they raise is logged.

    ``provider`` names who is asked where the address does not (a proxy), ``prices`` are a project's own
    (as ``PriceTable`` takes them) for an agent's ``max_cost``. Safe to use from several threads and
    tasks, and after a fork. Raises SettingsError for what cannot be meant.
    """

    def __init__(
        self,
        api_key: str | None = None,
        endpoint: str = ENDPOINT,
        *,
        plans: Mapping[str, float] | None = None,
        local: bool = False,
        on_velocity: Callable[[Velocity], object] | None = None,
        guard: LoopDetection | str | None = None,
        on_trip: str = "raise",
        on_error: Callable[[LoopwatchError], object] | None = None,
        on_downgrade: Callable[[Downgrade], object] | None = None,
        check_caps: bool = True,
        require_user: bool = False,
        provider: str | None = None,
        prices: Mapping[str, Any] | None = None,
        token_threshold: int = TOKEN_THRESHOLD,
        window_seconds: float = WINDOW_SECONDS,
        cooldown_seconds: float = COOLDOWN_SECONDS,
        queue: int = QUEUE,
        clock: Clock | None = None,
    ) -> None:
        _judge(api_key, plans, on_trip, local=local)
        self._clock = clock or SystemClock()
        self._hooks = (on_error, on_downgrade, on_velocity)
        self._prices = PriceTable(prices)
        self._refused = threading.Lock()  # taken by the first refusal, and never given back
        self._copies: dict[int, tuple[Any, Any]] = {}
        self._windows: Windows | None = None
        if local or on_velocity is not None:
            lengths = {"window_seconds": window_seconds, "cooldown_seconds": cooldown_seconds}
            self._windows = Windows(self._clock, threshold=token_threshold, **lengths)
        link = Link(endpoint, api_key)
        self._open: set[Watched] = set()
        self._sender = None if local else self._sending(link, queue)
        asks = check_caps and not local
        caps = Caps(link, self._clock, self._downgraded, self._key_refused) if asks else None
        desk = self._desk(settings_of(guard), quiet=on_trip == "end", plans=dict(plans or {}))
        self._admission = Admission(
            desk=desk, plans=plans, caps=caps, provider=provider, require_user=require_user
        )
        renewed_after_fork(self)

    def _desk(self, guard: LoopDetection | None, *, quiet: bool, plans: dict[str, float]) -> Desk:
        return Desk(
            clock=self._clock,
            rates=TokenRates(),
            guard=guard,
            quiet=quiet,
            plans=plans,
            take=self._take,
            lost=self._lost,
            open=self._open,
        )

    def forget(self) -> None:
        """Leave to the parent, in a forked child, the calls that were under way there."""
        self._open.clear()

    def _sending(self, link: Link, queue: int) -> Sender:
        closed_at_exit(self)
        return Sender(link, self._failed, self._key_refused, queue, _of_child(weakref.ref(self)))

    def __repr__(self) -> str:
        """Where its rows go; never the key."""
        return f"Tracker({'local' if self._sender is None else 'sending'}, {self.dropped} dropped)"

    def wrap(self, client: T) -> T:
        """The vendor's client, tracked: a copy of the same type that shares the connections.

        Raises NotAClient for what is no client of OpenAI's, Anthropic's or Google's SDK.
        """
        return cast("T", wrapped(client, self._admission))

    def chat(self, client: Any, params: Mapping[str, Any] | None = None, /, **more: Any) -> Any:
        """One call in the vendor's words, ``user_id`` (or ``userId``), ``feature`` and ``plan`` among them.

        ``params`` is left as it is; keywords go before it. OpenAI's ``messages`` are understood for
        Gemini too. Returns what the vendor returns; a coroutine where the client is an async one.
        """
        asked = {**(params or {}), **more}
        labels = taken_from_keywords(asked)._asdict()
        said = {name: label for name, label in labels.items() if label is not None}
        return ask(self._wrapped_once(client), asked | said)

    def user(self, user_id: str | None, *, feature: str | None = None, plan: str | None = None) -> Around:
        """A block whose calls are this user's: ``with tracker.user("u1", feature="research", plan="pro"):``.

        Tasks that are started in it are part of it; threads are through ``in_context``. None leaves what
        an outer block says. Raises MissingUser for an empty id.
        """
        return Around(taken_from_keywords({"user_id": user_id, "feature": feature, "plan": plan}))

    def agent(
        self,
        name: str,
        *,
        max_iterations: int | None = None,
        max_cost: float | None = None,
        max_seconds: float | None = None,
        steps: Monitor | None = None,
    ) -> AgentRun:
        """One agent's run with ceilings, for ``with`` or ``async with``; see AgentRun."""
        return AgentRun(
            name,
            clock=self._clock,
            max_iterations=max_iterations,
            max_cost=max_cost,
            max_seconds=max_seconds,
            steps=steps,
        )

    def _wrapped_once(self, client: Any) -> Any:
        """The tracked copy of a client that is asked again and again."""
        found = self._copies.get(id(client))
        if found is None or found[0] is not client:
            found = (client, self.wrap(client))
            self._copies[id(client)] = found
            for forgotten in list(self._copies)[:-COPIES]:
                self._copies.pop(forgotten, None)
        return found[1]

    @property
    def admission(self) -> Admission:
        """What integrations ask before a call, and log it with."""
        return self._admission

    @property
    def dropped(self) -> int:
        """Calls that were made and could not be logged."""
        return 0 if self._sender is None else self._sender.dropped

    def flush(self, timeout: float = 5.0) -> bool:
        """Send what is waiting; whether all of it was received within ``timeout`` seconds."""
        return self._sender is None or self._sender.flush(timeout)

    def close(self, timeout: float = 5.0) -> bool:
        """Log what is under way as far as it went, flush, and send nothing any more.

        A program that ends does it by itself, within two seconds.
        """
        for watched in list(self._open):
            watched.end()
        return self._sender is None or self._sender.close(timeout)

    def _take(self, call: Call, usage: Usage | None, question: Question) -> None:
        """A call is over: have it sent, counted in its user's window and in its agent's run."""
        if self._sender is not None:
            self._sender.put(msgspec.json.encode(call))
        if question.run is not None:
            question.run.spend(self._cost(call, usage), call.input_tokens + call.output_tokens)
        burst = None if self._windows is None else self._windows.add(call)
        if burst is not None:
            seen = f"user {burst.user_id}: {burst.tokens} tokens in {burst.window_seconds:.0f} s"
            log.warning("%s", one_line(seen))
            _tell(self._hooks[2], burst)

    def _lost(self, error: Exception) -> None:
        """A call could not be made into a row: our fault, and not to be the application's."""
        if self._sender is not None:
            self._sender.dropped += 1
        reason = str(error) if isinstance(error, LoopwatchError) else type(error).__name__
        self._failed(InputError(f"a call was not logged: {reason}"))

    def _cost(self, call: Call, usage: Usage | None) -> int | None:
        """Nano-US-dollars by the model that answered, or by the one asked where that has no price."""
        for model in (call.response_model, call.request_model):
            cost = self._prices.cost(usage, model=model, provider=call.provider, at=call.at)
            if cost is not None:
                return cost
        return None

    def _failed(self, error: LoopwatchError) -> None:
        log.warning("%s", error)
        _tell(self._hooks[0], error)

    def _key_refused(self, status: int) -> None:
        if self._refused.acquire(blocking=False):
            error = ProjectKeyRefused(status)
            log.error("%s", error)
            _tell(self._hooks[0], error)

    def _downgraded(self, downgrade: Downgrade) -> None:
        other = one_line(f"{downgrade.to_model} stands in for {downgrade.from_model}")
        log.warning("a cap is reached: %s", other)
        _tell(self._hooks[1], downgrade)


def _of_child(tracker: "weakref.ref[Tracker]") -> Callable[[], None]:
    def note() -> None:
        alive = tracker()
        if alive is not None:
            closed_at_end_of_child(alive)

    return note


def _judge(api_key: str | None, plans: Mapping[str, float] | None, on_trip: str, *, local: bool) -> None:
    if not local and not (api_key or "").strip():
        raise SettingsError("give Tracker(api_key=...), which `loopwatch keys create` makes, or local=True")
    if on_trip not in {"raise", "end"}:
        raise SettingsError(f"on_trip is {on_trip!r}: it may be 'raise' or 'end'")
    for plan, price in (plans or {}).items():
        if not is_figure(price):
            raise SettingsError(f"plan {plan!r} costs {price!r}: give its monthly price in US dollars")


def _tell(hook: Callable[[Any], object] | None, what: object) -> None:
    """Tell a hook; the application's call never fails by it."""
    if hook is None:
        return
    try:
        hook(what)
    except Exception:
        log.exception("a hook of the tracker failed")
