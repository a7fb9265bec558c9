"""What an alert says. The seed's example is the contract, to the column."""

from typing import Any

import pytest

from loopwatch.alerts.alert import MOST_LINK, cost_so_far, entry, user_url
from loopwatch.alerts.message import plain_text
from tests.alerts.samples import BLOCK, HOSTILE, PUBLIC, alert, hostile, message

SEED = """\
⚠️  loopwatch: possible agent loop detected

user_id:        usr_8f21c9
tokens (5 min): 61,400
cost so far:    $0.74
feature:        research-agent
model:          gpt-4o-mini

→ https://watch.example.com/dashboard/users/usr_8f21c9"""


def test_the_text_is_the_seeds() -> None:
    assert plain_text(message()) == SEED


def test_what_the_seed_does_not_have_comes_after_it() -> None:
    assert plain_text(message(BLOCK, suppressed=12)) == (
        SEED + "\n\n12 more crossings since the last alert, kept quiet by the cooldown.\n"
        f"Block this user (asks you to sign in): {BLOCK}"
    )
    assert "1 more crossing since" in plain_text(message(suppressed=1))


def test_longer_labels_move_the_column() -> None:
    lines = plain_text(message(window_seconds=3_600.0)).split("\n")
    assert lines[2:4] == ["user_id:         usr_8f21c9", "tokens (60 min): 61,400"]


@pytest.mark.parametrize(
    ("cost", "unpriced", "text"),
    [
        *((None, 0, "unknown"), (None, 12, "unknown (12 calls without a known price)"), (0, 0, "$0.00")),
        *((740_000_000, 1, "$0.74 + 1 call without a known price"), (4_200_000, 0, "$0.0042")),
    ],
)
def test_an_unknown_cost_is_said_never_zero(cost: int | None, unpriced: int, text: str) -> None:
    assert cost_so_far(cost, unpriced) == text


@pytest.mark.parametrize(
    ("cost", "unpriced", "text"),
    [(0, 12, "unknown (12 calls without a known price)"), (0, 0, "$0.00"), (5 * 10**9, 0, "$5.00")],
)
def test_a_month_without_a_single_price_has_an_unknown_cost(cost: int, unpriced: int, text: str) -> None:
    assert f"cost so far:    {text}\n" in plain_text(message(month_cost_nano=cost, month_unpriced=unpriced))


def test_what_is_missing_has_a_mark() -> None:
    assert "feature:        -\nmodel:          -\n" in plain_text(message(feature=None, model=""))


@pytest.mark.parametrize(
    ("changes", "heading", "row"),
    [
        (
            {"rule": "cost", "observed": 6_000_000_000, "threshold": 5_000_000_000},
            "a user is spending fast",
            "cost (5 min):   $6.00 (alerts above $5.00)",
        ),
        (
            {"rule": "margin", "observed": 12_400_000_000, "threshold": 5_000_000_000},
            "a user costs more than their plan",
            "above plan:     $12.40 (alerts above $5.00)",
        ),
        (
            {"rule": "unknown", "observed": 250_000, "threshold": 100_000},
            "calls without a known price",
            "no known price: 25 % of calls (alerts above 10 % of calls)",
        ),
    ],
)
def test_other_rules_say_what_was_crossed(changes: dict[str, Any], heading: str, row: str) -> None:
    lines = plain_text(message(**changes)).split("\n")
    assert lines[0] == f"⚠️  loopwatch: {heading}"
    assert lines[2:7] == SEED.split("\n")[2:7]
    assert lines[7] == row


@pytest.mark.parametrize("text", HOSTILE)
def test_no_user_id_makes_or_breaks_a_line(text: str) -> None:
    said = plain_text(hostile(text))
    lines = said.split("\n")
    assert len(lines) == len(SEED.split("\n")) + 2
    assert all(line.isprintable() or "️" in line for line in lines)
    assert lines[2].startswith("user_id:        ")
    assert lines[8].startswith(f"→ {PUBLIC}/dashboard/users")
    said.encode()
    assert len(said) < 5_000


def test_the_wire_has_what_the_read_api_promises() -> None:
    assert entry(alert(suppressed=3), PUBLIC) == {
        "id": "al_1",
        "userId": "usr_8f21c9",
        "rule": "velocity",
        "tokens": 61_400,
        "value": 61_400,
        "threshold": 50_000,
        "windowMinutes": 5,
        "costSoFar": 0.74,
        "unpricedCalls": 0,
        "feature": "research-agent",
        "model": "gpt-4o-mini",
        "at": "2026-11-28T02:15:30Z",
        "suppressed": 3,
        "url": "https://watch.example.com/dashboard/users/usr_8f21c9",
    }


def test_thresholds_are_on_the_wire_in_the_unit_of_their_rule() -> None:
    money = entry(
        alert(
            rule="margin",
            observed=5_250_000_000,
            threshold=5_000_000_000,
            month_cost_nano=0,
            month_unpriced=1,
        ),
        PUBLIC,
    )
    assert (money["value"], money["threshold"], money["costSoFar"]) == (5.25, 5.0, None)
    share = entry(alert(rule="unknown", observed=250_000, threshold=100_000), PUBLIC)
    assert (share["value"], share["threshold"]) == (0.25, 0.1)


def test_a_link_is_encoded_and_never_endless() -> None:
    assert user_url(f"{PUBLIC}/", "a/b?c#d e") == f"{PUBLIC}/dashboard/users/a%2Fb%3Fc%23d%20e"
    assert user_url(PUBLIC, "../../evil") == f"{PUBLIC}/dashboard/users/..%2F..%2Fevil"
    for text in HOSTILE:
        url = user_url(PUBLIC, text)
        assert url.startswith(f"{PUBLIC}/dashboard/users")
        assert url.isascii()
        assert len(url) <= MOST_LINK
        assert not set("<>|\"' \r\n") & set(url)
