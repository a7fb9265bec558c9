"""What a call is: which tool, with which arguments that matter, and what kind of act.

Agents' tools share names only in spirit, so the kind is told from the words of the tool's name and, for a
shell, of its command. As with outcomes, a wrong guess changes how much patience a repetition gets.
"""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import msgspec

from loopwatch.steps.volatile import condensed


def verbs(listed: str) -> frozenset[str]:
    """The words of a list in one string."""
    return frozenset(listed.split())


COSMETIC = verbs(
    "reason rationale explanation thought thoughts thinking justification intent purpose nonce "
    "request_id requestid trace_id correlation_id idempotency_key timestamp ts attempt attempts try "
    "retry retries attempt_no call_id tool_call_id cache_bust depth"
)
"""Arguments that say why or how often, not what: left out of the comparison where any other remains."""
NAMES = verbs("name title label description")
"""What a command may be called; left out where the command itself is there."""
COMMANDS = ("command", "cmd", "code", "script", "sql", "query", "expression", "input")
PATHS = ("path", "file_path", "filepath", "file", "filename", "target_file", "document", "doc", "plan")
CONTENTS = (
    "content",
    "contents",
    "new",
    "new_string",
    "new_str",
    "replacement",
    "replace",
    "text",
    "body",
    "value",
)
BEFORE = ("old", "old_string", "old_str", "search", "find")
SAYINGS = ("message", "content", "text", "body", "msg", "summary", "note")
RECIPIENTS = verbs("to agent recipient target assignee role agent_name target_agent to_agent")

_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*")
_TOKENS = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_NUMBERED = re.compile(r"(?:[\x1f/ ][\w-]*\d[\w-]*\.[a-z]\w{0,4}|/[\w-]*\d[\w-]*/?)(?:\x1e|$)")

MUTATING = verbs(
    "edit write create delete remove rename move apply patch insert append commit push set update put "
    "post install replace save upload deploy merge add mkdir touch cp mv rm sed make_dir format fix "
    "refactor repair draft"
)
ADVANCING = verbs(
    "scroll click tap press key keys swipe drag hover next previous forward back type play roll move "
    "guess spin draw step tick turn pass act action toss flip deal fire shoot jump walk go left right "
    "up down rotate undo redo continue zoom increase decrease raise lower louder quieter toggle"
)
"""Where the same call again is the point: each one moves something that the result need not show."""
ADDING = verbs("add append insert push enqueue emit draw note")
"""Where the same call again makes more of the same: a melody, a drawing, a form's lines."""
INSPECTING = verbs(
    "check scan probe test inspect audit verify validate lint head exists ping measure survey assert"
)
"""Where a failure may be what was to be found out, each time of another thing."""
LOOKING = verbs("screenshot snapshot observe look render capture state")
LOCATING = verbs("open goto navigate visit load reload read fetch cat reset restart start")
WAITING = verbs("wait sleep poll watch monitor tail await pause idle listen")
ASKING = verbs("status check ping progress health heartbeat depth state")
"""Polls, if they come slowly; else looks at something."""
HANDING = verbs(
    "send message mention transfer handoff hand delegate reply respond notify assign route escalate "
    "forward ask tell say chat speak talk"
)
PASSING = verbs("transfer handoff delegate reply escalate")
"""Those of them that need not name whom."""
SPAWNING = verbs("spawn delegate subagent launch fork dispatch agent task")
SEARCHING = verbs("search query find ask lookup google grep glob browse retrieve recall sql select")
READING = verbs("read search fetch web browse open view cat get load retrieve query lookup grep find recall")
REVIEWING = verbs(
    "review critique evaluate judge grade assess reflect feedback verify qa approve inspect reviewer "
    "critic evaluator grader approver editor validator audit auditor score tester proofread"
)


def words_of_name(name: str) -> frozenset[str]:
    """The words of a tool's or an agent's name, in lower case."""
    return frozenset(word.lower() for word in _WORD.findall(name[:80]))


def first_words(command: str) -> frozenset[str]:
    """The programs that a shell command starts, as far as they can be told."""
    starts = (part.split() for part in re.split(r"[;&|\n]+", command[:400]))
    return frozenset(word.lower() for part in starts for word in part[:2])


def phrases(text: str, most: int = 96) -> frozenset[str]:
    """The pairs of neighbouring words and figures of a text."""
    words = _TOKENS.findall(text[:2_000].lower())[: most + 1]
    return frozenset(f"{one} {other}" for one, other in pairwise(words)) or frozenset(words)


def letters(text: str, most: int = 64) -> frozenset[str]:
    """The words of a text, without figures."""
    return frozenset(_LETTERS.findall(text[:2_000].lower())[:most])


def alike(one: frozenset[str], other: frozenset[str], share: float) -> bool:
    """Whether two sets of words have ``share`` of them in common."""
    return bool(one or other) and len(one & other) >= share * len(one | other)


def string_of(args: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of the named arguments that is a string, else an empty one."""
    return next((value for name in names if isinstance(value := args.get(name), str)), "")


def is_numbered(argument: str) -> bool:
    """Whether a call's arguments name one of a numbered row: a file, the last part of a path."""
    return _NUMBERED.search(argument[:2_000]) is not None


def essential(args: Mapping[str, Any]) -> str:
    """The arguments that matter, in an order of their own, as one string."""
    named = any(name in COMMANDS for name in args)
    kept = {
        key: value
        for key, value in args.items()
        if key.lower() not in COSMETIC and not (named and key.lower() in NAMES)
    }
    return "\x1e".join(f"{key}\x1f{_plain(value)}" for key, value in sorted((kept or dict(args)).items()))


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return condensed(value)
    try:
        return msgspec.json.encode(value, enc_hook=repr, order="deterministic").decode()
    except (RecursionError, TypeError, ValueError, msgspec.MsgspecError):
        return repr(type(value))
