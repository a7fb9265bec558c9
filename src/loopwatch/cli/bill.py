"""What a reply came to: attempts, tokens, and what it and the discarded ones cost."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from loopwatch.cli.losses import Losses, dollars, replies
from loopwatch.cli.terminal import one_line
from loopwatch.pricing.prices import Cost, PriceTable
from loopwatch.pricing.providers import LOCAL
from loopwatch.records.money import NANO

if TYPE_CHECKING:
    from loopwatch.client.items import Reply
    from loopwatch.client.model import ModelClient
    from loopwatch.client.tally import Tally
    from loopwatch.errors import ModelError


@dataclass(frozen=True, slots=True)
class Bill:
    """A reply, its cost where that is known, and what was lost on the way to it.

    ``model`` is the one that answered, ``listed`` whether anybody lists prices where it was asked.
    """

    reply: "Reply"
    model: str
    cost: Cost | None
    losses: Losses
    listed: bool = True

    def __str__(self) -> str:
        """One line for people."""
        return "; ".join((_count(self.reply.attempts, "attempt"), self._tokens(), self._costs()))

    def as_json(self) -> str:
        """One line for programs; costs are in US dollars, null where they are not known."""
        reply = self.reply
        usage = msgspec.to_builtins(reply.usage) if reply.usage is not None else {}
        usage.pop("wire", None)
        document = {
            "text": reply.text,
            "tool_calls": [
                {"id": call.id, "name": call.name, "arguments": call.arguments} for call in reply.tool_calls
            ],
            "finish_reason": reply.finish_reason,
            "model": self.model,
            "provider": reply.provider,
            "generation_id": reply.generation_id,
            **_attempts(reply.attempts, reply.tally, self.losses),
            "usage": usage,
            "cost_usd": self.cost.nano_usd / NANO if self.cost is not None else None,
            "cost_source": self.cost.source if self.cost is not None else None,
        }
        return msgspec.json.encode(document).decode()

    def _tokens(self) -> str:
        usage = self.reply.usage
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            return "no tokens reported"
        thought = usage.reasoning_output_tokens
        reasoning = f" ({thought:,} of them reasoning)" if thought else ""
        return f"{usage.input_tokens:,} input and {_count(usage.output_tokens, 'output token')}{reasoning}"

    def _costs(self) -> str:
        losses = self.losses
        if self.cost is not None:
            cost = dollars(self.cost.nano_usd)
        elif losses.count and not losses.known:
            return f"cost unknown, as that of {replies(losses.count)}{losses.why}"
        elif self.reply.usage is not None and self.listed:
            cost = f"cost unknown (no price is listed for {one_line(self.model)})"
        else:
            cost = "cost unknown"
        return f"{cost}, and {losses}" if losses.count else cost


def bill_for(client: "ModelClient", reply: "Reply", losses: Losses) -> Bill:
    """Price a reply."""
    model = reply.model or client.model or ""
    cost = PriceTable().priced(reply.usage, model=model, provider=client.provider, at=datetime.now(UTC))
    return Bill(reply, model, cost, losses, listed=client.provider != LOCAL)


def failure_as_json(error: "ModelError", losses: Losses) -> str:
    """One line for programs about a call that ended with no reply."""
    document: dict[str, object] = {"error": str(error), "error_type": error.error_type}
    document |= _attempts(error.attempts, error.tally, losses)
    return msgspec.json.encode(document).decode()


def _attempts(number: int, tally: "Tally", losses: Losses) -> dict[str, object]:
    return {
        "attempts": number,
        "loop_aborts": tally.loop_aborts,
        "loop_abort_words": tally.loop_abort_words,
        "loop_abort_chars": tally.loop_abort_chars,
        **losses.as_dict(),
    }


def _count(number: int, one: str) -> str:
    return f"{number:,} {one if number == 1 else one + 's'}"
