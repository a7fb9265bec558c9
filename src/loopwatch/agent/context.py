"""An agent's context: the messages that its model is sent. It only ever grows."""

from collections.abc import Mapping, Sequence
from typing import Any

from loopwatch.agent.session import Session
from loopwatch.records.rows import Message
from loopwatch.wire.reply import Reply, ToolCall


class Context:
    """The messages of one agent, each recorded as it comes."""

    def __init__(self, session: Session, agent_id: str) -> None:
        """Begin without any."""
        self.messages: list[Mapping[str, Any]] = []
        self._session = session
        self._agent_id = agent_id

    def add(self, role: str, content: str, **more: Any) -> None:
        """Add a message."""
        message = {"role": role, "content": content, **more}
        self._session.record(Message(index=len(self.messages), message=message), self._agent_id)
        self.messages.append(message)

    def add_reply(self, reply: Reply) -> list[str]:
        """Add what the model answered; the ids of its calls, each with one of its own."""
        ids = _ids(reply.tool_calls, len(self.messages))
        calls = [
            {
                "id": id_,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments or "{}"},
            }
            for id_, call in zip(ids, reply.tool_calls, strict=True)
        ]
        self.add("assistant", reply.text, **({"tool_calls": calls} if calls else {}))
        return ids


def _ids(calls: Sequence[ToolCall], at: int) -> list[str]:
    """The calls' own ids; where one lacks or repeats it, one that says where it stands."""
    ids: list[str] = []
    for number, call in enumerate(calls):
        ids.append(call.id if call.id and call.id not in ids else f"call_{at}_{number}")
    return ids
