"""Which implementation runs."""

from loopwatch.detect.engine import ENGINE


def test_the_package_runs_its_own_rules() -> None:
    assert ENGINE == "python"
