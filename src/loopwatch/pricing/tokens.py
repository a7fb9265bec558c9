"""How many tokens a text is where nobody reported them: a reply that was cut has no usage.

Tokens are estimated from the characters of all channels by how many make one, for each provider and
class of characters. The rates begin with what providers say of themselves and learn from replies whose
usage was reported.
"""

from collections.abc import Mapping
from math import ceil
from typing import NamedTuple

from loopwatch.pricing.providers import canonical
from loopwatch.pricing.scripts import SCRIPTS, CharCounts, Script, count_chars

ELSE: Mapping[Script, float] = {"latin": 4.0, "code": 2.0, "digits": 2.0, "cjk": 1.0, "other": 2.0}
"""Characters per token where a provider says nothing of its own.

``latin``: "1 token is about 4 characters in English" (OpenAI, help centre, "What are tokens and how to
count them"). The rest is set by us, on the cautious side (a cost is rather over- than underestimated):
byte-pair vocabularies take one or two marks at once, OpenAI's at most three digits (the pattern of
``cl100k_base``) and others a digit at a time, one Chinese character or so, and two or three letters of a
script that is not Latin.
"""

DEFAULTS: Mapping[str, Mapping[Script, float]] = {
    # Google says: "a token is equivalent to about 4 characters" (ai.google.dev, "Understand and count
    # tokens"); the open models of the same family take each digit as a token.
    "google": {**ELSE, "digits": 1.0},
    # Anthropic says: "approximately 3.5 English characters" (its documentation, glossary, "Tokens").
    "anthropic": {**ELSE, "latin": 3.5},
    # DeepSeek says: an English character is about 0.3 token, a Chinese one 0.6, a symbol one
    # (api-docs.deepseek.com, "Token & Token Usage").
    "deepseek": {**ELSE, "latin": 1 / 0.3, "cjk": 1 / 0.6, "code": 1.0},
}

PRIOR_CHARS = 20_000.0
"""A default counts as if it had been seen over so many characters: a dozen replies outweigh it."""
WINDOW_CHARS = 2_000_000.0
"""The most characters of a class that are remembered; each further reply takes the place of a share of
all before it, since a provider's tokenizer may change."""
LEAST_CHARS = 200
"""Shorter replies teach nothing: a few tokens of framing weigh too much in them."""
MOST_OFF = 4.0
"""Of a reply whose tokens are so many times more or fewer than estimated, the text is not what was billed."""
MOST_PROVIDERS = 64
"""Providers that rates are learnt of. Names come from outside; memory must not grow with them."""
METHOD_SHARE = 0.1
"""The method names a class that makes up at least this share of the tokens."""


class Estimate(NamedTuple):
    """Tokens, and how they were estimated: ``chars/4.0 latin openai default``."""

    tokens: int
    method: str


class TokenRates:
    """Characters per token by provider and class, learnt from usage that was reported.

    Deterministic: the same observations in the same order give the same rates. Memory is bounded.
    """

    def __init__(self) -> None:
        self._learnt: dict[str, dict[Script, tuple[float, float]]] = {}  # (characters, tokens) seen

    def rate(self, provider: str | None, script: Script) -> float:
        """Characters of ``script`` that make one token at ``provider``."""
        default = DEFAULTS.get(canonical(provider) or "", ELSE)[script]
        chars, tokens = self._learnt.get(canonical(provider) or "", {}).get(script, (0.0, 0.0))
        return (PRIOR_CHARS + chars) / (PRIOR_CHARS / default + tokens)

    def estimate(self, text: str, provider: str | None = None) -> Estimate:
        """The tokens of ``text``."""
        return self.estimate_from_counts(count_chars(text), provider)

    def estimate_from_counts(self, counts: CharCounts, provider: str | None = None) -> Estimate:
        """The tokens of a text with these characters, rounded up: 0 for none, else at least 1."""
        shares = self._shares(counts, provider)
        total = sum(shares.values())
        told = [script for script in SCRIPTS if total and shares[script] >= METHOD_SHARE * total]
        rates = ", ".join(f"{self.rate(provider, script):.1f} {script}" for script in told or SCRIPTS[:1])
        seller = canonical(provider)
        origin = "learnt" if seller in self._learnt else "default"
        tokens = ceil(round(total, 6))  # so that 175 / 3.5 is 50 and no hair more
        return Estimate(tokens, f"chars/{rates} {seller or 'any'} {origin}")

    def learn(self, provider: str | None, counts: CharCounts, tokens: int) -> bool:
        """Take note that a text with these characters was ``tokens`` long; whether it was of use.

        ``tokens`` must be those of the text: without reasoning that nobody saw, which is billed and has
        no characters here. They are shared out among the classes as they were estimated. Not of use:
        texts that are short, figures far from the estimate, and providers beyond MOST_PROVIDERS.
        """
        seller = canonical(provider)
        if seller is None or counts.total < LEAST_CHARS or tokens <= 0:
            return False
        shares = self._shares(counts, provider)
        off = tokens / sum(shares.values())
        full = len(self._learnt) >= MOST_PROVIDERS and seller not in self._learnt
        if full or not 1 / MOST_OFF <= off <= MOST_OFF:
            return False
        seen = self._learnt.setdefault(seller, {})
        for script, chars in zip(SCRIPTS, counts.each(), strict=True):
            if chars:
                before = seen.get(script, (0.0, 0.0))
                seen[script] = _forgetting(before[0] + chars, before[1] + shares[script] * off)
        return True

    def _shares(self, counts: CharCounts, provider: str | None) -> dict[Script, float]:
        """The estimated tokens of each class."""
        each = zip(SCRIPTS, counts.each(), strict=True)
        return {script: chars / self.rate(provider, script) for script, chars in each}


def _forgetting(chars: float, tokens: float) -> tuple[float, float]:
    """The sums, brought down to the window with their ratio kept."""
    scale = min(1.0, WINDOW_CHARS / chars)
    return chars * scale, tokens * scale


_DEFAULT_RATES = TokenRates()


def estimate_tokens(text: str, provider: str | None = None) -> int:
    """The tokens of ``text`` at the default rates; a ``TokenRates`` knows better once it has learnt.

    >>> estimate_tokens("The quick brown fox jumps over the lazy dog")
    11
    """
    return _DEFAULT_RATES.estimate(text, provider).tokens
