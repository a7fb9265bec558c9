"""A program for the environment that has LiteLLM: calls of each kind, logged by the callback.

python litellm_calls.py VENDOR_URL LOOPWATCH_URL
"""

import asyncio
import contextlib
import sys
from importlib import import_module
from typing import Any

from loopwatch import Tracker
from loopwatch.sdk.litellm import callback

SETTLES_SECONDS = 3.0
"""LiteLLM tells its callbacks from threads and tasks of its own."""


async def main(vendor: str, endpoint: str) -> None:
    """A whole call, a streamed one and one that fails; then the same from a coroutine."""
    litellm: Any = import_module("litellm")
    tracker = Tracker(api_key="k", endpoint=endpoint)
    litellm.callbacks = [callback(tracker)]
    ask: dict[str, Any] = {
        "model": "openai/gpt-4o-mini",
        "messages": [{"role": "user", "content": "Why?"}],
        "api_base": f"{vendor}/v1",
        "api_key": "sk",
        "num_retries": 0,
    }

    def sync_calls() -> None:
        litellm.completion(**ask, metadata={"user_id": "whole", "feature": "f"})
        for _ in litellm.completion(
            **ask, metadata={"user_id": "streamed"}, stream=True, stream_options={"include_usage": True}
        ):
            pass

    await asyncio.to_thread(sync_calls)
    await litellm.acompletion(**ask, metadata={"user_id": "async"})
    with contextlib.suppress(litellm.exceptions.APIError, litellm.exceptions.NotFoundError):
        await litellm.acompletion(**(ask | {"api_base": f"{vendor}/nowhere"}), metadata={"user_id": "failed"})
    await asyncio.sleep(SETTLES_SECONDS)
    tracker.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
