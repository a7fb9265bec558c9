from typing import TYPE_CHECKING

import pytest

from tests.query.documents import CHARS, ask, ids, rows

if TYPE_CHECKING:
    from loopwatch.query.values import Document

SEED = f"has.summary:true | stats sum({CHARS}) as thrown by model"


def test_an_empty_query_is_everything_newest_first_then_by_id() -> None:
    assert ids("") == ids("*") == "s2,s3,s1,s5,s4"
    assert ask("").matched == 5


def test_the_seeds_query() -> None:
    answer = ask(SEED)
    assert answer.matched == 4
    assert answer.columns == ("model", "thrown")
    assert [(bucket.key[0], bucket.n, *bucket.folds[0]) for bucket in answer.buckets] == [
        ("acme/alpha", 2, 194_550.0, 2),
        ("acme/beta", 1, 0.0, 1),
        ("zeta/one", 1, 12_261.0, 1),
    ]


def test_the_seeds_query_sorted() -> None:
    assert [row[0] for row in rows(f"{SEED} | sort thrown desc")] == ["acme/alpha", "zeta/one", "acme/beta"]


def test_without_the_filter_a_run_without_a_summary_counts_but_contributes_nothing() -> None:
    answer = ask(f"| stats sum({CHARS}) as thrown by model")
    assert [(*bucket.key, bucket.n, *bucket.folds[0]) for bucket in answer.buckets] == [
        ("acme/alpha", 2, 194_550.0, 2),
        ("zeta/one", 2, 12_261.0, 1),
        ("acme/beta", 1, 0.0, 1),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("not cost:*", "s4"),
        ("not armed:true", "s2,s3,s5,s4"),
        ("armed != true", "s2"),
        ("cost:[0.2 to *]", "s2,s3,s1"),
        ("cost:[* to 0.2]", "s2,s5"),
        ("model:ACME/*", "s2,s3,s1"),
        ("model:acme/alpha*", "s3,s1"),
        ('model:"*a/o*e"', "s5,s4"),
        ("armed:1", "s1"),
        ('cost:"1.40"', "s3"),
        ('cost:" 1.4\u2003"', "s3"),
        ("cost:1.4*", "s3"),
        ("state:(hung or limit_exceeded)", "s3,s4"),
        ("alpha", "s3,s1"),
        ("ALPHA completed", "s1"),
        ("state:hung or cost > 1", "s3,s4"),
        ("-state:completed", "s3,s4"),
        ("finished:2026-01-06", "s2,s3"),
        ("finished:[2026-01-05 to 2026-01-05]", "s1"),
        ("finished>=now+5d", "s2,s3"),
        ("| sort cost desc", "s3,s1,s2,s5,s4"),
        ("| sort cost", "s5,s2,s1,s3,s4"),
        ("| sort model, cost desc", "s3,s1,s2,s5,s4"),
        ("state:completed | where cost:<0.5 | sort id", "s2,s5"),
    ],
)
def test_filters_and_orders(text: str, found: str) -> None:
    assert ids(text) == found


def test_quantiles_interpolate_and_a_distribution_has_seven_figures() -> None:
    ((median, p90, p95, dist),) = rows("| stats median(cost), p90(cost), p95(cost), dist(cost)")
    assert (median, p90, p95) == pytest.approx((0.5, 1.22, 1.31), rel=1e-9)
    assert isinstance(dist, tuple)
    assert dist == pytest.approx((4, 0.05, 0.1625, 0.5, 0.95, 1.4, 0.6125), rel=1e-9)


@pytest.mark.parametrize(
    ("values", "function", "expected"),
    [
        ([7], "median", 7), ([10, 20], "p90", 19), ([10, 20, 30], "p90", 28),
        ([10, 20, 30, 40], "p90", 37), ([10, 20, 30, 40], "p95", 38.5),
    ],
)  # fmt: skip
def test_quantiles_of_few(values: list[int], function: str, expected: float) -> None:
    documents: list[Document] = [{"id": str(value), "x": float(value)} for value in values]
    ((figure,),) = rows(f"| stats {function}(x)", documents)
    assert figure == pytest.approx(expected)


def test_quartiles_of_four() -> None:
    documents: list[Document] = [{"id": str(n), "x": float(n)} for n in (10, 20, 30, 40)]
    ((dist,),) = rows("| stats dist(x)", documents)
    assert isinstance(dist, tuple)
    assert (dist[2], dist[4]) == (17.5, 32.5)


def test_booleans_count_as_numbers_and_distinct_counts_anything() -> None:
    answer = ask("| stats avg(armed), distinct(model), count()")
    assert [tuple(fold) for fold in answer.buckets[0].folds] == [(0.5, 2), (3.0, 5), (5.0, 5)]


def test_of_nothing_there_is_no_sum_but_a_count() -> None:
    assert rows("state:nowhere | stats sum(cost), count(), max(cost), distinct(cost), dist(cost)") == [
        [None, 0.0, None, 0.0, None]
    ]
    assert rows("state:nowhere | stats count() by model") == []


def test_weeks_begin_on_monday_and_what_has_no_time_comes_last() -> None:
    assert rows("| stats count() by bucket(finished, 1w)") == [
        [1_766_361_600_000.0, 1.0],
        [1_767_571_200_000.0, 3.0],
        [None, 1.0],
    ]


@pytest.mark.parametrize(
    ("step", "start"), [("1d", -345_600_000.0), ("1w", -864_000_000.0), ("0d", -345_600_000.0)]
)
def test_times_before_1970_fall_into_the_step_below(step: str, start: float) -> None:
    documents: list[Document] = [{"id": "a", "finished": -259_200_001.0}]
    assert rows(f"| stats count() by bucket(finished, {step})", documents) == [[start, 1.0]]


def test_a_limit_says_that_there_was_more() -> None:
    answer = ask("| limit 2")
    assert ids("| limit 2") == "s2,s3"
    assert (answer.matched, answer.truncated) == (5, True)
    assert not ask("| limit 5").truncated
    assert ask("| stats count() by model | limit 1").truncated


def test_strings_are_ordered_by_code_point() -> None:
    documents: list[Document] = [{"id": label, "label": label} for label in ("😀", "a", "！", "Z")]
    assert ids("| sort label", documents) == "Z,a,！,😀"
    assert ids('label>"！"', documents) == "😀"


def test_a_name_means_the_key_before_the_column() -> None:
    text = "| stats count() as model by model | sort model desc"
    assert [row[0] for row in rows(text)] == ["zeta/one", "acme/beta", "acme/alpha"]


def test_a_byte_order_mark_makes_no_number() -> None:
    assert ids('x:"\ufeff0.5"', [{"id": "a", "x": 0.5}]) == ""


def test_a_stored_string_is_never_a_number() -> None:
    documents: list[Document] = [{"id": "a", "x": "1.40"}, {"id": "b", "x": 1.4}]
    assert ids("x:1.4", documents) == "b"
    assert ids('x:"1.40"', documents) == "a,b"


def test_conditions_within_stats() -> None:
    text = "| stats count() if (state:completed) as done, count() as all by model | where done:>0 | sort done desc"
    assert rows(text) == [["acme/alpha", 1.0, 2.0], ["acme/beta", 1.0, 1.0], ["zeta/one", 1.0, 2.0]]


def test_fields_choose_the_columns() -> None:
    assert rows("state:hung | fields model, state, cost") == [["zeta/one", "hung", None]]
    assert ask("| stats count(), sum(cost) by model | fields model, sum(cost)").columns == (
        "model",
        "sum(cost)",
    )


def test_top_and_uniq() -> None:
    assert rows("| top 2 by model") == [["acme/alpha", 2.0], ["zeta/one", 2.0]]
    assert rows("| uniq by (state)") == [["completed"], ["hung"], ["limit_exceeded"]]
    assert rows("| uniq by state with hits") == [["completed", 3.0], ["hung", 1.0], ["limit_exceeded", 1.0]]


def test_a_timechart_has_no_gaps() -> None:
    documents: list[Document] = [
        {"id": str(day), "started": day * 86_400_000.0, "model": "m", "x": 1.0} for day in (0, 3)
    ]
    assert rows("| timechart 1d count(), sum(x) by model", documents) == [
        [0.0, "m", 1.0, 1.0],
        [86_400_000.0, "m", 0.0, None],
        [172_800_000.0, "m", 0.0, None],
        [259_200_000.0, "m", 1.0, 1.0],
    ]


def test_money_is_summed_in_whole_parts_whatever_the_order() -> None:
    documents: list[Document] = [
        {"id": str(n), "cost": cost} for n, cost in enumerate([0.1] * 10 + [1e9, 1e-9])
    ]
    assert rows("| stats sum(cost)", documents) == rows("| stats sum(cost)", documents[::-1])
    assert rows("| stats sum(cost)", documents[:10]) == [[1.0]]
