"""The systemd unit and the Dockerfile name commands, options, paths, extras and variables that exist."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest

from loopwatch.cli.main import cli
from loopwatch.cli.serve import PORT
from loopwatch.hosting.listening import GRACE
from loopwatch.server.app import ROUTES

ROOT = Path(__file__).parent.parent
UNIT = ROOT / "deploy/loopwatch.service"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
SOURCES = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "src/loopwatch").rglob("*.py"))
)


def is_command(words: list[str]) -> None:
    """Fail unless ``loopwatch`` has this command and these options; nothing is run."""
    group: click.Command = cli
    with click.Context(cli) as context:
        while isinstance(group, click.Group):
            assert words, "a group is no command"
            found = group.get_command(context, words[0])
            assert found is not None, words[0]
            group, words = found, words[1:]
        group.make_context("loopwatch", words)


def written(text: str) -> list[str]:
    """Every loopwatch command in a text, from the command's name on."""
    return re.findall(
        r"(?:/opt/loopwatch/bin/|\s)loopwatch ((?:serve|keys|db|settings|doctor)\b[^\n`]*)", text
    )


def unit() -> dict[str, list[str]]:
    """The directives of the unit; some are there more than once."""
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text(encoding="utf-8").splitlines():
        if line and line[0] not in "#[":
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def dockerfile() -> list[tuple[str, str]]:
    """Each instruction with its arguments."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines if line and line[0] != "#"]


def values(instruction: str) -> list[str]:
    return [arguments for name, arguments in dockerfile() if name == instruction]


def test_every_command_that_is_written_exists() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (UNIT, ROOT / "Dockerfile")]
    commands = written("\n".join(texts))
    assert len(commands) >= 2
    for command in commands:
        is_command(shlex.split(command))
    with pytest.raises(click.UsageError):
        is_command(["serve", "--prot", "1"])


def test_every_variable_that_is_named_is_read_somewhere() -> None:
    for path in (UNIT, ROOT / "Dockerfile"):
        for name in set(re.findall(r"LOOPWATCH_[A-Z_]+", path.read_text(encoding="utf-8"))):
            assert f'"{name}"' in SOURCES, name


def test_every_extra_that_is_installed_exists() -> None:
    for path in (UNIT, ROOT / "Dockerfile"):
        for names in re.findall(r"pip install [^\n]*?\[([a-z,]+)\]", path.read_text(encoding="utf-8")):
            assert set(names.split(",")) <= set(EXTRAS)


def test_the_unit_keeps_its_data_where_it_may_write() -> None:
    directives = unit()
    home = dict(one.split("=", 1) for one in directives["Environment"])["XDG_DATA_HOME"]
    assert (home, directives["StateDirectory"]) == ("/var/lib", ["loopwatch"])  # the data folder's own name
    assert directives["ProtectSystem"] == ["strict"]
    assert int(directives["TimeoutStopSec"][0]) > GRACE


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="apt-get install systemd brings it")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    there = tmp_path / "loopwatch.service"
    text = UNIT.read_text(encoding="utf-8").replace("/opt/loopwatch/bin/loopwatch", sys.executable)
    there.write_text(text, encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", there], capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "loopwatch" in line]) == (0, [])


def test_the_image_is_built_from_what_is_there_and_let_through() -> None:
    through = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sources = [arguments.split()[:-1] for arguments in values("COPY") if "--from" not in arguments]
    for name in [name for names in sources for name in names]:
        assert (ROOT / name).exists(), name
        assert f"!{name}" in through, name


def test_the_image_runs_as_somebody_and_where_its_data_is() -> None:
    (home,) = re.findall(r"--home-dir (\S+)", " ".join(values("RUN")))
    assert values("USER") == ["loopwatch"]
    assert values("VOLUME") == [home]
    assert f"LOOPWATCH_DB=sqlite:///{home}/loopwatch.db" in values("ENV")[0]


def test_the_image_serves_what_it_exposes_and_looks_after() -> None:
    program, arguments = (json.loads(values(name)[0]) for name in ("ENTRYPOINT", "CMD"))
    assert program == ["loopwatch"]
    is_command(arguments)
    assert arguments[:3] == ["serve", "--host", "0.0.0.0"]  # noqa: S104  a container's own
    assert values("EXPOSE") == [str(PORT)]
    (health,) = re.findall(r"https?://[^'\"]+", values("HEALTHCHECK")[0])
    parts = urlsplit(health)
    assert parts.port == PORT
    assert parts.path in {route.path for route in ROUTES}
    compile(json.loads(values("HEALTHCHECK")[0].partition("CMD ")[2])[2], "HEALTHCHECK", "exec")
