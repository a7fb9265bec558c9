"""What somebody who reads a reply should know about it, and cannot see."""

from loopwatch.cli.terminal import one_line
from loopwatch.client.items import Reply

SHOWN = 80
"""Characters of a name that are shown."""


def remarks(reply: Reply, *, max_tokens: int | None) -> list[str]:
    """A line each; none where the reply says all. ``max_tokens`` is what was asked for."""
    return [line for line in (_nothing_said(reply), _tools_called(reply), _cut(reply, max_tokens)) if line]


def _nothing_said(reply: Reply) -> str:
    if not reply.says_nothing:
        return ""
    thought = f": all that came are {len(reply.reasoning):,} characters of reasoning"
    return f"the reply is empty{thought if reply.reasoning else ''}"


def _tools_called(reply: Reply) -> str:
    if not reply.tool_calls:
        return ""
    names = ", ".join(one_line(call.name)[:SHOWN] for call in reply.tool_calls)
    also, instead = ("also ", "") if reply.text else ("", " instead of answering")
    return f"the model {also}wants to call {names}{instead} (--json has the arguments)"


def _cut(reply: Reply, max_tokens: int | None) -> str:
    reason = reply.finish_reason
    if reason == "length":
        limit = f"--max-tokens {max_tokens}" if max_tokens else "as many tokens as the provider allows"
        return f"the reply is cut short: it reached {limit}"
    if reason == "content_filter":
        return "the reply is cut short by the provider's content filter"
    if reason is None and not reply.terminated:
        return "the reply may be cut short: the stream ended and did not say that it was complete"
    if reason not in (None, "stop", "tool_calls"):
        return f"the provider ended the reply with {one_line(reason)[:SHOWN]!r}"
    return ""
