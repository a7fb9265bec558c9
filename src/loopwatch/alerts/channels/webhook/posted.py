"""A webhook that takes one JSON document, as Discord's and Teams' do; they differ in the document."""

import json
from abc import ABC, abstractmethod
from typing import Any

from pydantic import SecretStr

from loopwatch.alerts.message import Message
from loopwatch.alerts.posting import Poster
from loopwatch.records.delivery import Delivery


class Posted(ABC):
    """Posts what ``payload`` makes of a message; ``pace`` is in seconds between two of them."""

    pace = 1.0

    def __init__(self, url: SecretStr, poster: Poster) -> None:
        self._url = url
        self._poster = poster

    @abstractmethod
    def payload(self, message: Message) -> dict[str, Any]:
        """The document."""

    def body(self, message: Message) -> str | None:
        """The document as JSON."""
        return json.dumps(self.payload(message))

    async def send(self, delivery: Delivery) -> None:
        """Post it as it was written."""
        await self._poster.deliver(self._url, delivery.body.encode())
