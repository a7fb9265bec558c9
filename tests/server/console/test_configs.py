"""The pages of configurations, as a browser without script sees them."""

import copy
import io
import json
import logging
import re
from html import unescape
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from loopwatch.config.loading import load_config
from loopwatch.server.configs.samples import samples
from loopwatch.server.configs.trial import MOST_CHARS
from loopwatch.store.configurations import Configuration
from tests.config.documents import EVERYTHING, SEED_BLOCK, sound
from tests.server.console.guest import Guest, Seen
from tests.server.house import House

HOSTILE = '"><script>alert(1)</script>'
KNOB = "agents.0.loopDetection.windowWords"


def fields(html: str) -> dict[str, str]:
    """What a browser would send of the editor's form, were Save pressed."""
    form = html[html.index('<form id="editor"') : html.index('<div class="side">')]
    sent: dict[str, str] = {}
    for tag in re.findall(r"<input [^>]*>", form):
        of = {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', tag)}
        checkable = of.get("type") in ("checkbox", "radio")
        if not checkable or re.search(r"\schecked", tag):
            sent[of["name"]] = f"{sent[of['name']]} {of['value']}" if of["name"] in sent else of["value"]
    for name, text in re.findall(
        r'<textarea id="[^"]*" name="([^"]*)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL
    ):
        sent[name] = unescape(text)
    for name, options in re.findall(r'<select id="[^"]*" name="([^"]*)".*?>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        sent[name] = unescape(chosen[1]) if chosen else ""
    return sent


async def kept(house: House) -> list[Configuration]:
    return await house.server.store.configurations.list(house.project)


async def put(house: House, document: Any, name: str = "Coder") -> str:
    text = json.dumps(document)
    return (await house.server.store.configurations.create(house.project, name, text, "ana")).id


async def begun(owner: Guest, **changes: str) -> Seen:
    """A new configuration, saved with some of its fields changed."""
    seen = await owner.open("/configs/new")
    return await owner.send("/configs/new", fields(seen.html) | {"name": "Coder"} | changes)


# Saving.


async def test_a_new_configuration_is_saved_as_it_begins_and_runs(house: House, owner: Guest) -> None:
    seen = await begun(owner)
    (one,) = await kept(house)
    assert seen.status == 200
    assert seen.url.startswith(f"/configs/{one.id}")
    assert "Saved." in seen.text
    document = load_config(one.document).declared
    assert "loopDetection" not in document["agents"][0]
    assert (one.version, one.updated_by) == (1, "ana@example.com")
    assert "Version 1" in seen.text


async def test_a_round_trip_through_the_pages_changes_nothing(house: House, owner: Guest) -> None:
    document = copy.deepcopy(EVERYTHING)
    document["agents"][0]["loopDetection"]["rules"].sort()  # boxes have one order
    which = await put(house, document)
    seen = await owner.open(f"/configs/{which}")
    again = await owner.send(f"/configs/{which}", fields(seen.html))
    assert again.status == 200, again.text
    (one,) = await kept(house)
    assert json.loads(one.document) == document
    assert one.version == 2


async def test_what_is_refused_is_said_on_top_and_beside_its_field_and_not_kept(
    house: House, owner: Guest
) -> None:
    seen = await owner.open("/configs/new")
    armed = await owner.send(
        "/configs/new/edit", fields(seen.html) | {"agents.0.loopDetection.enabled": "on", "do": "arm.0"}
    )
    assert [fields(armed.html)[f"agents.0.loopDetection.{knob}"] for knob in list(SEED_BLOCK)[1:]] == [
        str(figure) for figure in list(SEED_BLOCK.values())[1:]
    ]
    changed = fields(armed.html) | {"name": " ", KNOB: "12.5", "agents.0.loopDetection.minOffenders": ""}
    refused = await owner.send("/configs/new", changed)
    assert refused.status == 422
    assert "Not saved. 3 things have to change first" in refused.text
    assert f'<a href="#{KNOB}">agent `Implementer`: Window (words) = 12.5: must be' in refused.html
    assert f'id="{KNOB}-complaint">must be a whole number of at least 1</p>' in refused.html
    assert 'id="agents.0.loopDetection.minOffenders-complaint">is missing' in refused.html
    assert 'id="name-complaint">a configuration needs a name' in refused.html
    assert fields(refused.html)[KNOB] == "12.5", "what was typed is still there"
    assert await kept(house) == []


async def test_nothing_broken_is_said_before_somebody_tries_to_save(owner: Guest) -> None:
    seen = await owner.open("/configs/new")
    more = await owner.send("/configs/new/edit", fields(seen.html) | {"do": "add-agent"})
    assert "agents.1.name" in fields(more.html)
    assert "complaint" not in more.html
    assert "One thing has to change before this can be saved" in more.text


async def test_buttons_change_the_form_and_keep_nothing(house: House, owner: Guest) -> None:
    seen = await owner.open("/configs/new")
    form = fields(seen.html)
    for asked in ("add-agent", "add-slot"):
        form = fields((await owner.send("/configs/new/edit", form | {"do": asked})).html)
    assert {"agents.1.id", "slots.1.name"} <= form.keys()
    for asked in (
        "remove-agent.0",
        "remove-slot.1",
        "remove-agent.77",
        "remove-agent.²",
        "arm.9",
        "nonsense",
    ):
        form = fields((await owner.send("/configs/new/edit", form | {"do": asked})).html)
    assert "agents.1.id" not in form
    assert "slots.1.name" not in form
    assert form["agents.0.id"] == "agent-1"
    assert await kept(house) == []


async def test_a_warning_is_said_and_saved(house: House, owner: Guest) -> None:
    which = await put(house, sound())
    seen = await owner.open(f"/configs/{which}")
    loop = {f"agents.0.loopDetection.{key}": str(value) for key, value in SEED_BLOCK.items()}
    loop |= {"agents.0.loopDetection.enabled": "on", "agents.0.loopDetection.minOffenders": "300"}
    saved = await owner.send(f"/configs/{which}", fields(seen.html) | loop)
    assert saved.status == 200
    assert "agent `Implementer`: Offenders to saturate = 300: a window of 256 words" in saved.text
    assert (await kept(house))[0].version == 2


async def test_an_armed_detector_that_lacks_knobs_opens_with_them_filled_in(
    house: House, owner: Guest
) -> None:
    document = sound()
    document["agents"][0]["loopDetection"] = {"enabled": True, "windowWords": 512, "minSaturatedRun": 0}
    which = await put(house, document)
    form = fields((await owner.open(f"/configs/{which}")).html)
    assert [form[f"agents.0.loopDetection.{knob}"] for knob in list(SEED_BLOCK)[1:]] == [
        *("512", "32", "2", "0", "250000")
    ]


async def test_the_second_of_two_tabs_is_refused_and_loses_nothing(house: House, owner: Guest) -> None:
    which = await put(house, sound())
    first = fields((await owner.open(f"/configs/{which}")).html)
    second = first | {"name": "Second"}
    assert (await owner.send(f"/configs/{which}", first | {"name": "First"})).status == 200
    refused = await owner.send(f"/configs/{which}", second)
    assert refused.status == 409
    assert "Not saved. ana@example.com saved version 2" in refused.text
    assert fields(refused.html)["name"] == "Second"
    assert (await kept(house))[0].name == "First"
    copied = await owner.send(f"/configs/{which}", fields(refused.html) | {"do": "copy"})
    assert copied.status == 200
    assert [one.name for one in await kept(house)] == ["First", "Second"]


async def test_what_was_deleted_meanwhile_can_be_saved_anew(house: House, owner: Guest) -> None:
    which = await put(house, sound())
    form = fields((await owner.open(f"/configs/{which}")).html)
    await house.server.store.configurations.delete(house.project, which, "ben")
    refused = await owner.send(f"/configs/{which}", form | {"name": "Mine"})
    assert refused.status == 409
    assert "Somebody deleted this configuration while you edited it" in refused.text
    assert 'action="/configs/new' in refused.html
    assert (await owner.send("/configs/new", fields(refused.html))).status == 200
    assert [one.name for one in await kept(house)] == ["Mine"]


async def test_a_key_typed_for_a_variables_name_is_refused_and_not_shown_back(
    house: House, owner: Guest
) -> None:
    key = "sk-proj-4f9d8a7b6c5e4d3c2b1a0f9e"
    refused = await begun(owner, **{"slots.0.apiKeyEnv": key})
    assert refused.status == 422
    assert "looks like the key itself" in refused.text
    assert key not in refused.html
    document = sound(slots={"primary": {"model": "m", "apiKeyEnv": key}})
    brought = await owner.send("/configs/import", {"document": json.dumps(document)})
    assert "looks like the key itself" in brought.text
    assert key not in brought.html
    assert await kept(house) == []


# Who may, and where from.


async def test_a_viewer_reads_exports_and_tries_and_saves_nothing(house: House, viewer: Guest) -> None:
    document = sound()
    document["agents"][0]["loopDetection"] = SEED_BLOCK
    which = await put(house, document)
    seen = await viewer.open(f"/configs/{which}")
    assert seen.status == 200
    assert "Only owners may change a configuration" in seen.text
    assert '<fieldset class="everything" disabled>' in seen.html
    tried = await viewer.send(f"/configs/{which}/edit", {"do": "sample.void-0"})
    assert "by word saturation, 12,261 characters in" in tried.text
    assert (await viewer.open(f"/configs/{which}/export")).status == 200
    for path in (
        f"/configs/{which}",
        f"/configs/{which}/delete",
        f"/configs/{which}/duplicate",
        "/configs/new",
    ):
        assert (await viewer.send(path, fields(seen.html))).status == 403
    assert (await viewer.send("/configs/import", {"document": json.dumps(sound())})).status == 403
    assert [one.version for one in await kept(house)] == [1]


async def test_a_stranger_is_asked_to_sign_in(house: House, stranger: Guest) -> None:
    which = await put(house, sound())
    for path in ("/configs", "/configs.csv", "/configs/new", f"/configs/{which}", f"/configs/{which}/export"):
        seen = await stranger.open(path)
        assert seen.url.startswith("/sign-in"), path
        assert "gpt-5.4-mini" not in seen.html


async def test_a_change_without_its_token_is_refused(house: House, owner: Guest) -> None:
    which = await put(house, sound())
    form = fields((await owner.open(f"/configs/{which}")).html)
    owner.csrf = ""
    for path in (which, f"{which}/edit", f"{which}/delete", f"{which}/duplicate", "import", "new"):
        assert (await owner.send(f"/configs/{path}", form | {"csrf": "forged"})).status == 403
    assert [one.version for one in await kept(house)] == [1]


async def test_another_projects_configuration_is_not_there(house: House, owner: Guest) -> None:
    which = await put(house, sound())
    other = (await house.server.store.projects.create("Other")).id
    there = f"project={other}"
    for path in (which, f"{which}/export", f"{which}/delete", f"{which}/edit"):
        assert (await owner.open(f"/configs/{path}?{there}")).status == 404
    form = fields((await owner.open(f"/configs/{which}?project={house.project}")).html)
    assert (await owner.send(f"/configs/{which}?{there}", form)).status == 409
    for path in ("delete", "duplicate", "edit"):
        assert (await owner.send(f"/configs/{which}/{path}?{there}", form)).status == 404
    assert "No configuration yet" in (await owner.open(f"/configs?{there}")).text
    assert [one.version for one in await kept(house)] == [1]


async def test_hostile_names_are_text(house: House, owner: Guest) -> None:
    document = sound(slots={"primary": {"model": HOSTILE}, HOSTILE: {"model": "m"}}, preset=HOSTILE)
    document["agents"][0] |= {"name": HOSTILE, "customInstructions": "</textarea>" + HOSTILE, "id": "'\"<i>"}
    which = await put(house, document, HOSTILE)
    for path in ("/configs", f"/configs/{which}", f"/configs/{which}/delete"):
        seen = await owner.open(path)
        assert seen.status == 200
        assert HOSTILE in seen.text or "alert(1)" in unescape(seen.html)
        assert "<script>alert" not in seen.html
    form = fields((await owner.open(f"/configs/{which}")).html)
    assert form["agents.0.customInstructions"] == "</textarea>" + HOSTILE
    await owner.send(f"/configs/{which}", form)
    assert json.loads((await kept(house))[0].document) == document


# In and out.


async def test_the_export_of_an_import_with_comments_is_checked_by_the_shell(
    house: House, owner: Guest, tmp_path: Path
) -> None:
    text = (
        '// mine\n{"agents": [{"id": "a", "name": "Ä", "modelId": "m",},], /* so */ "limits": '
        + json.dumps(sound()["limits"])
    )
    await owner.open("/configs")
    form = aiohttp.FormData({"csrf": owner.csrf}, quote_fields=False)
    form.add_field("file", (text + "}").encode(), filename="my/coder <1>.json")
    async with owner.session.post(house.url + "/configs/import", data=form) as answer:
        assert answer.status == 200
        assert "Imported. Comments were read and are not kept." in await answer.text()
    (one,) = await kept(house)
    assert one.name == "coder <1>"
    exported = await owner.open(f"/configs/{one.id}/export")
    assert exported.headers["Content-Disposition"] == 'attachment; filename="coder-1.json"'
    file = tmp_path / "coder-1.json"
    file.write_text(exported.html, encoding="utf-8")
    assert load_config(file).root.name == "Ä"


async def test_a_document_that_a_launch_would_refuse_opens_in_the_editor_and_is_not_kept(
    house: House, owner: Guest
) -> None:
    document = sound()
    document["agents"][0] |= {"loopDetection": {"enabled": True, "windowWords": 0}, "temper": "calm"}
    await owner.open("/configs")
    seen = await owner.send("/configs/import", {"document": json.dumps(document, indent=1)})
    assert seen.status == 200
    assert "Nothing is saved yet" in seen.text
    assert "agent `Implementer`: loopDetection.minOffenders: is missing" in seen.text
    form = fields(seen.html)
    assert form[KNOB] == "0"
    assert form["agents.0.loopDetection.minOffenders"] == "2", "what lacked is filled in, to be looked at"
    assert json.loads(form["agents.0.more"]) == {"temper": "calm"}, (
        "an unknown key is kept, and refused there"
    )
    assert await kept(house) == []
    mended = await owner.send("/configs/new", form | {KNOB: "64", "agents.0.more": ""})
    assert mended.status == 200
    assert len(await kept(house)) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "choose a file, or paste a document"),
        ("{", "found the end of the document"),
        ('{"agents": {}}', "agents = {}: must be a list [ … ] (line 1)"),
        ("[1]", "must be an object { … }"),
    ],
)
async def test_what_is_no_document_is_not_imported_and_stays_to_be_mended(
    house: House, owner: Guest, text: str, reason: str
) -> None:
    await owner.open("/configs")
    seen = await owner.send("/configs/import", {"document": text})
    assert seen.status == 422
    assert reason in seen.text
    assert unescape(seen.html).count(text) >= 1
    assert await kept(house) == []


async def test_copies_and_the_end_of_one_are_noted(house: House, owner: Guest) -> None:
    which = await put(house, sound())
    await owner.open(f"/configs/{which}")
    copied = await owner.send(f"/configs/{which}/duplicate")
    assert "This is the copy" in copied.text
    assert [one.name for one in await kept(house)] == ["Coder", "Coder (copy)"]
    asked = await owner.open(f"/configs/{which}/delete")
    assert "Delete Coder?" in asked.text
    gone = await owner.send(f"/configs/{which}/delete")
    assert "The configuration was deleted." in gone.text
    changes = await house.server.store.configurations.changes(house.project)
    assert sorted((one.action, one.actor) for one in changes) == [
        ("created", "ana"),
        ("deleted", "ana@example.com"),
        ("duplicated", "ana@example.com"),
    ]
    assert (await owner.open(f"/configs/{which}")).status == 404


async def test_the_list_is_a_table_a_spreadsheet_and_a_document(house: House, owner: Guest) -> None:
    await put(house, EVERYTHING, "=cmd()")
    listed = await owner.open("/configs")
    assert "gpt-5.4-mini, gpt-5.4-nano" in listed.text
    assert json.loads((await owner.open("/configs.json")).html)[0] | {"updated": ""} == {
        "name": "=cmd()",
        "agents": 2,
        "armed": 1,
        "models": "gpt-5.4-mini, gpt-5.4-nano",
        "updated": "",
        "by": "ana",
    }
    assert (await owner.open("/configs.csv")).html.splitlines()[1].startswith("'=cmd(),2,1,")


# Trying a reply.


async def tried(owner: Guest, which: str = "new", **more: Any) -> Seen:
    form = fields((await owner.open(f"/configs/{which}")).html)
    return await owner.send(f"/configs/{which}/edit", form | {"do": "try"} | more)


async def test_a_pasted_reply_is_marked_from_its_onset_by_what_stands_in_the_form(owner: Guest) -> None:
    knobs = {f"agents.0.loopDetection.{key}": str(value) for key, value in SEED_BLOCK.items()}
    armed = knobs | {"agents.0.loopDetection.enabled": "on", "try.text": "Here:\n" + "void 0;\n" * 2_000}
    seen = await tried(owner, **armed)
    assert seen.status == 200
    assert "by word saturation, 12,267 characters in" in seen.text
    assert "<mark>" in seen.html
    sooner = await tried(owner, **armed | {"agents.0.loopDetection.minSaturatedRun": "1000"})
    assert "by word saturation, 4,267 characters in" in sooner.text


async def test_a_detector_that_is_off_says_so(owner: Guest) -> None:
    seen = await tried(owner, **{"try.text": "ha " * 9_000, "try.agent": "7", "try.channel": "smoke"})
    assert "Implementer’s loop detection is off" in seen.text


async def test_hostile_text_is_shown_as_text(owner: Guest) -> None:
    seen = await tried(owner, **{"try.text": f"</textarea>{HOSTILE}"})
    assert "<script>alert" not in seen.html
    assert seen.text.count("<script>alert(1)</script>") == 2, "in the field and in the answer"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" ", "there is no text yet"),
        ("x" * (MOST_CHARS + 1), "the reply has 500,001 characters and at most 500,000 are tried"),
    ],
)
async def test_nothing_and_too_much_are_said_where_the_answer_would_stand(
    owner: Guest, text: str, reason: str
) -> None:
    seen = await tried(owner, **{"try.text": text})
    assert seen.status == 200
    assert reason in seen.text


async def test_an_upload_is_read_and_one_far_too_large_is_refused(house: House, owner: Guest) -> None:
    form = fields((await owner.open("/configs/new")).html) | {"do": "try"}
    for content, status, said in (
        (b"\xef\xbb\xbf" + samples()["L-sentence-01"].text.encode(), 200, "reply.txt"),
        (b"\xff\xfe broken", 200, "reply.txt"),
        (b"x" * (5 << 20), 413, "more than 4194304 bytes"),
    ):
        data = aiohttp.FormData(form | {"csrf": owner.csrf})
        data.add_field("try.file", io.BytesIO(content), filename="reply.txt")
        async with owner.session.post(house.url + "/configs/new/edit", data=data) as answer:
            assert answer.status == status
            assert said in await answer.text()


async def test_nothing_of_a_tried_reply_is_kept_or_logged(
    owner: Guest, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    seen = await tried(owner, **{"try.text": "zebra-quartz " * 5_000})
    assert "zebra-quartz" in seen.text
    assert "zebra" not in seen.url
    assert "zebra" not in caplog.text
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]  # noqa: ASYNC240  a few
    assert written
    assert not any(b"zebra" in content for content in written)


async def test_what_is_refused_cannot_be_tried(owner: Guest) -> None:
    seen = await tried(owner, **{"agents.0.name": "", "try.text": "hello"})
    assert "what stands in the editor is refused as it is" in seen.text


async def test_a_form_of_nonsense_is_an_empty_draft_and_no_error_of_ours(owner: Guest) -> None:
    await owner.open("/configs/new")
    for version in ("0", "-1", "9" * 40, "²", "x"):
        seen = await owner.send("/configs/new", {"version": version, "name": "n", "agents.0.name": "\x00"})
        assert seen.status in (200, 422), version


# The demo.


async def test_in_the_demo_everything_works_and_nothing_is_kept(stranger: Guest) -> None:
    listed = await stranger.open("/demo/configs")
    for _ in range(5):  # on a busy machine its month of history may not be written within one visit
        if listed.status == 503:
            listed = await stranger.open("/demo/configs")
    assert "Research agent" in listed.text
    (which,) = re.findall(r'href="(/demo/configs/cfg_\w+)">Research agent', listed.html)
    seen = await stranger.open(which)
    tried = await stranger.send(f"{which}/edit", fields(seen.html) | {"do": "sample.L-short_phrase-01"})
    assert "by exact repetition" in tried.text
    refused = await stranger.send(which, fields(seen.html) | {KNOB: "-4"})
    assert refused.status == 422
    assert "agent `Researcher`: Window (words) = -4" in refused.text
    for path, form in (
        (which, fields(seen.html) | {"name": "Mine"}),
        (f"{which}/duplicate", {}),
        (f"{which}/delete", {}),
        ("/demo/configs/new", fields((await stranger.open("/demo/configs/new")).html) | {"name": "Mine"}),
    ):
        assert "nothing was kept" in (await stranger.send(path, form)).text, path
    brought = await stranger.send("/demo/configs/import", {"document": json.dumps(sound())})
    assert brought.status == 200
    again = await stranger.open("/demo/configs.json")
    assert [one["name"] for one in json.loads(again.html)] == ["Research agent", "Support chat"]
