import pytest

from tests.cli.program import Call


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls the command line in this process, 80 columns wide."""
    monkeypatch.setenv("COLUMNS", "80")
    return Call(capsys)
