"""What the scriptable provider answers when it is asked, later, what a reply did cost."""

from dataclasses import dataclass, field
from typing import Any

from loopwatch.testing.answers import Answer, Script, Scripted, priced, status
from loopwatch.testing.exchange import Request


@dataclass(slots=True, eq=False)
class Generations:
    """The answers to ``GET …/generation?id=…``, by id; ``lookups`` has what was asked.

    Of an id that is not named here, nothing is ever known: 404.
    """

    lookups: list[Request] = field(default_factory=list)
    _scripts: dict[str, Script] = field(default_factory=dict)
    _others: Script = field(default_factory=lambda: Script([status(404)]))

    @property
    def ids(self) -> list[str]:
        """The ids that were asked for, in that order."""
        return [lookup.query.get("id", "") for lookup in self.lookups]

    def price(self, generation_id: str, *, after: int = 0, **figures: Any) -> None:
        """Know the figures (those of ``priced``) after so many look-ups that were answered with 404."""
        self.answer(generation_id, *[status(404)] * after, priced(**figures))

    def answer(self, generation_id: str, *answers: Scripted) -> None:
        """Answer the look-ups of an id with these, in their order; the last one is repeated."""
        self._scripts[generation_id] = Script(answers)

    def otherwise(self, *answers: Scripted) -> None:
        """Answer the look-ups of every other id with these, in their order; the last one is repeated."""
        self._others = Script(answers)

    def next(self, lookup: Request) -> Answer:
        """The answer to this look-up."""
        return self._scripts.get(lookup.query.get("id", ""), self._others).next(lookup)


def is_lookup(method: str, path: str) -> bool:
    """Whether a request asks for the price of a generation."""
    return method == "GET" and path.endswith("/generation")
