import json
import subprocess
import sys
from importlib import metadata

import pytest

import loopwatch
import loopwatch.client

HEAVY = ("aiohttp", "asyncio", "click", "msgspec", "pydantic", "rich", "zstandard")


def modules_after(code: str) -> set[str]:
    """The modules that a fresh interpreter holds once it has run ``code``."""
    program = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("name", loopwatch.__all__)
def test_a_public_name_can_be_imported(name: str) -> None:
    found = getattr(loopwatch, name)
    assert found.__name__ == name
    assert found.__module__.startswith("loopwatch.")
    assert getattr(loopwatch, name) is found


def test_a_star_import_brings_just_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from loopwatch import *", names)  # noqa: S102  a function may not hold one
    assert names.keys() - {"__builtins__"} == {*loopwatch.__all__}


def test_the_public_names_are_sorted_and_documented() -> None:
    assert loopwatch.__all__ == sorted(loopwatch.__all__)
    assert not [name for name in loopwatch.__all__ if not getattr(loopwatch, name).__doc__]


def test_dir_lists_the_public_names_once_each_before_and_after_their_import() -> None:
    program = "import loopwatch; print(dir(loopwatch)); loopwatch.LoopDetector; print(dir(loopwatch))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        names = json.loads(line.replace("'", '"'))
        assert {*loopwatch.__all__} <= {*names}
        assert len(names) == len({*names})


@pytest.mark.parametrize("name", loopwatch.client.__all__)
def test_a_name_of_the_client_can_be_imported(name: str) -> None:
    assert getattr(loopwatch.client, name).__doc__
    assert name in dir(loopwatch.client)
    assert loopwatch.client.__all__ == sorted(loopwatch.client.__all__)


def test_an_unknown_name_of_the_client_is_an_attribute_error() -> None:
    assert not hasattr(loopwatch.client, "Client")


def test_the_client_s_items_come_without_its_transport() -> None:
    modules = modules_after("from loopwatch.client import Delta")
    assert "loopwatch.client.items" in modules
    assert not modules & {"aiohttp", "loopwatch.client.model"}


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'loopwatch' has no attribute 'LoopDetektor'"):
        getattr(loopwatch, "LoopDetektor")  # noqa: B009  what mypy would refuse
    assert not hasattr(loopwatch, "nothing")


def test_an_unknown_name_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="LoopDetektor"):
        exec("from loopwatch import LoopDetektor")  # noqa: S102  what mypy would refuse


def test_the_version_is_the_distribution_s() -> None:
    assert loopwatch.__version__ == metadata.version("loopwatch")


def test_importing_the_package_imports_nothing_heavy() -> None:
    modules = modules_after("import loopwatch")
    assert "loopwatch" in modules
    assert not modules & {*HEAVY}
    assert not [name for name in modules if name.startswith("loopwatch.")]


def test_the_detector_comes_without_anything_heavy() -> None:
    modules = modules_after("from loopwatch import LoopDetector; LoopDetector().push('text')")
    assert "loopwatch.detect.engine" in modules
    assert not modules & {*HEAVY}
