"""LiteLLM with a tracker: needs ``pip install litellm`` (pin a version that you trust) and a key.

OPENAI_API_KEY=… python examples/track_litellm.py
"""

from importlib import import_module
from typing import Any

from loopwatch import Tracker
from loopwatch.sdk.litellm import callback


def main() -> None:
    """One call, logged."""
    litellm: Any = import_module("litellm")
    tracker = Tracker(local=True, on_velocity=print, token_threshold=1)
    litellm.callbacks = [callback(tracker)]
    with tracker.user("u1", feature="greeting"):
        litellm.completion(model="gpt-4o-mini", messages=[{"role": "user", "content": "Greet me."}])


if __name__ == "__main__":
    main()
