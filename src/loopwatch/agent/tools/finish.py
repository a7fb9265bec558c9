"""``finish``: the explicit call that ends an agent's work."""

from loopwatch.agent.tools.tool import Tool, tool

NAME = "finish"


class Finish:
    """Holds the result once the model has finished; the first call counts."""

    def __init__(self) -> None:
        """Begin unfinished."""
        self.result: str | None = None

    def tool(self) -> Tool:
        """The tool, for one agent."""

        async def finish(result: str = "") -> str:
            """End the work, with its result in words: what was done and what was found."""
            if self.result is None:
                self.result = result
            return "Finished."

        return tool(finish, name=NAME)
