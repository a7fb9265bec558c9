"""What a reply was billed for: every provider's figures under OpenTelemetry's names.

``input_tokens`` includes what was read from a cache and what was written to one, ``output_tokens``
includes reasoning. The providers differ:

==============  =======================  ========================  ==========================
                cached input             reasoning                 in a stream
==============  =======================  ========================  ==========================
OpenAI          part of the input        part of the output        once, last
Anthropic       beside the input         part of the output        in parts, the last one sums
Gemini          part of the input        beside the output         the last one sums
Ollama          not reported             part of the output        once, last
==============  =======================  ========================  ==========================
"""

from typing import Any, NamedTuple

import msgspec

TOO_MANY = 2**53
"""A count of tokens from here on is none: it is beyond what JSON can say exactly."""


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one reply, and its cost in US dollars where the provider says it. None: not reported.

    ``wire`` has the provider's own figures as they came, numbers only.
    """

    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    cost: float | None = None
    wire: dict[str, Any] = {}

    @property
    def uncached_input_tokens(self) -> int | None:
        """The input that was neither read from a cache nor written to one."""
        if self.input_tokens is None:
            return None
        cached = (self.cache_read_input_tokens or 0) + (self.cache_creation_input_tokens or 0)
        return max(0, self.input_tokens - cached)

    @property
    def answer_tokens(self) -> int | None:
        """The output without its reasoning."""
        if self.output_tokens is None:
            return None
        return max(0, self.output_tokens - (self.reasoning_output_tokens or 0))


class OutputSplit(NamedTuple):
    """Output in its two parts; ``reconciled`` where they are not as reported."""

    answer: int
    reasoning: int
    reconciled: bool


def split_output(usage: Usage, estimate: int) -> OutputSplit | None:
    """The answer and the reasoning of a reply whose text is about ``estimate`` tokens long.

    Some providers report more reasoning than the text leaves room for: then the estimate decides. As
    reported where there is no text. None without a total.
    """
    if usage.output_tokens is None:
        return None
    total, reasoning = usage.output_tokens, usage.reasoning_output_tokens or 0
    answer = min(estimate, total)
    if estimate <= 0 or reasoning <= total - answer:
        return OutputSplit(max(0, total - reasoning), min(total, reasoning), reconciled=False)
    return OutputSplit(answer, total - answer, reconciled=True)
