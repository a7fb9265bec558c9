"""An index of documents in DuckDB: the same answers as ``evaluate``, over hundreds of thousands of documents.

The index is a file beside what it indexes and is kept as documents come; it can be thrown away at any time
and is made anew. A query can neither write to it nor reach any other file, and has bounds of time and memory.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from threading import Timer
from typing import Any, Self

import duckdb

from loopwatch.errors import InputError, one_line
from loopwatch.query.answer import Answer, Bucket, bucket_answer, document_answer
from loopwatch.query.catalog import TOP, Catalog, Known, kind, top
from loopwatch.query.evaluate import evaluate
from loopwatch.query.plan import Grouped, Plan
from loopwatch.query.sql import KINDS, Indexed, Statement, folded
from loopwatch.query.values import Document, Value, order

VERSION = 1
"""Of the index's tables. A file of another version is made anew."""

SECONDS = 20.0
"""Time that a query may take."""

MEMORY = "1GB"
"""Memory that DuckDB may use."""

TYPES = {"b": "BOOLEAN", "n": "DOUBLE", "s": "VARCHAR"}
"""DuckDB's types of a column by its first letter."""

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
    "memory_limit": MEMORY,
}


class Index:
    """Documents in the file ``path``; in memory without. A context manager. One thread at a time.

    Raises InputError where the file cannot be used, such as while another process has it open.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        try:
            self._connection = self._current()
        except (duckdb.Error, OSError) as error:
            raise InputError(f"the index {path} cannot be used: {one_line(str(error))}") from None
        self._fields: dict[str, Indexed] = {
            name: Indexed(*rest)
            for name, *rest in self._rows(
                "SELECT name, ordinal, booleans, numbers, strings, whole FROM fields"
            )
        }
        self._distinct: dict[str, list[Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """The file is complete afterwards."""
        self._connection.close()

    def stamps(self) -> dict[str, str]:
        """The documents that there are, each with the stamp that it was added with."""
        return dict(self._rows("SELECT id, stamp FROM documents"))

    def add(self, documents: Iterable[Document], stamps: Mapping[str, str] | None = None) -> None:
        """Take documents in; one whose ``id`` is there already takes its place. All or none of them."""
        page = {str(document["id"]): document for document in documents}
        if not page:
            return
        columns = self._columns(page.values())
        with self._transaction():
            self._widen(columns)
            self._delete(page)
            self._insert(page, stamps or {}, columns)
        self._fields |= columns
        self._distinct.clear()

    def remove(self, ids: Iterable[str]) -> None:
        """Documents that are no more."""
        gone = list(ids)
        if gone:
            self._delete(gone)
            self._distinct.clear()

    def answer(self, plan: Plan) -> Answer:
        """The answer of ``plan``. Raises InputError where it takes too long or too much memory."""
        try:
            with self._bounded():
                return self._grouped(plan, plan.grouped) if plan.grouped else self._listed(plan)
        except duckdb.InterruptException:
            raise InputError(f"the query took longer than {SECONDS:g} s: ask for fewer documents") from None
        except duckdb.OutOfMemoryException:
            raise InputError(f"the query needs more than {MEMORY} of memory: group by fewer keys") from None
        except (duckdb.ConversionException, duckdb.OutOfRangeException):
            return evaluate(plan, self.documents())  # a sum that no integer of SQL holds

    def documents(self) -> Iterator[Document]:
        """All documents."""
        for (text,) in self._rows("SELECT doc FROM documents"):
            yield json.loads(text)

    def catalog(self) -> Catalog:
        """The fields of the documents."""
        fields = [self._known(name, indexed) for name, indexed in self._fields.items()]
        held = [field for field in fields if field is not None]
        return Catalog(tuple(sorted(held, key=lambda field: (-field.count, field.name))))

    def _current(self) -> duckdb.DuckDBPyConnection:
        """An open file of this version, empty where there was none or another."""
        if self._path is None:
            return _made(duckdb.connect(":memory:", config=_CONFIG))
        if not self._path.exists():
            return _made(duckdb.connect(self._path, config=_CONFIG))
        connection = _readable(self._path)
        if connection is None:
            self._path.unlink()
            connection = _made(duckdb.connect(self._path, config=_CONFIG))
        return connection

    def _rows(self, text: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        return self._connection.execute(text, dict(parameters or {})).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.begin()
        try:
            yield
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.commit()

    @contextmanager
    def _bounded(self) -> Iterator[None]:
        timer = Timer(SECONDS, self._connection.interrupt)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _columns(self, page: Collection[Document]) -> dict[str, Indexed]:
        """The fields of a page of documents, as they are once it is in."""
        columns: dict[str, Indexed] = {}
        for document in page:
            for name, value in document.items():
                held = columns.get(name) or self._fields.get(name)
                if held is None:
                    taken = len(self._fields.keys() | columns.keys())
                    held = Indexed(taken)
                columns[name] = held.with_value(value)
        return columns

    def _widen(self, columns: Mapping[str, Indexed]) -> None:
        """Columns for what the documents never held before."""
        for name, after in columns.items():
            before = self._fields.get(name)
            for column in set(after.columns) - set(before.columns if before else ()):
                self._rows(f"ALTER TABLE documents ADD COLUMN {column} {TYPES[column[0]]}")
            if after != before:
                self._rows("DELETE FROM fields WHERE ordinal = $ordinal", {"ordinal": after.ordinal})
                self._rows(
                    "INSERT INTO fields VALUES ($name, $ordinal, $booleans, $numbers, $strings, $whole)",
                    {"name": name, **asdict(after)},
                )

    def _insert(
        self, page: Mapping[str, Document], stamps: Mapping[str, str], columns: Mapping[str, Indexed]
    ) -> None:
        lists: dict[str, list[Any]] = {
            "id": list(page),
            "stamp": [stamps.get(each, "") for each in page],
            "doc": [json.dumps(document, separators=(",", ":")) for document in page.values()],
        }
        for name, indexed in columns.items():
            values = [document.get(name) for document in page.values()]
            for column in indexed.columns:
                kind_ = KINDS[column[0]]
                lists[column] = [value if type(value) is kind_ else None for value in values]
        selected = ", ".join(f"CAST(unnest(${name}) AS {TYPES.get(name[0], 'VARCHAR')})" for name in lists)
        self._rows(f"INSERT INTO documents ({', '.join(lists)}) SELECT {selected}", lists)

    def _delete(self, ids: Iterable[str]) -> None:
        self._rows("DELETE FROM documents WHERE id IN (SELECT unnest($ids))", {"ids": list(ids)})

    def _values(self, column: str) -> list[Any]:
        """The different values of a column, remembered until documents come."""
        if column not in self._distinct:
            rows = self._rows(f"SELECT DISTINCT {column} FROM documents WHERE {column} IS NOT NULL")
            self._distinct[column] = [value for (value,) in rows]
        return self._distinct[column]

    def _listed(self, plan: Plan) -> Answer:
        statement = Statement(self._fields, self._values)
        where = statement.predicate(plan.filter)
        ((matched,),) = self._rows(f"SELECT count(*) FROM documents WHERE {where}", statement.parameters)
        text = f"SELECT doc FROM documents WHERE {where} ORDER BY {statement.order(plan)} LIMIT {plan.limit}"
        rows = self._rows(text, statement.parameters)
        return document_answer(plan, [json.loads(document) for (document,) in rows], matched)

    def _grouped(self, plan: Plan, grouped: Grouped) -> Answer:
        statement = Statement(self._fields, self._values)
        where = statement.predicate(plan.filter)
        keys = [statement.key(key) for key in grouped.keys]
        folds = [statement.fold(column) for column in grouped.columns]
        terms = [term for each in keys for term in each]
        selected = ", ".join([*terms, "count(*)", *(term for each in folds for term in each)])
        by = f" GROUP BY {', '.join(map(str, range(1, len(terms) + 1)))}" if terms else ""
        rows = self._rows(f"SELECT {selected} FROM documents WHERE {where}{by}", statement.parameters)
        buckets = [_bucket(grouped, keys, folds, row) for row in rows]
        return bucket_answer(plan, grouped, buckets, sum(bucket.n for bucket in buckets))

    def _known(self, name: str, indexed: Indexed) -> Known | None:
        """What is known of a field, unless its documents are gone."""
        counted: Counter[tuple[int, Value]] = Counter()
        count = 0
        for column in indexed.columns:
            rows = self._rows(
                f"SELECT {column}, count(*), sum(count(*)) OVER () FROM documents WHERE {column} IS NOT NULL"
                f" GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {TOP}"
            )
            counted.update({order(value): times for value, times, _ in rows})
            count += int(rows[0][2]) if rows else 0
        kinds = {KINDS[column[0]] for column in indexed.columns if any(True for _ in self._values(column))}
        return Known(name, kind(name, kinds), count, top(counted)) if count else None


def _readable(path: Path) -> duckdb.DuckDBPyConnection | None:
    """A file's index; None where the file is none, or one of another version."""
    try:
        connection = duckdb.connect(path, config=_CONFIG)
    except duckdb.IOException as error:
        if "lock" in str(error):  # another process has it open
            raise
        return None
    with suppress(duckdb.Error):
        if connection.execute("SELECT version FROM loopwatch_index").fetchone() == (VERSION,):
            return connection
    connection.close()
    return None


def _made(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A new index's tables."""
    connection.execute(
        "CREATE TABLE loopwatch_index AS SELECT CAST($version AS INTEGER) AS version", {"version": VERSION}
    )
    connection.execute("CREATE TABLE documents (id VARCHAR, stamp VARCHAR, doc VARCHAR)")
    connection.execute(
        "CREATE TABLE fields"
        " (name VARCHAR, ordinal INTEGER, booleans BOOLEAN, numbers BOOLEAN, strings BOOLEAN, whole BOOLEAN)"
    )
    return connection


def _bucket(grouped: Grouped, keys: list[list[str]], folds: list[list[str]], row: tuple[Any, ...]) -> Bucket:
    """A row's values put together: each key from its columns, each fold from its figures."""
    values = iter(row)
    key = tuple(
        next((part for part in list(islice(values, len(each))) if part is not None), None) for each in keys
    )
    n = next(values)
    made = [
        folded(column, list(islice(values, len(each))))
        for column, each in zip(grouped.columns, folds, strict=True)
    ]
    return Bucket(key, n, tuple(made))
