"""What Acme AI launches its agents on: one watched closely, one as the starting document has it."""

from collections.abc import Iterator

from loopwatch.config.draft import ON, AgentDraft, Draft, armed, fresh
from loopwatch.config.written import written


def configurations() -> Iterator[tuple[str, str]]:
    """Names and documents."""
    yield "Research agent", written(_research()).text
    yield "Support chat", written(fresh()).text


def _research() -> Draft:
    draft = fresh()
    (root,) = draft.agents
    root.texts |= {"id": "researcher", "name": "Researcher", "promptCacheTtl": "1h"}
    root.loop = armed(root.loop) | {"rules": "cycle phrases blank", "channels": "content reasoning"}
    reader = {"id": "reader", "name": "Reader", "modelSlot": "small"}
    checker = {"id": "checker", "name": "Fact checker", "modelSlot": "primary"}
    watched = armed({"windowWords": "128", "repeatThreshold": "16", "channels": "content"})
    draft.agents += [AgentDraft(reader, watched | {"shadow": ON}), AgentDraft(checker)]
    draft.slots[0]["model"] = "claude-sonnet-4-5"
    draft.slots.append({"name": "small", "model": "gpt-4o-mini", "apiKeyEnv": "OPENAI_API_KEY"})
    draft.limits |= {"maxTurns": "200", "maxCost": "5"}
    return draft
