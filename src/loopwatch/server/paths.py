"""What a path may hold: ids of users, whatever their senders made them."""

from starlette.convertors import Convertor, register_url_convertor


class Whole(Convertor[str]):
    """All the rest of a path, line feeds and slashes too: ids of users are what their senders made them."""

    regex = r"(?s:.+)"

    def convert(self, value: str) -> str:
        """As it is."""
        return value

    def to_string(self, value: str) -> str:
        """As it is."""
        return value


register_url_convertor("whole", Whole())
USER = "{user_id:whole}"
"""A user's id in a route."""
