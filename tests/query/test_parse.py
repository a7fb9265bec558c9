from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.query.compile import plan
from loopwatch.query.diagnostics import Span, caret
from loopwatch.query.evaluate import evaluate
from loopwatch.query.layout import tidy
from loopwatch.query.lex import lex
from loopwatch.query.literals import literal
from loopwatch.query.parse import LONGEST, parse
from loopwatch.query.plan import Plan
from loopwatch.query.syntax import Word
from tests.query.documents import NOW, RUNS, ids

if TYPE_CHECKING:
    from loopwatch.query.values import Document

EXAMPLES = [
    "has.summary:true | stats sum(summary.errors.loopAbortChars) as thrown by model",
    "has.summary:true | stats by (model) sum(summary.errors.loopAbortChars) thrown | sort by (thrown desc) | limit 10",
    "from calls user:(u1 or u2) -feature:chat | stats sum(tokens) as t, p95(latencyMs), distinct(session) by user, plan | where t:>50K",
    "event:turn_outcome loopAborts:>0 | timechart 1h count() if (error:model_response_loop) as failed, count() as trips by agent",
    'model:"~openai/gpt-latest" or not (cost:[* to 1.5] and cap."x-y":*) | uniq by (provider) with hits',
    "finished>=now-7d | stats dist(cost), avg(armed) by bucket(finished, 1w), model | fields model, dist(cost)",
]


def problems(text: str) -> list[str]:
    return [each.line() for each in plan(text, NOW).diagnostics]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in lex(text)[0][:-1]]


def test_a_keyword_before_an_operator_is_a_field() -> None:
    tree = parse("state:completed limit:none")
    assert tree.diagnostics == ()
    assert tree.stages == ()


def test_words_numbers_and_signs() -> None:
    assert kinds("-5") == [("word", "-5")]
    assert kinds("-state:x") == [("sign", "-"), ("word", "state"), ("sign", ":"), ("word", "x")]
    assert kinds("a>=1") == [("word", "a"), ("sign", ">="), ("word", "1")]
    assert kinds("हिन्दी:पाठ") == [("word", "हिन्दी"), ("sign", ":"), ("word", "पाठ")]
    assert kinds(r'"a\"b\n\\"') == [("string", 'a"b\n\\')]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("finished<=2026-01-31", 1_769_903_999_999.0),
        ("finished<2026-01-31", 1_769_817_600_000.0),
        ("finished>=2026-01-31", 1_769_817_600_000.0),
    ],
)
def test_a_day_as_a_bound(text: str, last: float) -> None:
    documents: list[Document] = [
        {"id": "at", "finished": last},
        {"id": "after", "finished": last + 1},
        {"id": "before", "finished": last - 1},
    ]
    expected = {"<=": "at,before", "<2": "before", ">=": "after,at"}[text[8:10]]
    assert ids(text, documents) == expected


def test_a_range_ends_with_the_last_moment_of_its_day() -> None:
    documents: list[Document] = [
        {"id": "in", "finished": 1_769_903_999_999.0},
        {"id": "out", "finished": 1_769_904_000_000.0},
    ]
    assert ids("finished:[2026-01-31 to 2026-01-31]", documents) == "in"


@pytest.mark.parametrize(
    ("word", "value"),
    [
        (Word("true", quoted=True, span=Span(0, 0)), "true"),
        (Word("true", quoted=False, span=Span(0, 0)), True),
        (Word("0x10", quoted=False, span=Span(0, 0)), "0x10"),
        (Word("-2.5e1", quoted=False, span=Span(0, 0)), -25.0),
        (Word("1e999", quoted=False, span=Span(0, 0)), "1e999"),
        (Word("2026-02-30", quoted=False, span=Span(0, 0)), "2026-02-30"),
        (Word("now", quoted=False, span=Span(0, 0)), NOW),
        (Word("now-2h", quoted=False, span=Span(0, 0)), NOW - 7_200_000),
        (Word("nowhere", quoted=False, span=Span(0, 0)), "nowhere"),
    ],
)
def test_literals(word: Word, value: object) -> None:
    found = literal(word, NOW, [])
    assert (found, type(found)) == (value, type(value))


def test_a_month_is_no_unit() -> None:
    assert problems("finished>now-1M") == ["M is no unit of time; expected s or m or h or d or w"]


def test_a_clause_that_is_wrong_is_left_out_and_the_rest_stands() -> None:
    broken = plan("state:completed and model:", NOW)
    assert len(broken.diagnostics) == 1
    assert ids("state:completed and model:") == ids("state:completed")


def test_an_open_string_is_told_from_its_quote() -> None:
    tree = parse('model:"anthro')
    assert [each.span for each in tree.diagnostics] == [Span(6, 13)]
    assert kinds('model:"anthro')[-1] == ("string", "anthro")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("| stats", "stats works out nothing"),
        ("| stats count by model", "count is no function; expected function(field); did you mean count()?"),
        ("| stats summ(cost)", "there is no function summ"),
        ("| stats avg()", "avg of which field?"),
        ("| stats count(cost)", "did you mean count() if (cost:*)?"),
        ("| stats count() by a, b, c, d", "at most 3 keys group"),
        ("| stats count() by bucket(started, 1M)", "a bucket is a field and a step"),
        ("| stats count(), count() by model", "two columns are named count()"),
        ("| stats count() by a | stats count()", "a second stats"),
        ("| stats by (a) count() by b", "keys before and after"),
        ("| statz count()", "did you mean stats?"),
        ("| summarize count()", "summarize is written stats"),
        ("| model:x", "did you mean where, for a condition?"),
        ("|", "after | stands a stage; expected stats or sort or limit"),
        ("| limit ten", "limit takes a whole number"),
        ("| limit 5000", "an answer has at most 1,000 rows"),
        ("| sort", "sort what by?"),
        ("| timechart count()", "timechart takes a step first"),
        ("| stats count() by model | sort cost", "there is no column cost to sort by"),
        ("model=x", "= is written :"),
        ("a:1 && b:2", "&& is written and"),
        ("a:1 or", "a condition is missing here"),
        ("(a:1", "this parenthesis is not closed"),
        ("a:1)", ") closes nothing here"),
        ("x:[1 2]", "a range is [a to b]"),
        ("x:(a b)", "between two values stands or"),
        ("x:()", "no value stands in these parentheses"),
        ("not", "nothing is negated here"),
        ("from runz a:1", "did you mean runs?"),
        ("a:'b'", "did you mean double quotes?"),
    ],
)
def test_what_is_wrong_is_told(text: str, told: str) -> None:
    assert any(told in line for line in problems(text)), problems(text)


def test_the_caret_stands_under_what_is_wrong() -> None:
    text = "state:completed | stats summ(cost) by model"
    (wrong, *_) = parse(text).diagnostics
    shown = caret(text, wrong).split("\n")
    assert shown[0] == text
    assert shown[1] == " " * text.index("summ") + "^" * len("summ")
    long = caret("x" * 500 + " | nope", parse("x" * 500 + " | nope").diagnostics[0]).split("\n")
    assert max(map(len, long[:2])) <= 120
    assert long[0][long[1].index("^") :].startswith("nope")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("((a:1) and (b:2))", "a:1 and b:2"),
        ("score>=0.5", "score >= 0.5"),
        ("state : x", "state:x"),
        ("a:1 b:2 OR c:3", "a:1 and b:2 or c:3"),
        ("a:1 and (b:2 or c:3)", "a:1 and (b:2 or c:3)"),
        ("-(a:1 b:2)", "not (a:1 and b:2)"),
        ("not not a:1", "a:1"),
        ('x:"1"', 'x:"1"'),
        ('"by":x', '"by":x'),
        ('x:"or"', 'x:"or"'),
        ("|stats by (m) sum(x) y|order by y desc|head 3", "| stats sum(x) as y by m | sort y desc | limit 3"),
        ("| top 5 m", "| stats count() by m | limit 5"),
    ],
)
def test_the_one_way_to_write_it(text: str, written: str) -> None:
    assert tidy(text) == written


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_is_understood_and_written_back(text: str) -> None:
    assert plan(text, NOW).diagnostics == ()
    assert tidy(tidy(text)) == tidy(text)
    assert meaning(plan(tidy(text), NOW)) == meaning(plan(text, NOW))


def meaning(asked: Plan) -> tuple[object, ...]:
    return (asked.source, asked.filter, asked.grouped, asked.having, asked.sort, asked.fields, asked.limit)


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_beginning_of_every_example_is_a_query_or_told(text: str) -> None:
    for end in range(len(text)):
        evaluate(plan(text[:end], NOW), RUNS)


PIECES = [
    *'ab:()[]|,<>=!-~"\\ *.5K\n\u0301é',
    " or ",
    " and ",
    "not ",
    "| stats ",
    " by ",
    "count()",
    " as ",
    "sum(a)",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_at_all_is_a_query_or_told_and_stays_itself_when_tidied(text: str) -> None:
    evaluate(plan(text, NOW), RUNS)
    assert tidy(tidy(text)) == tidy(text)
    if not plan(text, NOW).diagnostics:
        assert meaning(plan(tidy(text), NOW)) == meaning(plan(text, NOW))


@pytest.mark.parametrize(
    "piece", ["(", "not ", "-", "a:(", "x:[", '"', "a or ", "| stats count() ", "*", "| where ("]
)
def test_a_hundred_thousand_characters_of_anything(piece: str) -> None:
    text = piece * (LONGEST // len(piece) + 10)
    evaluate(plan(text, NOW), RUNS[:1])
    assert any("100,000" in line for line in problems(text))
