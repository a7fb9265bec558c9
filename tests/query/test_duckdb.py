"""Both evaluators give the same answers; an index keeps itself and lets nobody out."""

from functools import cache
from math import isclose
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwatch.errors import InputError
from loopwatch.query import duckdb as index_module
from loopwatch.query.aggregates import AGGREGATES
from loopwatch.query.answer import Answer
from loopwatch.query.catalog import catalog
from loopwatch.query.compile import plan
from loopwatch.query.duckdb import Index
from loopwatch.query.evaluate import evaluate
from loopwatch.query.values import Document, stored
from tests.query.documents import NOW, RUNS
from tests.query.test_parse import EXAMPLES

NAMES = ("finished", "cost", "n", "Model", "model", "x y")
WORDS = (
    "",
    "a",
    "A",
    "ab",
    "İ",
    "ß",
    "SS",
    "ſ",
    "K",
    "k",
    "1",
    "1.0",
    "true",
    "a*b",
    "😀",
    "！",
    "nul\0",
    "'",
    '"',
)
NUMBERS = st.one_of(
    st.integers(-5, 5).map(float),
    st.sampled_from([0.5, -0.0, 1e15, 1e16, 123_456.789, 2.0**53, 1e-7]),
    st.floats(-1e6, 1e6, allow_subnormal=False),
)
VALUES = st.one_of(st.booleans(), NUMBERS.map(lambda each: each + 0.0), st.sampled_from(WORDS))
DOCUMENTS = st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES), max_size=12).map(
    lambda found: [{"id": str(place), **each} for place, each in enumerate(found)]
)
FIELD = st.sampled_from(("finished", "cost", "n", "Model", "model", '"x y"', "id", "nowhere"))
LITERAL = st.sampled_from(
    (
        "a",
        "A*",
        '"İ"',
        "ss",
        "k",
        "1",
        '"1"',
        "1.0",
        "-0",
        "true",
        "*1*",
        '"a*b"',
        "2026-01-01",
        "1e15",
        "now-1d",
        "0.5",
        '"！"',
    )
)
CLAUSE = st.one_of(
    st.builds("{}{}{}".format, FIELD, st.sampled_from((":", " != ", ">", ">=", "<", "<=")), LITERAL),
    st.builds("{}:({} or {})".format, FIELD, LITERAL, LITERAL),
    st.builds("{}:[{} to {}]".format, FIELD, LITERAL, LITERAL),
    st.builds("{}:*".format, FIELD),
    LITERAL,
)
FILTER = st.recursive(
    CLAUSE,
    lambda inner: st.one_of(
        st.builds("({} or {})".format, inner, inner),
        st.builds("{} {}".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=4,
)
KEY = st.one_of(FIELD, st.builds("bucket({}, {})".format, FIELD, st.sampled_from(("1m", "7d", "2w"))))
FUNCTION = st.builds(
    lambda name, field, condition, column: (
        f"{name}({field if AGGREGATES[name].takes_field else ''}){condition and f' if ({condition})'} as c{column}"
    ),
    st.sampled_from(tuple(AGGREGATES)),
    FIELD,
    st.one_of(st.just(""), FILTER),
    st.integers(0, 99),
)
STATS = st.builds(
    lambda functions, keys: f" | stats {', '.join(functions)}" + (f" by {', '.join(keys)}" if keys else ""),
    st.lists(FUNCTION, min_size=1, max_size=3),
    st.lists(KEY, max_size=3),
)
SORT = st.builds(" | sort {} {}".format, FIELD, st.sampled_from(("", "desc")))
QUERY = st.builds(
    "{}{}{}{}".format,
    st.one_of(st.just(""), FILTER),
    st.one_of(st.just(""), STATS),
    st.one_of(st.just(""), SORT),
    st.sampled_from(("", " | limit 3")),
)


def same(left: object, right: object) -> bool:
    """Equal, but for the last digits of what was interpolated or summed."""
    if isinstance(left, tuple | list) and isinstance(right, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return isclose(left, right, rel_tol=1e-9, abs_tol=1e-6)
    return type(left) is type(right) and left == right


@cache
def filled_before() -> Index:
    """One index for all examples: it takes ten times as long to make one as to ask it."""
    return Index()


def holding(documents: list[Document]) -> Index:
    index = filled_before()
    index.remove(index.stamps())
    index.add(documents)
    return index


def agree(text: str, documents: list[Document]) -> tuple[Answer, Answer]:
    asked = plan(text, NOW)
    return evaluate(asked, documents), holding(documents).answer(asked)


@settings(max_examples=150, deadline=None)
@given(QUERY, DOCUMENTS)
def test_both_evaluators_agree(text: str, documents: list[Document]) -> None:
    meant, found = agree(text, documents)
    assert (found.matched, found.rows, found.columns) == (meant.matched, meant.rows, meant.columns)
    assert found.documents == meant.documents
    assert [(bucket.key, bucket.n) for bucket in found.buckets] == [
        (bucket.key, bucket.n) for bucket in meant.buckets
    ]
    assert same([bucket.folds for bucket in found.buckets], [bucket.folds for bucket in meant.buckets])


@settings(max_examples=50, deadline=None)
@given(DOCUMENTS)
def test_both_know_the_same_fields(documents: list[Document]) -> None:
    assert holding(documents).catalog() == catalog(documents)


@pytest.mark.parametrize("text", EXAMPLES)
def test_they_agree_on_the_examples(text: str) -> None:
    meant, found = agree(text, RUNS)
    assert same(found.table(), meant.table())


def test_a_sum_of_dollars_beyond_all_whole_numbers_is_still_answered() -> None:
    meant, found = agree("| stats sum(cost)", [{"id": "a", "cost": 1e300}, {"id": "b", "cost": 1e300}])
    assert found == meant


def test_a_sum_beyond_all_doubles_is_none() -> None:
    meant, found = agree(
        "| stats sum(n), avg(n), max(n)", [{"id": "a", "n": 1.7e308}, {"id": "b", "n": 1.7e308}]
    )
    assert found.table() == meant.table() == [[None, None, 1.7e308]]


def test_an_index_is_kept_and_its_documents_replaced(tmp_path: Path) -> None:
    path = tmp_path / "index.duckdb"
    with Index(path) as index:
        index.add(RUNS, {str(each["id"]): "1" for each in RUNS})
    with Index(path) as index:
        assert index.stamps() == {str(each["id"]): "1" for each in RUNS}
        index.add([{"id": "s4", "model": "zeta/two", "turns": 3.0}], {"s4": "2"})
        index.remove(["s5"])
        asked = plan("| stats count(), sum(turns) by model", NOW)
        rest = [each for each in RUNS if each["id"] not in ("s4", "s5")]
        assert index.answer(asked) == evaluate(
            asked, [*rest, {"id": "s4", "model": "zeta/two", "turns": 3.0}]
        )
        assert index.stamps()["s4"] == "2"


@pytest.mark.parametrize("content", [b"", b"no database", None])
def test_a_file_that_is_no_index_of_ours_is_made_anew(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "index.duckdb"
    if content is None:
        with duckdb.connect(path) as other:
            other.execute("CREATE TABLE loopwatch_index AS SELECT 0 AS version")
    else:
        path.write_bytes(content)
    with Index(path) as index:
        assert index.stamps() == {}


def test_an_index_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the index .* cannot be used") as caught:
        Index(tmp_path / "missing" / "index.duckdb")
    assert "\n" not in str(caught.value)


def test_a_query_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "SECONDS", 0.001)
    functions = ", ".join(f"dist(x) as c{n}" for n in range(20))
    with Index() as index:
        index.add({"id": str(n), "x": float(n % 7), "y": f"{n}"} for n in range(20_000))
        asked = plan(f"| stats {functions} by y", NOW)
        with pytest.raises(InputError, match=r"took longer than 0\.001 s: ask for fewer documents"):
            _ = [index.answer(asked) for _ in range(10)]  # the timer may come late on a busy machine


@pytest.mark.parametrize(
    "text",
    [
        'model:"\'; DROP TABLE documents; --"',
        "\"x'); COPY documents TO '/tmp/out'; --\":1",
        "| stats count() by \"f' FROM read_csv('/etc/passwd') --\"",
        '| stats sum("1); ATTACH \'/tmp/other.db\'; --") as "y\' --" by model',
        "| sort \"(SELECT 1 FROM read_text('/etc/passwd'))\"",
    ],
)
def test_nothing_of_a_query_becomes_sql(text: str) -> None:
    with Index() as index:
        index.add(RUNS)
        asked = plan(text, NOW)
        assert index.answer(asked) == evaluate(asked, RUNS)
        assert len(index.stamps()) == len(RUNS)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "COPY documents TO '/tmp/loopwatch_out'",
        "SET enable_external_access = true",
    ],
)
def test_even_sql_could_reach_no_file(statement: str) -> None:
    with Index() as index, pytest.raises(duckdb.Error):
        index._connection.execute(statement)


def test_what_a_document_holds() -> None:
    values: list[object] = [True, 1, 1.5, -0.0, "x", None, [1], {}, float("nan"), 10**400]
    assert [stored(each) for each in values] == [
        True, 1.0, 1.5, 0.0, "x", None, None, None, None, None
    ]  # fmt: skip
    assert str(stored(-0.0)) == "0.0"
