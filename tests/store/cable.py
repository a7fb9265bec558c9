"""A cable to a server, which can be pulled and put back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit


class Cable:
    """Forwards a port of ours to a server's."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._pipes: set[asyncio.StreamWriter] = set()
        self._served: set[asyncio.Task[object]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def plug(self) -> None:
        """Accept connections, on the same port as before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def pull(self) -> None:
        """Cut every connection and refuse new ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for pipe in list(self._pipes):
            pipe.transport.abort()
        if self._served:
            await asyncio.wait(self._served)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._served.add(task)
        task.add_done_callback(self._served.discard)
        with suppress(OSError):
            back, forth = await asyncio.open_connection("127.0.0.1", self._to)
            self._pipes |= {writer, forth}
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_copy(reader, forth))
                tasks.create_task(_copy(back, writer))
            self._pipes -= {writer, forth}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
    with suppress(OSError):
        writer.close()


@asynccontextmanager
async def cable(url: str) -> AsyncIterator[tuple[Cable, str]]:
    """A cable to the server at ``url``, and the address at its near end."""
    parts = urlsplit(url)
    assert parts.port
    between = Cable(parts.port)
    await between.plug()
    near = parts._replace(netloc=parts.netloc.replace(str(parts.port), str(between.port)))
    try:
        yield between, urlunsplit(near)
    finally:
        await between.pull()
