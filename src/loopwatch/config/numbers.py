"""The numbers of a document: read exactly as written or refused, never rounded or cut to fit.

So the first seed has it. ``60.0`` is the number 60; a text, a fraction where none can be, true, null
and NaN are no numbers.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_plain_validator_function

U32 = 2**32 - 1
U64 = 2**64 - 1


def refuse(reason: str) -> PydanticCustomError:
    """The error that a validator raises; its message is ``reason``, with no text of the document."""
    return PydanticCustomError("refused", "{reason}", {"reason": reason})


@dataclass(frozen=True, slots=True, eq=False)  # by identity: a type's annotations must be hashable
class Number:
    """Reads a number by ``read``; ``schema`` says the same to an editor."""

    read: Callable[[Any], float]
    schema: Mapping[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return dict(self.schema)


def whole(least: int, most: int = U64) -> Number:
    """A whole number of a width: ``12.0`` is one, ``12.5``, ``"12"``, ``true`` and NaN are not."""

    def read(value: Any) -> int:
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if not is_whole or isinstance(value, bool) or value < least:
            raise refuse(f"must be a whole number of at least {least}")
        if value > most:
            raise refuse(f"must be a whole number of at most {most}")
        return int(value)

    return Number(read, {"type": "integer", "minimum": least, "maximum": most})


def _is_finite(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max  # NaN is not, and Python has larger integers


def _amount(value: Any) -> float:
    if not _is_finite(value) or value <= 0:
        raise refuse("must be a finite number above 0")
    return float(value)


def _share(value: Any) -> float:
    if not _is_finite(value) or not 0 <= value <= 1:
        raise refuse("must be a number from 0 to 1")
    return float(value)


Amount = Annotated[float, Number(_amount, {"type": "number", "exclusiveMinimum": 0})]
Share = Annotated[float, Number(_share, {"type": "number", "minimum": 0, "maximum": 1})]
