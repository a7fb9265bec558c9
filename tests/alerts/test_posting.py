"""One POST: what counts as taken, what is said where it is not, and where it does not go at all."""

import asyncio
import socket
from datetime import timedelta
from email.utils import format_datetime

import pytest
from pydantic import SecretStr

from loopwatch.alerts.posting import Poster
from loopwatch.clock import ManualClock
from loopwatch.config.reach import EVERYWHERE, Reach
from loopwatch.errors import ChannelError
from tests.alerts.conftest import Tls
from tests.alerts.samples import AT
from tests.alerts.sinks import PATH, Reply, free_port, http_sink


async def failure(poster: Poster, url: SecretStr | str) -> ChannelError:
    """The error of a POST, which repeats nothing of the URL's path."""
    with pytest.raises(ChannelError) as caught:
        await poster.deliver(url if isinstance(url, SecretStr) else SecretStr(url), b"{}")
    error = caught.value
    assert error.__context__ is None
    assert "secret" not in f"{error} {error!r} {error.__cause__}"
    assert "\n" not in str(error)
    return error


async def test_what_is_posted_arrives_to_the_byte(poster: Poster) -> None:
    async with http_sink() as sink:
        await poster.deliver(sink.url, '{"a": "é"}'.encode(), {"X-Mine": "1"})
    (received,) = sink.received
    assert (received.path, received.body) == (PATH, '{"a": "é"}'.encode())
    assert received.headers["Content-Type"] == "application/json"
    assert received.headers["X-Mine"] == "1"
    assert received.headers["User-Agent"] == "loopwatch"


@pytest.mark.parametrize("status", [200, 201, 202, 204])
async def test_any_success_is_one(poster: Poster, status: int) -> None:
    async with http_sink(Reply(status)) as sink:
        await poster.deliver(sink.url, b"{}")


@pytest.mark.parametrize(
    ("status", "permanent"),
    [
        *((400, True), (401, True), (403, True), (404, True), (410, True), (413, True), (422, True)),
        *((408, False), (425, False), (429, False), (500, False), (502, False), (503, False), (301, True)),
    ],
)
async def test_statuses(poster: Poster, status: int, permanent: bool) -> None:  # noqa: FBT001
    async with http_sink(Reply(status, "no", {"Location": "/elsewhere"})) as sink:
        error = await failure(poster, sink.url)
    assert error.permanent == permanent
    assert str(error).startswith(f"127.0.0.1 answered HTTP {status}")
    assert len(sink.received) == 1  # no redirect is followed


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        *((None, None), ("120", 120), (" 7 ", 7), ("soon", None), ("-1", None), ("1.5", None), ("٣", None)),
        *(
            (format_datetime(AT + timedelta(seconds=90), usegmt=True), 90),
            ("Sat, 28 Nov 2026 00:00:00 GMT", 0),
        ),
        *(("Sat, 28 Nov 2026 02:16:30", 60), ("9" * 40, 999_999_999)),
    ],
)
async def test_retry_after(poster: Poster, header: str | None, seconds: float | None) -> None:
    headers = {} if header is None else {"Retry-After": header}
    async with http_sink(Reply(429, "", headers)) as sink:
        error = await failure(poster, sink.url)
    assert error.retry_after == seconds


async def test_nobody_listens(poster: Poster) -> None:
    error = await failure(poster, f"http://127.0.0.1:{await free_port()}{PATH}")
    assert not error.permanent
    assert str(error) == "cannot connect to 127.0.0.1: Connection refused"


async def test_no_answer(clock: ManualClock) -> None:
    async with Poster(EVERYWHERE, clock=clock, seconds=0.1) as poster, http_sink(Reply(None)) as sink:
        error = await failure(poster, sink.url)
    assert not error.permanent
    assert str(error) == "127.0.0.1 did not answer within 0.1 seconds"


async def test_a_connection_that_breaks(poster: Poster) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        error = await failure(poster, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{PATH}")
    assert str(error) == "127.0.0.1 broke the connection off"
    assert not error.permanent


async def test_a_certificate_that_nobody_vouches_for(poster: Poster, tls: Tls) -> None:
    asyncio.get_running_loop().set_debug(False)  # else asyncio reports the handshake as the sink's error
    async with http_sink(tls=tls.server) as sink:
        error = await failure(poster, sink.url)
    assert str(error) == "the certificate of 127.0.0.1 is not trusted"
    assert sink.received == []


async def test_no_tls_where_there_should_be(poster: Poster) -> None:
    async with http_sink() as sink:
        error = await failure(poster, sink.base.replace("http", "https") + PATH)
    assert str(error) == "127.0.0.1 speaks no TLS that can be used"


async def test_a_name_without_an_address(clock: ManualClock) -> None:
    async def lookup(host: str, port: int) -> list[tuple[int, str]]:
        raise socket.gaierror(socket.EAI_NONAME, f"{host}:{port} is unknown")

    async with Poster(clock=clock, lookup=lookup) as poster:
        error = await failure(poster, f"https://hooks.example{PATH}")
    assert str(error) == "hooks.example has no address"
    assert not error.permanent


async def test_a_name_is_looked_up_once_and_that_address_is_connected_to(
    clock: ManualClock, tls: Tls
) -> None:
    answers = [["127.0.0.1"], ["10.0.0.1"]]

    async def lookup(_host: str, _port: int) -> list[tuple[int, str]]:
        return [(int(socket.AF_INET), one) for one in answers.pop(0)]

    async with http_sink(tls=tls.server) as sink:
        url = SecretStr(f"https://hooks.example:{sink.base.rpartition(':')[2]}{PATH}")
        async with Poster(EVERYWHERE, clock=clock, lookup=lookup, context=tls.client) as poster:
            await poster.deliver(url, b"{}")
    assert sink.received[0].headers["Host"].startswith("hooks.example")  # and its certificate is that name's
    assert answers == [["10.0.0.1"]]


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["1.1.1.1", "10.0.0.1"], ["::1"], ["169.254.169.254"], ["::ffff:10.0.0.1"]]
)
async def test_a_name_with_a_private_address_is_not_connected_to(
    clock: ManualClock, addresses: list[str]
) -> None:
    async def lookup(_host: str, _port: int) -> list[tuple[int, str]]:
        return [(int(socket.AF_INET6 if ":" in one else socket.AF_INET), one) for one in addresses]

    async with Poster(clock=clock, lookup=lookup) as poster:
        error = await failure(poster, f"https://rebound.example{PATH}")
    assert error.permanent
    assert str(error).startswith("rebound.example has a private address")


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://127.0.0.1/secret",
            "https://127.0.0.1/secret",
            "https://[::1]/secret",
            "http://a.example/secret",
        ),
        *(
            "https://２１.0.0.1/secret",
            "https://１２７.0.0.1/secret",
            "https://127。0。0。1/secret",
            "secret",
        ),
        *("https://2130706433/secret", "https://1.1.1.1\\@127.0.0.1/secret", "https://localhost/secret"),
        *("https://0x7f.1/secret", "https://127.0.0.1.:443/secret", "https://[::ffff:127.0.0.1]/secret"),
    ],
)
async def test_no_spelling_leads_home(clock: ManualClock, url: str) -> None:
    async with Poster(Reach(), clock=clock, seconds=1) as poster:
        error = await failure(poster, url)
    assert error.permanent or "no address" in str(error)


async def test_names_are_guarded_by_the_systems_own_resolver_too(clock: ManualClock) -> None:
    async with http_sink() as sink:
        port = sink.base.rpartition(":")[2]
        async with Poster(Reach(plain_http=True), clock=clock) as poster:
            error = await failure(poster, f"http://localhost:{port}{PATH}")
        assert error.permanent
        async with Poster(EVERYWHERE, clock=clock) as poster:
            await poster.deliver(SecretStr(f"http://localhost:{port}{PATH}"), b"{}")
    assert len(sink.received) == 1


async def test_a_poster_must_be_open() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await Poster().deliver(SecretStr("https://a.example/"), b"")
