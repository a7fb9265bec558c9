"""What a watched request asks: its body read once, in our words."""

from dataclasses import dataclass
from typing import Any

import msgspec

from loopwatch.proxy.dialects.dialect import Asked, Dialect
from loopwatch.proxy.dialects.names import DIALECTS
from loopwatch.proxy.routes import Route
from loopwatch.proxy.unpacking import unpacked
from loopwatch.wire.decoding import anything

_top = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A watched request. ``asked`` is None where its body could not be read: it goes on as it is."""

    dialect: Dialect
    asked: Asked | None

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of its body."""
        return {} if self.asked is None else self.asked.fields

    @property
    def model(self) -> str:
        """The model that is asked."""
        return "unknown" if self.asked is None else self.dialect.model(self.asked)

    @property
    def is_single(self) -> bool:
        """Whether its answer can be guarded."""
        return self.asked is not None and self.dialect.is_single(self.asked)

    @property
    def streams(self) -> bool:
        """Whether it is to be answered by a stream."""
        return self.asked is None or self.dialect.streams(self.asked)


def inquiry(route: Route, query: str, body: bytes, encoding: str, most: int) -> Inquiry:
    """What a body asks, at a route that has a dialect; unpacked it may have ``most`` bytes."""
    assert route.dialect is not None  # noqa: S101  the caller has looked
    dialect = DIALECTS[route.dialect]
    plain = unpacked(encoding, body, most) if encoding else body
    asked: Asked | None = None
    if plain is not None:
        try:
            fields = anything(plain)
            if isinstance(fields, dict):
                asked = Asked(route.path, query, fields, _top.decode(plain))
        except msgspec.DecodeError:
            pass
    return Inquiry(dialect, asked)
