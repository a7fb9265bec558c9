"""``keys``, ``settings`` and ``db``: what a shell does to a server's database."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from loopwatch.cli import database as shared
from loopwatch.cli.database import missing
from tests.cli.program import Call, one_line, run

SLACK = '[{"type": "slack", "url": "https://hooks.slack.com/services/s3cr3t"}]'


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("LOOPWATCH_DB", "LOOPWATCH_ALLOW_PRIVATE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def created(call: Call, *args: str) -> dict[str, str]:
    done = call("keys", "create", *args, "--json")
    assert (done.code, done.err) == (0, "")
    key: dict[str, str] = json.loads(done.out)
    assert list(key) == ["project", "key"]
    return key


def settings(call: Call, *args: str) -> dict[str, object]:
    done = call("settings", "get", *args)
    assert done.code == 0, done.err
    found: dict[str, object] = json.loads(done.out)
    return found


def test_a_key_is_made_listed_replaced_and_revoked(call: Call, tmp_path: Path) -> None:
    first = created(call, "acme")
    assert first["key"].startswith("wk_")
    assert (tmp_path / "data" / "loopwatch" / "loopwatch.db").exists()
    admin = created(call, "acme", "--admin")
    other = created(call, "other")
    assert admin["project"] == first["project"] != other["project"]
    listed = [json.loads(line) for line in call("keys", "list", "--json").out.splitlines()]
    assert [(one["name"], one["admin"], one["state"]) for one in listed] == [
        *(("acme", False, "active"), ("acme", True, "active")),
        ("other", False, "active"),
    ]
    assert not any(first["key"] in json.dumps(one) for one in listed)
    assert len(call("keys", "list", "--project", "acme").out.splitlines()) == 2
    rotated = call("keys", "rotate", listed[0]["id"], "--overlap", "1")
    assert rotated.out.startswith("project  prj_")
    assert "shown this once" in rotated.err
    done = call("keys", "revoke", first["key"][:10])
    assert (done.code, done.out, done.err) == (0, "", "Revoked\n")
    states = [json.loads(line)["state"] for line in call("keys", "list", "--json").out.splitlines()]
    assert states.count("revoked") == 1


def test_the_database_is_the_option_s_else_the_environment_s(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPWATCH_DB", f"sqlite:///{tmp_path}/environment.db")
    created(call, "one")
    created(call, "two", "--db", f"sqlite:///{tmp_path}/option.db")
    assert sorted(path.name for path in tmp_path.glob("*.db")) == ["environment.db", "option.db"]


def test_settings_are_set_and_shown(call: Call, tmp_path: Path) -> None:
    created(call, "acme")
    assert settings(call)["tokenThreshold"] == 50_000
    done = call("settings", "set", "tokenThreshold=80000", f"channels={SLACK}")
    assert (done.code, done.out, done.err) == (0, "", "Set: channels, tokenThreshold (version 2)\n")
    assert settings(call)["tokenThreshold"] == 80_000
    assert "s3cr3t" not in json.dumps(settings(call))
    document = tmp_path / "settings.json"
    document.write_text(json.dumps(settings(call) | {"windowMinutes": 7}), encoding="utf-8")
    assert call("settings", "set", "--file", document, "tokenThreshold=null").code == 0
    assert (settings(call)["tokenThreshold"], settings(call)["windowMinutes"]) == (50_000, 7)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("tokenThreshold=0", "must be a whole number of at least 1"),
        ("tokenTreshold=5", "did you mean `tokenThreshold`?"),
        ("weeklyDigest=perhaps", "must be true or false"),
        ("tokenThreshold", "is no KEY=VALUE"),
        ('prices={"m": {"input": -1, "output": 1}}', "prices.m.input"),
        ('channels=[{"type": "slack", "url": "http://127.0.0.1/x"}]', "https"),
    ],
)
def test_what_cannot_be_set_is_one_line(call: Call, change: str, reason: str) -> None:
    created(call, "acme")
    done = call("settings", "set", change)
    assert (done.code, done.out) == (2, "")
    assert reason in one_line(done.err)


@pytest.mark.parametrize(
    "change",
    [
        *(
            "channels={}",
            'channels=["{}"]',
            'channels=[{"type": "{}"}]',
            "tokenThreshold={}",
            "{}=1",
            "{}",
            "url={}",
        ),
        *('channels=[{"type": "slack", "id": "{}", "url": "https://a.example/"}]', 'channels=[{"{}": 1}]'),
        *('channels=[{"type": "slack", "{}": "slack"}]', 'channels=[{"type": "email", "to": ["{}"]}]'),
        *(
            'channels=[{"type": "email", "to": "{}"}]',
            'channels=[{"type": "webhook", "url": 1, "secret": "{} "}]',
        ),
        *('channels=[{"id": "{}"}, {"id": "{}"}]', 'channels=[{"type": "pagerduty", "routingKey": "{}"}]'),
        *('plans={"{}": -1}', 'caps={"{}": {"monthlyUsd": -1}}', 'caps={"a": {"action": "{}"}}'),
        *('prices={"{}": {}}', 'prices={"m": "{}"}', 'prices={"m": {"{}": 1}}', "weeklyDigest={}"),
    ],
)
@pytest.mark.parametrize(
    "secret",
    [
        *(
            "https://hooks.slack.com/services/s3cr3t",
            "hooks.slack.com/services/s3cr3t",
            "HTTPS://u:s3cr3t@a.example",
        ),
        "wk_s3cr3t_tuwlK91Okh7H6s9JaP7Fe0",
    ],
)
def test_a_secret_in_the_wrong_place_is_not_repeated(call: Call, change: str, secret: str) -> None:
    created(call, "acme")
    done = call("settings", "set", change.replace("{}", secret))
    assert (done.code, done.out) == (2, "")
    assert "s3cr3t" not in one_line(done.err)


def test_a_private_address_is_the_operator_s_to_allow(call: Call) -> None:
    created(call, "acme")
    channel = 'channels=[{"type": "slack", "url": "http://127.0.0.1:9/x"}]'
    assert call("settings", "set", channel, "--allow-private").code == 0
    assert len(settings(call)["channels"]) == 1  # type: ignore[arg-type]
    assert call("settings", "set", "tokenThreshold=7").code == 0  # what was allowed is not judged anew
    assert call("settings", "set", "channels=" + json.dumps(settings(call)["channels"])).code == 0
    assert call("settings", "set", channel.replace("/x", "/y")).code == 2
    example = call(
        "settings", "set", 'channels=[{"type": "slack", "url": "https://hooks.slack.com/services/…"}]'
    )
    assert (example.code, "write the whole URL" in one_line(example.err)) == (2, True)


def test_the_project_is_named_where_there_are_several(call: Call, tmp_path: Path) -> None:
    assert "keys create" in one_line(call("settings", "get").err)
    key = created(call, "one")
    created(call, "two")
    assert "name one by --project" in one_line(call("settings", "get").err)
    for name in ("one", key["project"]):
        assert settings(call, "--project", name)
    assert "there is no project 'three'" in one_line(call("settings", "get", "--project", "three").err)
    empty = tmp_path / "empty.json"
    for text in ("[]", "{"):
        empty.write_text(text, encoding="utf-8")
        assert call("settings", "set", "--project", "one", "--file", empty).code == 2
    assert "nothing to set" in one_line(call("settings", "set", "--project", "one").err)
    for args in (("revoke", "key_none"), ("rotate", "key_none")):
        assert "no such key" in one_line(call("keys", *args).err)
    assert call("keys", "create", " ").code == 2


def test_a_database_is_upgraded_and_copied(call: Call, tmp_path: Path) -> None:
    done = call("db", "upgrade")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("The database was brought up to date: version ")
    assert call("db", "upgrade").err.startswith("The database is up to date: version ")
    created(call, "acme")
    copy = tmp_path / "copy.db"
    assert call("db", "backup", copy).err == f"Copied to {copy}\n"
    with closing(sqlite3.connect(copy)) as read:
        assert read.execute("SELECT name FROM projects").fetchall() == [("acme",)]
    assert "exists" in one_line(call("db", "backup", copy).err)


def test_a_missing_extra_is_one_line(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: str | None) -> None:
        raise ModuleNotFoundError("No module named 'sqlalchemy.ext'", name="sqlalchemy.ext")

    monkeypatch.setattr(shared, "address", absent)
    done = call("keys", "list")
    assert (done.code, done.out) == (1, "")
    assert one_line(done.err) == "loopwatch: sqlalchemy is not installed: pip install 'loopwatch[server]'"
    assert "loopwatch[postgres]" in str(missing(ModuleNotFoundError(name="asyncpg")))


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31mred", "a\x00b", "a\u200bb", "x" * 201])
def test_a_project_s_name_can_be_printed(call: Call, name: str) -> None:
    done = call("keys", "create", name)
    assert (done.code, done.out) == (2, "")
    assert "can be printed" in one_line(done.err)
    assert call("keys", "list").out == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full, a full disk, is Linux's")
def test_a_key_that_could_not_be_shown_is_revoked(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONASYNCIODEBUG", "")  # it reports slow steps on standard error
    created(call, "acme")
    (key,) = [json.loads(line)["id"] for line in call("keys", "list", "--json").out.splitlines()]
    for args in (("create", "acme"), ("create", "acme", "--json"), ("rotate", key, "--overlap", "0")):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = run("keys", *args, stdout=full)
        assert done.returncode == 1
        assert "No space left on device" in one_line(done.stderr)
        assert "was revoked" in done.stderr
    states = [json.loads(line)["state"] for line in call("keys", "list", "--json").out.splitlines()]
    assert states == ["active", "revoked", "revoked", "revoked"]
