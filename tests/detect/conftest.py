"""The detector's tests run on both engines: in a module with ``LoopDetector``, on each in turn."""

from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.detect import texts

HOMES = {"python": "loopwatch.detect.detector", "native": "loopwatch.detect.native"}
MISSING = "loopwatch-native is not built: install Rust (cargo), then `make setup`"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if hasattr(metafunc.module, "LoopDetector") or hasattr(metafunc.module, "read"):
        metafunc.parametrize("engine", HOMES, indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """The engine on which a module's tests run; ``python`` where they are not about the detector."""
    name: str = getattr(request, "param", "python")
    if name == "native":
        pytest.importorskip("loopwatch_native", reason=MISSING)
    chosen = import_module(HOMES[name]).LoopDetector
    with pytest.MonkeyPatch.context() as patch:
        for module in (request.module, texts):
            if hasattr(module, "LoopDetector"):
                patch.setattr(module, "LoopDetector", chosen)
        yield name
