"""Tools that installed packages offer, by name: entry points of the group ``loopwatch.tools``.

An entry point is a ``Tool``, or a function that ``tool`` can make one of::

    [project.entry-points."loopwatch.tools"]
    lookup = "my_package.tools:lookup"
"""

from importlib.metadata import EntryPoint, entry_points

from loopwatch.agent.tools.tool import Tool, told, tool
from loopwatch.errors import InputError

GROUP = "loopwatch.tools"


def offered() -> dict[str, EntryPoint]:
    """What there is, not yet imported."""
    return {point.name: point for point in entry_points(group=GROUP)}


def load(point: EntryPoint) -> Tool:
    """The tool. Raises InputError where it cannot be had."""
    try:
        found = point.load()
    except Exception as error:  # noqa: BLE001  whatever importing somebody's package may raise
        raise InputError(f"tool {point.name!r} cannot be imported ({told(error)})") from None
    if isinstance(found, Tool):
        return found
    if not callable(found):
        raise InputError(f"tool {point.name!r} is no function: {point.value}")
    return tool(found, name=point.name)
