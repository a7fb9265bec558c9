import pytest

from loopwatch.query.aggregates import Dist
from loopwatch.query.board import OVERVIEW, RANGES, WIDE, Panel, ranged
from loopwatch.query.charts import MOST_SERIES, Chart, Series, charts
from loopwatch.query.compile import plan
from loopwatch.query.layout import written
from loopwatch.query.parse import parse
from loopwatch.query.values import Document
from tests.query.documents import NOW, RUNS, ask


def drawn(text: str, documents: list[Document] | None = None) -> list[Chart]:
    return charts(ask(text, documents))


def test_documents_are_a_table() -> None:
    assert drawn("state:completed") == []


def test_one_group_is_a_tile_for_each_figure_and_says_of_how_many_it_is() -> None:
    assert drawn("| stats count(), sum(cost) as spent") == [
        Chart("tile", "count()", ("count()",), (Series("count()", (5.0,)),), contributing=5, of=5),
        Chart("tile", "spent", ("spent",), (Series("spent", (2.45,)),), contributing=4, of=5),
    ]


def test_a_field_makes_bars_in_the_order_of_the_table() -> None:
    (chart,) = drawn("| stats count() by model")
    assert chart == Chart(
        "bars", "count()", ("acme/alpha", "zeta/one", "acme/beta"), (Series("", (2.0, 2.0, 1.0)),)
    )


def test_time_makes_a_line_and_what_has_no_time_is_counted() -> None:
    (chart,) = drawn("| stats count() by bucket(finished, 1w)")
    assert (chart.kind, chart.places, chart.dropped) == (
        "line",
        (1_766_361_600_000.0, 1_767_571_200_000.0),
        1,
    )


def test_a_second_key_makes_series_stacked_where_that_means_something() -> None:
    count, mean = drawn("| stats count(), avg(cost) by model, state")
    assert (count.stacked, mean.stacked) == (True, False)
    assert {series.name for series in count.series} == {"completed", "limit_exceeded", "hung"}
    assert mean.dropped == 1


def test_a_distribution_makes_boxes() -> None:
    (chart,) = drawn("| stats dist(cost) by model")
    assert chart.kind == "boxes"
    assert isinstance(chart.series[0].figures[0], Dist)
    assert drawn("| stats dist(cost)")[0].kind == "boxes"


def test_too_many_series_are_left_out_and_counted() -> None:
    documents: list[Document] = [{"id": str(n), "a": "x", "b": f"s{n}", "v": float(n)} for n in range(20)]
    (chart,) = drawn("| stats sum(v) by a, b", documents)
    assert [series.name for series in chart.series] == [f"s{n}" for n in range(19, 19 - MOST_SERIES, -1)]
    assert chart.dropped == 20 - MOST_SERIES


def test_a_limit_of_nothing_is_a_tile_without_a_figure() -> None:
    assert drawn("| stats count() | limit 0") == [Chart("tile", "count()", (), (), dropped=1)]


@pytest.mark.parametrize("panel", OVERVIEW)
def test_the_overview_is_made_of_queries_that_are_right(panel: Panel) -> None:
    text = panel.query
    assert plan(text, NOW).diagnostics == ()
    assert charts(ask(text, RUNS))
    assert all(0 < each.width <= WIDE for each in OVERVIEW)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "started >= now-7d"),
        ("state:x or a:1", "started >= now-7d and (state:x or a:1)"),
        ("| stats count() by bucket(finished, 1d), model", "started >= now-7d | stats count() by bucket(finished, 6h), model"),
        ("| stats count() by model, bucket(started, 1d)", "started >= now-7d | stats count() by model, bucket(started, 1d)"),
        ("| stats count() by bucket(other, 1d)", "started >= now-7d | stats count() by bucket(other, 1d)"),
        ("| timechart 1w count()", "started >= now-7d | timechart 6h count()"),
        ("from calls a:1", "from calls at >= now-7d and a:1"),
    ],
)  # fmt: skip
def test_a_board_bounds_its_panels_and_redraws_time(text: str, expected: str) -> None:
    assert written(ranged(parse(text), RANGES["7d"])) == expected


def test_all_time_bounds_nothing() -> None:
    assert written(ranged(parse("state:x"), RANGES["all"])) == "state:x"
