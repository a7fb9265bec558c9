"""Which implementation runs: what is there, what the environment asks for, and what it says where it cannot be."""

import subprocess
import sys
from types import ModuleType

import pytest

from loopwatch.detect import engine
from loopwatch.detect.engine import RULES, choose, find_twin
from loopwatch.errors import SettingsError
from tests.detect.conftest import MISSING

ABSENT = "loopwatch-native is not installed: pip install loopwatch-native"


def use_twin(monkeypatch: pytest.MonkeyPatch, twin: ModuleType | None) -> None:
    monkeypatch.setitem(sys.modules, "loopwatch_native", twin)


def twin_of(revision: int) -> ModuleType:
    twin = ModuleType("loopwatch_native")
    twin.RULES = revision  # type: ignore[attr-defined]
    return twin


def test_the_twin_runs_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    use_twin(monkeypatch, twin_of(RULES))
    assert choose(None).engine == choose("").engine == choose("native").engine == "native"
    assert choose(None).reason == "LOOPWATCH_ENGINE=python leaves it aside"


def test_without_it_the_package_runs_its_own_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    use_twin(monkeypatch, None)
    assert choose(None) == ("python", ABSENT)


def test_the_package_s_own_rules_run_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    use_twin(monkeypatch, twin_of(RULES))
    assert choose("python") == ("python", "LOOPWATCH_ENGINE asks for it")


def test_a_twin_of_other_rules_is_left_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    use_twin(monkeypatch, twin_of(RULES + 1))
    assert choose(None).engine == "python"
    assert "of another version" in choose(None).reason
    with pytest.raises(SettingsError, match=r"LOOPWATCH_ENGINE is 'native', but .* of another version"):
        choose("native")


def test_a_twin_that_cannot_be_loaded_is_left_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> ModuleType:
        raise ImportError(f"{name}.so: invalid ELF header")

    monkeypatch.setattr(engine, "import_module", fail)
    assert choose(None) == (
        "python",
        "loopwatch-native cannot be loaded: loopwatch_native.so: invalid ELF header",
    )
    with pytest.raises(ImportError, match="cannot be loaded"):
        find_twin()


def test_asking_for_what_is_absent_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    use_twin(monkeypatch, None)
    with pytest.raises(SettingsError, match=f"LOOPWATCH_ENGINE is 'native', but {ABSENT}"):
        choose("native")


def test_another_name_is_an_error() -> None:
    with pytest.raises(SettingsError, match="LOOPWATCH_ENGINE is 'rust': it may be python or native"):
        choose("rust")


@pytest.mark.parametrize("wanted", ["python", "native"])
def test_a_program_runs_the_engine_that_its_environment_names(
    wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if wanted == "native":
        pytest.importorskip("loopwatch_native", reason=MISSING)
    monkeypatch.setenv("LOOPWATCH_ENGINE", wanted)
    program = """
from loopwatch import LoopDetector, watch
from loopwatch.detect.engine import ENGINE, judge_all
from loopwatch.detect.settings import LoopDetection
detector = LoopDetector()
trip = detector.push("void 0; " * 2_000)
print(ENGINE, LoopDetector.__name__, trip.rule, trip is detector.trip, type(watch([]).detector) is LoopDetector)
print(judge_all(["one two"], LoopDetection(), explain=False, threads=1)[0].words)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"{wanted} LoopDetector cycle True True\n2\n"
