import pytest

from loopwatch.query.aggregates import AGGREGATES
from loopwatch.query.catalog import Known, catalog, unknown_fields
from loopwatch.query.complete import complete
from loopwatch.query.diagnostics import Span
from loopwatch.query.parse import parse
from tests.query.documents import CHARS, RUNS
from tests.query.test_parse import EXAMPLES

KNOWN = catalog([*RUNS, {"id": "odd", "model": "a model", "x y": "or"}])


def offered(text: str) -> list[str]:
    return [suggestion.text for suggestion in complete(text, len(text), KNOWN)]


def test_stages_after_a_pipe() -> None:
    assert offered("| ") == ["stats", "sort", "limit", "where", "fields", "top", "uniq", "timechart"]
    assert offered("state:x | st") == ["stats"]


def test_the_ten_functions_after_stats() -> None:
    assert [each.rstrip("()") for each in offered("| stats ")] == list(AGGREGATES)
    assert [each.rstrip("()") for each in offered("| stats count(), ")] == list(AGGREGATES)


@pytest.mark.parametrize(
    "text", ["| stats count() by ", "| stats count() by model, ", "| top 5 ", "| uniq by "]
)
def test_bucket_is_the_first_of_the_keys(text: str) -> None:
    assert offered(text)[:2] == ["bucket(", "id"]


def test_steps_of_a_bucket() -> None:
    assert offered("| stats count() by bucket(started, ") == ["15m", "1h", "6h", "1d", "1w"]
    assert offered("| timechart ") == ["15m", "1h", "6h", "1d", "1w"]


def test_nothing_after_limit() -> None:
    assert offered("| limit ") == []


def test_fields_of_most_documents_first_then_not() -> None:
    assert offered("")[:2] == ["id", "model"]
    assert offered("")[-1] == "not"
    assert offered("state:x mo") == ["model"]
    assert '"x y"' in offered("")
    assert complete("", 0, KNOWN)[0].detail == "string, 6"


@pytest.mark.parametrize(
    "text", ["model:", "model != ", "model:(", "model:(acme/alpha or ", "model:[", "not model:"]
)
def test_a_fields_values_the_most_frequent_first(text: str) -> None:
    assert offered(text) == ["acme/alpha", "zeta/one", '"a model"', "acme/beta"]


def test_a_value_that_would_not_be_one_word_is_quoted() -> None:
    assert offered('"x y":') == ['"or"']
    assert offered('model:"a m') == ['"a model"']


def test_what_was_begun_is_replaced() -> None:
    (suggestion,) = complete("state:completed mo | limit 2", 18, KNOWN)
    assert (suggestion.text, suggestion.span) == ("model", Span(16, 18))


def test_columns_after_stats() -> None:
    text = f"| stats sum({CHARS}) as thrown, count() by model "
    assert offered(f"{text}| sort ") == ["model", "thrown", "count()"]
    assert offered(f"{text}| sort thrown ") == ["desc", "asc"]
    assert offered(f"{text}| where thr") == ["thrown"]
    assert offered("| stats sum(") == offered("")[:-1]
    assert offered("| stats count() if (sta") == ["state"]


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_place_of_every_example_can_be_completed(text: str) -> None:
    for at in range(len(text) + 1):
        for suggestion in complete(text, at, KNOWN):
            assert 0 <= suggestion.span.start <= suggestion.span.end == at


def test_the_catalog() -> None:
    known = catalog(RUNS)
    assert known.find("cost") == Known("cost", "number", 4, ((0.05, 1), (0.2, 1), (0.8, 1), (1.4, 1)))
    assert known.find("model") == Known(
        "model", "string", 5, (("acme/alpha", 2), ("zeta/one", 2), ("acme/beta", 1))
    )
    kinds = {name: field.kind for name in ("finished", "armed") if (field := known.find(name))}
    assert kinds == {"finished": "date", "armed": "boolean"}
    mixed = catalog([{"id": "a", "x": 1.0}, {"id": "b", "x": "1"}, {"id": "c", "x": True}]).find("x")
    assert mixed == Known("x", "mixed", 3, ((True, 1), (1.0, 1), ("1", 1)))


def test_unknown_fields_are_told_with_the_nearest() -> None:
    text = "stat:x (modle:y or cost:*) | stats sum(costs) if (z:1) as a by armd | sort a | where a:>1"
    told = {
        text[each.span.start : each.span.end]: each.suggestion for each in unknown_fields(parse(text), KNOWN)
    }
    assert told == {"stat": "state", "modle": "model", "costs": "cost", "z": "", "armd": "armed"}
