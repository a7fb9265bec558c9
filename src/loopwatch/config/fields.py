"""What one value of a document may be: the texts, lists and objects, each with its JSON Schema.

Absent and null are not the same: what is not set is left out, and null is refused. ``numbers`` has the
numbers.
"""

import re
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic.fields import ComputedFieldInfo, FieldInfo
from pydantic_core import CoreSchema

from loopwatch.config.defects import looks_like_key
from loopwatch.config.numbers import refuse

T = TypeVar("T")


def _title(name: str, _: FieldInfo | ComputedFieldInfo) -> str:
    return name.strip("_").replace("_", " ").capitalize()


class Block(BaseModel):
    """An object of the document: its keys in camelCase, none of them unknown, no type guessed."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,  # the one place where the two spellings meet
        field_title_generator=_title,
        hide_input_in_errors=True,  # a document may hold what must not be printed
    )


def keys(block: type[BaseModel]) -> list[str]:
    """The keys that a block may have, in the order of its table."""
    return [str(info.alias) for info in block.model_fields.values()]


class _NotNull:
    """Makes ``X | None`` mean: X, or absent."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        (present,) = (kind for kind in get_args(source) if kind is not NoneType)
        return handler(present)


Maybe = Annotated[T | None, _NotNull()]
"""A value that may be left out (None), but not be null."""

Items = Annotated[tuple[T, ...], Field(strict=False)]  # not strict: JSON has lists, not tuples


def _distinct(items: tuple[T, ...]) -> tuple[T, ...]:
    if len(set(items)) < len(items):
        raise refuse("must not name anything twice")
    return items


def _some(items: tuple[T, ...]) -> tuple[T, ...]:
    if not items:
        raise refuse("must have at least one entry")
    return items


SOME = (AfterValidator(_some), Field(json_schema_extra={"minItems": 1}))
"""Annotations of a list that may not be empty."""
Names = Annotated[Items[T], AfterValidator(_distinct), Field(json_schema_extra={"uniqueItems": True})]
"""A list of names, none of them twice."""


def _pattern(pattern: str, reason: str) -> AfterValidator:
    whole_text = re.compile(pattern)

    def check(text: str) -> str:
        if whole_text.fullmatch(text) is None:
            raise refuse(reason)
        return text

    return AfterValidator(check)


def _editor(pattern: str) -> Any:
    return Field(json_schema_extra={"pattern": f"^{pattern}$"})


def _no_key(text: str) -> str:
    if looks_like_key(text):
        raise refuse("looks like the key itself: put the key into an environment variable and name that")
    return text


def _port(url: str) -> str:
    try:
        urlsplit(url).port  # noqa: B018  it is read to see whether it can be
    except ValueError:
        raise refuse("has a host or port that cannot be") from None
    return url


_SLUG = "[a-z0-9]+(-[a-z0-9]+)*"
_VARIABLE = "[A-Za-z_][A-Za-z0-9_]*"
_URL = r"https?://[^\s/?#@]+(/[^\s?#]*)?"

Name = Annotated[
    str, _pattern(r"(?s:.*\S.*)", "must not be empty"), Field(json_schema_extra={"pattern": r"\S"})
]
Slug = Annotated[
    str, _pattern(_SLUG, "must be lowercase letters and digits, joined by single hyphens"), _editor(_SLUG)
]
Variable = Annotated[
    str,
    AfterValidator(_no_key),
    _pattern(_VARIABLE, "must be the name of an environment variable, such as OPENAI_API_KEY"),
    _editor(_VARIABLE),
]
"""The name of an environment variable, never the secret that it holds."""
BaseUrl = Annotated[
    str,
    _pattern(_URL, "must be an http:// or https:// URL with nothing but a host, a port and a path"),
    AfterValidator(_port),
    _editor(_URL),
]
"""Where an API begins: no user, no password, no query."""
