"""What a call costs here: at the project's own prices, else at the published ones."""

from collections import OrderedDict

from loopwatch.config.project import ProjectSettings
from loopwatch.pricing.prices import PriceTable
from loopwatch.records.call import Call
from loopwatch.wire.usage import Usage

MOST_TABLES = 256
"""Projects with prices of their own whose tables are kept at hand."""


class Prices:
    """The price tables of all projects. Those without prices of their own share one."""

    def __init__(self) -> None:
        self._published = PriceTable()
        self._own: OrderedDict[int, tuple[ProjectSettings, PriceTable]] = OrderedDict()

    def cost(self, call: Call, settings: ProjectSettings) -> int | None:
        """The cost in nano-USD; None for a model without a known price, and for a call without usage."""
        if call.usage_source == "unknown":
            return None
        usage = Usage(
            input_tokens=call.input_tokens,
            cache_read_input_tokens=call.cache_read_input_tokens,
            cache_creation_input_tokens=call.cache_creation_input_tokens,
            output_tokens=call.output_tokens,
            reasoning_output_tokens=call.reasoning_output_tokens,
        )
        provider = None if call.provider == "unknown" else call.provider
        return self.table(settings).cost(usage, model=call.model, provider=provider, at=call.at)

    def table(self, settings: ProjectSettings) -> PriceTable:
        """A project's table. Settings are values: others with the same prices get a table of their own."""
        if not settings.prices:
            return self._published
        key = id(settings)
        kept = self._own.get(key)
        if kept is None or kept[0] is not settings:
            kept = (settings, PriceTable(settings.prices))  # keeps the settings, and so their id
            self._own[key] = kept
            if len(self._own) > MOST_TABLES:
                self._own.popitem(last=False)
        return kept[1]
