import json
import time

import pytest

from loopwatch.client.quoting import HIDDEN, SHOWN, UNREAD, Quoting

KEY = "sk-secret-0123456789-abcdefghij"


def quoting(prompt: str = "Say something.", /, **fields: object) -> Quoting:
    request = {"model": "gpt-4o-mini-2024-07-18", "messages": [{"role": "user", "content": prompt}], **fields}
    return Quoting(json.dumps(request).encode(), [KEY])


def test_a_message_is_quoted_in_one_line() -> None:
    assert quoting().quote(" too\n many\x1b[2J\ttokens ") == ": too many [2J tokens"
    assert quoting().quote("  ") == ""


@pytest.mark.parametrize(
    "message",
    ["x" * (SHOWN - 10) + KEY, f"bad key {KEY}", f"bad key {KEY[:14]}****", KEY[:15] + "\n" + KEY[15:]],
)
def test_a_message_with_the_key_in_it_is_not_shown(message: str) -> None:
    assert quoting().quote(message) == ": [a message with the API key in it]"


def test_a_message_is_cut() -> None:
    assert quoting().quote("x" * 10_000) == ": " + "x" * SHOWN


def test_the_model_may_be_named() -> None:
    message = "The model gpt-4o-mini-2024-07-18 does not exist"
    assert quoting().quote(message) == f": {message}"


@pytest.mark.parametrize(
    "prompt",
    [
        "The launch code of the silo is 00000000.",
        'He said "yes" and "no" and "maybe" and "never" and "always".',
        "C:\\Users\\me\\secrets\\passwords\\all\\of\\them.txt",
        "Zeile eins\nZeile zwei\nZeile drei, mit Umlauten: äöü",
        "hunter2-hunter2",
    ],
)
@pytest.mark.parametrize("where", ["messages", "prompt", "input", "system"])
def test_what_the_request_said_is_hidden(prompt: str, where: str) -> None:
    fields = {} if where == "messages" else {where: [{"type": "text", "text": prompt}]}
    quoted = quoting(prompt if where == "messages" else "Say something.", **fields)
    assert quoted.quote(f"invalid message: {prompt} (400)") == f": {HIDDEN}"
    shown = prompt[: len(prompt) - 1] if len(prompt) > 25 else prompt
    assert quoted.quote(f"near {shown}") == f": {HIDDEN}"


def test_a_request_that_is_no_json_hides_nothing() -> None:
    assert Quoting(b"", []).quote("no") == ": no"


def test_lines_of_the_request_in_another_programs_quotes_are_hidden() -> None:
    prompt = "first my name\nthen my street\nthen my town"
    assert quoting(prompt).quote(f"cannot parse {prompt!r}") == f": {HIDDEN}"


def test_what_is_too_long_to_be_compared_with_is_not_quoted() -> None:
    assert quoting("word " * 1_000_000).quote("too long") == f": {UNREAD}"


def test_a_long_request_is_searched_quickly() -> None:
    request = quoting("word " * 800_000)
    began = time.process_time()
    assert request.quote("x" * 10_000) == ": " + "x" * SHOWN
    assert time.process_time() - began < 5
