"""What kind of outcome a result is: a failure (and of what kind), a wait, a refusal by a reviewer, nothing.

Only words and figures are looked at, since agents' tools share no format. A wrong guess here changes how
much patience a repetition gets, never by itself whether something repeats.
"""

import re
from collections.abc import Iterator
from typing import Literal

from loopwatch.steps.volatile import READ_CHARS

Fault = Literal["firm", "absent", "transient", "closed"]
"""How a call failed. ``firm``: it will fail again; ``absent``: what it wants is not there (yet);
``transient``: the other side is busy or away; ``closed``: the account, the quota or the permission is
gone, for every call alike."""

LOOKED_AT = 240
"""Characters of a short outcome: a longer text with the word "error" in it is usually a text about errors."""

_BEGINS = re.compile(
    r"[\W_]*(?:make(?:\[\d+\])?: \*\*\*|(?:[\w.]+: )?[\w.]*(?:error|exception)\b|traceback"
    r"|fail(?:ed|ure)?\b|fatal|panic|denied"
    r"|forbidden|unauthori[sz]ed|invalid|cannot|can't|could ?n[o']t|could not|unable|time[d]?[ -]?out"
    r"|no such|not found|malformed|refused|segmentation fault|bus error|out of memory"
    r"|(?:http/?[\d.]* ?|status:? ?)?[45]\d\d\b"
    r"(?! ?(?:results|rows|tests|passed|req|files|lines|items|bytes|kb|mb)))"
)
_SHORT = re.compile(
    r"\b(?:error|exception|fail(?:ed|s|ure|ures)?|not found|denied|refused|reset by peer|unavailable|invalid"
    r"|malformed|could not|couldn't|cannot|can't|unable|timed out|time-?out|expected .{0,40}(?:but )?got"
    r"|no response|not responding|unresponsive"
    r"|does not exist|doesn't exist|no such|locked out|account locked|exceeded|exhausted|rejected|aborted"
    r"|conflict|unknown (?:command|option|tool|argument|field|id)"
    r"|too many requests|rate.?limit|overloaded"
    r"|not (?:allowed|permitted|available|unique|supported|a valid|valid)|unterminated"
    r"|unexpected (?:token|end|eof)"
    r"|parse|syntax error|is required"
    r"|no replacement|did not (?:appear|match|work|succeed|respond|find)|(?:file|already) exists"
    r"|core dumped|out of memory|please (?:enter|provide|choose|select) (?:an? )?valid"
    r"|missing (?:required|argument|field|parameter))\b|\w(?:error"
    r"|exception)\b"
)
_CLEARED = re.compile(
    r"\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:failed|failures?|errors?|exceptions?|problems?|conflicts?)"
    r"|\b(?:failed|failures?|errors?)[\"']?[:= ]+(?:0|null|none|\[\]|false)\b"
)
_LINE = re.compile(
    r"[\W\d_tz]{0,60}(?:error|fatal|failed|fail|failure|e |traceback|panicked|npm err|exception"
    r"|assertionerror|segmentation fault"
    r"|make: \*\*\*)\b"
)
_IN_LINE = re.compile(
    r"\b\d{1,9} (?:tests? )?fail(?:ed|ures?)|exit(?:ed with)? (?:code|status):? [1-9]|assertionerror"
)
FEW_LINES = 3
"""Lines of an output that hardly hold any noise."""
LINE_CHARS = 200
"""Characters of a line that are looked at."""
_CLOSED = re.compile(
    r"locked|balance|exhausted|quota|billing|suspended|disabled|revoked|api key|\b40[12]\b|credit|expired"
    r"|not logged in|login required"
)
_TRANSIENT = re.compile(
    r"\b(?:429|5\d\d)\b|time[d]?[ -]?out|reset by peer|refused|unavailable|overloaded|rate.?limit"
    r"|too many requests|temporar|try again|network|unreachable|throttl|econn|eof|busy|hang up|deadlock"
    r"|no response|not responding|unresponsive|starting up|in use\b"
    r"|could not get lock|lock(?:file)? (?:is )?held|held by"
    r"|connection (?:was )?(?:lost|closed)|disconnect"
)
_ABSENT = re.compile(
    r"not found|no such|does not exist|doesn't exist|404|not (?:yet|ready|available)|unknown id"
)
_MISSING_TOOL = re.compile(r"command not found|not recognized as|no module named|cannot find module")
"""What waiting does not bring: nobody is about to install it."""
_PENDING = re.compile(
    r"\b(?:running|in.?progress|pending|queued|waiting|processing|building|starting|scheduled"
    r"|not (?:yet )?(?:ready"
    r"|done|finished|complete)|still|provisioning|initiali[sz]ing|deploying|training|converting"
    r"|uploading|in queue|active|working(?! (?:tree|dir))|busy|warming|compiling|indexing"
    r"|rendering|transcoding"
    r"|no (?:new )?(?:messages?"
    r"|changes?|events?|output))\b"
)
_ENDED = re.compile(
    r"\b(?:cancell?ed|failed|done|completed?|succeeded|success|stopped|terminated|expired|finished"
    r"|closed|dead"
    r"|aborted|killed|error|gone)\b"
)
_MEASURE = re.compile(
    r"\d ?%|\b(?:progress|percent\w*|pct|done|completed|processed|position|step|remaining)\W{1,4}\d"
    r"|\d ?/ ?\d|\d of \d"
)
_BARREN = re.compile(
    r"(?:no (?:\w+ ){0,3}(?:found|results?|matches|hits|rows|data|records|more \w+)"
    r"|0 (?:results?|matches|hits|rows"
    r"|records|items)|\W*(?:items|results|data|rows|hits)\W*\[\].{0,80}|none|null"
    r"|nothing(?: found)?|empty|\[\]|\{\}|\(no output\)|)"
)
_UNDONE = re.compile(
    r"\bnothing to (?:commit|do|update|change|apply|install|push)|\balready (?:applied|up.to.date)"
    r"|\bno changes? (?:were |was )?(?:made|added|detected)"
)
_REFUSING = re.compile(
    r"\bnot (?:approved|accepted|yet|good enough|quite|ready|convinced|there)\b|\bfail|\breject"
    r"|\bchanges? requested"
    r"|\bneeds? (?:\w+ ){0,2}(?:work|revision|changes?|improvement|another|rework|more)|\brevis"
    r"|\bimprov|\bcould be"
    r"|\bone more|\bnew findings?|\bremain|\bweak|\bnit\b|\bnits\b|\bplease (?:fix|address|change|rework)"
    r"|\bstill\b|\bfound (?:\w+ ){0,3}(?:issues?|problems?)|\bremarks?\b|\bconsider\b|\bshould\b|\bunclear"
    r"|\btoo (?:long|short|vague|wordy|formal)|\bbelow\b|\bagain\b|\bblock(?:ed|er|ing)\b|\blacks?\b"
)
_ACCEPTING = re.compile(
    r"^\W*(?:approved|accepted|pass(?:ed)?\b|lgtm|ok\b|good\b|great|perfect|done|merged|looks good)"
    r"|\bapproved\.?$|\bgood\. approved|\bno (?:further|more|other) (?:remarks|findings|changes"
    r"|issues|comments)"
)
_SCORE = re.compile(r"(\d+(?:\.\d+)?) ?(?:/ ?\d+|%|out of \d+)|\bscore:? (\d+(?:\.\d+)?)")
_FAULTS = re.compile(
    r"(\d+) (?:\w+ ){0,2}(?:findings?|issues?|remarks?|problems?|comments?|errors?|failed"
    r"|failures?|nits?|left|open"
    r"|remain\w*|warnings?|todos?)"
)


def failing(text: str, *, plain: bool) -> bool:
    """Whether a settled result is a failure.

    ``plain``: it is a document that somebody wrote, so that only how it begins counts.
    """
    begins = text[:LOOKED_AT]
    if _BEGINS.match(begins) and not _CLEARED.match(begins):
        return True
    if plain and len(text) > LOOKED_AT // 3:
        return False
    if len(text) <= LOOKED_AT:
        return _SHORT.search(_CLEARED.sub("", text)) is not None
    return any(True for _ in _failing_lines(text))


def _failing_lines(text: str) -> Iterator[str]:
    """The lines of an output's two ends that speak of a failure."""
    if len(text) > 2 * READ_CHARS:
        text = f"{text[:READ_CHARS]}\n{text[-READ_CHARS:]}"
    for line in text.splitlines():
        said = _CLEARED.sub("", line[:LINE_CHARS])
        if _LINE.match(said) or _IN_LINE.search(said):
            yield said.strip()


def complaint_of(text: str) -> str:
    """Of a failing output, the lines that say what failed, in alphabetical order; of a few lines all."""
    all_lines = text.splitlines()
    lines = sorted({*_failing_lines(text)}) if len(text) > LOOKED_AT or len(all_lines) > FEW_LINES else []
    return "\n".join(lines[:8] or sorted(all_lines))


def fault_of(text: str) -> Fault:
    """The kind of a failure."""
    said = text[:LOOKED_AT]
    if _TRANSIENT.search(said):
        return "transient"
    if _CLOSED.search(said):
        return "closed"
    if _MISSING_TOOL.search(said):
        return "firm"
    absent = _ABSENT.search(said) and not said.lstrip(" [").startswith(("error", "fatal", "exception"))
    return "absent" if absent else "firm"


def pending(text: str) -> bool:
    """Whether a settled result says that something is not over yet."""
    return len(text) <= 2 * LOOKED_AT and _PENDING.search(text) is not None


def ended(text: str) -> bool:
    """Whether an answer says that what is asked for is over."""
    return len(text) <= 2 * LOOKED_AT and _ENDED.search(text) is not None


def measured(text: str) -> bool:
    """Whether a pending answer holds a figure that would move if anything did."""
    return _MEASURE.search(text) is not None


def barren(text: str) -> bool:
    """Whether a settled result says that there is nothing."""
    return _BARREN.fullmatch(text[:LOOKED_AT].strip(" .()\n")) is not None


def undone(text: str) -> bool:
    """Whether a settled result says that there was nothing to do."""
    return _UNDONE.search(text[:LOOKED_AT]) is not None


def refusing(text: str) -> bool:
    """Whether a reviewer's words refuse what was handed in."""
    said = text[: 2 * LOOKED_AT]
    return _ACCEPTING.search(said) is None and _REFUSING.search(said) is not None


def accepting(text: str) -> bool:
    """Whether a reviewer's words accept it."""
    return _ACCEPTING.search(text[: 2 * LOOKED_AT]) is not None


def standing(text: str) -> float | None:
    """A figure in a review that grows as the work gets better: a score, or minus the count of faults."""
    said = text[: 2 * LOOKED_AT]
    score = _SCORE.search(said)
    if score:
        return float(score.group(1) or score.group(2))
    faults = _FAULTS.search(said)
    return -float(faults.group(1)) if faults else None
