"""LangChain with a tracker: runs without a key, on LangChain's own fake model.

python examples/track_langchain.py
"""

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from loopwatch import Tracker
from loopwatch.errors import LimitExceeded
from loopwatch.sdk.langchain import TrackerHandler

USAGE = {"input_tokens": 30_000, "output_tokens": 1_000, "total_tokens": 31_000}


def main() -> None:
    """Ask three times where two are allowed."""
    tracker = Tracker(local=True, on_velocity=lambda burst: print(f"{burst.user_id}: {burst.tokens} tokens"))
    model = GenericFakeChatModel(messages=iter(AIMessage("Hello.", usage_metadata=USAGE) for _ in range(9)))
    config = {"callbacks": [TrackerHandler(tracker)], "metadata": {"user_id": "u1", "feature": "greeting"}}
    with tracker.agent("greeter", max_iterations=2) as run:
        try:
            while True:
                print(model.invoke("Greet me.", config).content)
        except LimitExceeded as error:
            print(error)
    print(f"{run.iterations} calls, {run.tokens} tokens")


if __name__ == "__main__":
    main()
