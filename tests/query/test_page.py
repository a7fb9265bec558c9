"""The language's page is made of the language."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from loopwatch.query.compile import plan
from tests.query.documents import NOW

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="tool")
def the_tool() -> ModuleType:
    found = importlib.util.spec_from_file_location("query_page", ROOT / "tools" / "query_page.py")
    assert found is not None
    assert found.loader is not None
    tool = importlib.util.module_from_spec(found)
    found.loader.exec_module(tool)
    return tool


def test_the_page_is_up_to_date(tool: ModuleType) -> None:
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "python tools/query_page.py"


def test_the_forms_that_it_shows_are_understood(tool: ModuleType) -> None:
    for stage in tool.STAGES.values():
        shown, _ = tool.form(stage)
        assert plan(f"| {shown.strip('`')}", NOW).diagnostics == ()
    for function in tool.AGGREGATES.values():
        assert plan(f"| stats {function.example}", NOW).diagnostics == ()
