import pytest

from loopwatch.velocity.tokens import weighed


@pytest.mark.parametrize(("weight", "tokens"), [(1.0, 1_900), (0.1, 1_090), (0.0, 1_000), (0.333, 1_299)])
def test_cached_reads_by_their_weight(weight: float, tokens: int) -> None:
    assert weighed(1_000, 900, weight) == tokens


def test_they_count_in_full_unless_a_project_says_otherwise() -> None:
    assert weighed(1_000, 900) == 1_900
