import json

import pytest

from loopwatch.alerts.channels.slack import MOST_SECTION, payload
from loopwatch.alerts.channels.webhook.pagerduty import event
from loopwatch.alerts.message import plain_text
from loopwatch.alerts.storm import MOST_NAMED, storm_message
from tests.alerts.samples import AT, HOSTILE, PUBLIC, alert, storm


def test_a_storm_names_the_worst_and_counts_the_others() -> None:
    text = plain_text(storm())
    assert text.splitlines()[0] == "⚠️  loopwatch: 25 more users crossed a limit within a minute"
    assert "2,249,700" in text  # tokens in all
    assert "$18.50" in text
    assert "usr_0:" in text
    assert "usr_9:" in text
    assert "usr_10" not in text
    assert "15 more are in the list of alerts." in text
    assert f"→ {PUBLIC}/dashboard" in text


def test_one_user_is_one_user() -> None:
    message = storm(1)
    assert "one more user crossed" in message.subject
    assert message.notes == ()


def test_rules_and_unknown_prices_are_told_apart() -> None:
    mixed = [
        alert(user_id="a", rule="cost", observed=9, threshold=1),
        alert(user_id="b", month_unpriced=2, month_cost_nano=0),
        alert(user_id="b", rule="margin"),
    ]
    message = storm_message(mixed, AT, PUBLIC)
    rows = dict(message.rows)
    assert rows["users"] == "2"
    assert rows["possible agent loop detected"] == "1"
    assert rows["a user is spending fast"] == "1"
    assert rows["cost so far"] == "$1.48 + 2 calls without a known price"
    assert message.data["rules"] == {"velocity": 1, "cost": 1, "margin": 1}
    assert [one["userId"] for one in message.data["worst"]] == ["a", "b", "b"]


@pytest.mark.parametrize("text", HOSTILE)
def test_names_of_others_stay_within_their_line_and_slack_s_limits(text: str) -> None:
    message = storm(25, user_id=text, model=text)
    assert len(message.sections[0].rows) == MOST_NAMED
    assert all("\n" not in cell for row in message.sections[0].rows for cell in row)
    shown = payload(message)
    assert all(len(block["text"]["text"]) <= MOST_SECTION for block in shown["blocks"] if "text" in block)
    assert "<!channel>" not in json.dumps(shown)


def test_pagerduty_has_one_incident_for_all_storms_of_a_project() -> None:
    first, second = storm(3), storm(4)
    assert first.incident == second.incident == "acme\0storm"
    assert first.id == second.id  # of the same worst alert: one and the same storm
    assert event(first, "acme\0storm")["payload"]["severity"] == "warning"
