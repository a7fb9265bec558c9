"""Where SQLite and PostgreSQL are not written alike: upserts, and a list of rows as one parameter.

A list goes in as one value, JSON there and arrays here, so that a statement's text, and with it its
plan, stays the same however many rows a batch has. What a batch runs is built and compiled once a
dialect (``statements``): to build it costs more than to run it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    ARRAY,
    Table,
    TableValuedAlias,
    Text,
    bindparam,
    cast,
    column,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.expression import FromClause, Subquery
from sqlalchemy.types import TypeEngine

Upsert = sqlite.Insert | postgresql.Insert
Types = Mapping[str, type[TypeEngine[Any]]]


def insert(dialect: str, table: Table) -> Upsert:
    """An INSERT that knows ON CONFLICT. ``dialect`` is its name."""
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


class Rows:
    """Rows that come with the statement, as a table to join. ``types`` names its columns."""

    def __init__(self, dialect: str, name: str, types: Types) -> None:
        """``name`` is the table's alias, and the prefix of its parameters."""
        self._sqlite = dialect == "sqlite"
        self._name = name
        self._types = types
        self.table: FromClause = self._from_json() if self._sqlite else self._from_arrays()

    @property
    def c(self) -> Any:
        """The columns."""
        return self.table.c

    def bind(self, rows: Iterable[Sequence[object]]) -> dict[str, Any]:
        """The parameters for these rows, each in the order of the types."""
        if self._sqlite:
            return {self._name: msgspec.json.encode(list(rows)).decode()}
        columns = list(zip(*rows, strict=True)) or [()] * len(self._types)
        return {f"{self._name}_{key}": list(values) for key, values in zip(self._types, columns, strict=True)}

    def _from_json(self) -> Subquery:
        each = func.json_each(bindparam(self._name, type_=Text)).table_valued("value")
        return select(
            *(
                cast(func.json_extract(each.c.value, f"$[{place}]"), kind).label(key)
                for place, (key, kind) in enumerate(self._types.items())
            )
        ).subquery(self._name)

    def _from_arrays(self) -> TableValuedAlias:
        arrays = [bindparam(f"{self._name}_{key}", type_=ARRAY(kind)) for key, kind in self._types.items()]
        columns = (column(key, kind) for key, kind in self._types.items())
        unnested = func.unnest(*(cast(array, array.type) for array in arrays))
        return unnested.table_valued(*columns, name=self._name).render_derived()
