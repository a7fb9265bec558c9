import os
import socket
import subprocess
import sys
import time
from typing import Any

import msgspec
import pytest

from loopwatch.errors import InputError, LoopwatchError, ProjectKeyRefused, StoreUnavailable
from loopwatch.sdk.link import Link
from loopwatch.sdk.sender import Sender
from tests.sdk.vendors import Collector


def rows(count: int) -> list[bytes]:
    return [msgspec.json.encode({"eventId": str(number)}) for number in range(count)]


class Told:
    def __init__(self, url: str, **options: Any) -> None:
        self.errors: list[LoopwatchError] = []
        self.statuses: list[int] = []
        self.sender = Sender(Link(url, "lw_key"), self.errors.append, self.statuses.append, **options)

    def put(self, count: int) -> None:
        for row in rows(count):
            self.sender.put(row)


def test_rows_go_in_batches_packed(collector: Collector) -> None:
    told = Told(f"{collector.url}/api/v1/log")
    told.put(1_200)
    assert told.sender.close(5)
    assert len(collector.rows) == 1_200
    assert len(collector.posts) <= 4
    assert collector.posts[0]["content-encoding"] == "gzip"
    assert (told.errors, told.sender.dropped) == ([], 0)


def test_a_failure_is_retried_with_the_same_ids_when_the_server_wants(collector: Collector) -> None:
    collector.statuses = [(503, {"retry-after": "1"}), (500, {})]
    told = Told(collector.url)
    began = time.monotonic()
    told.put(3)
    while not collector.rows and time.monotonic() < began + 10:
        time.sleep(0.02)
    assert collector.seen == [["0", "1", "2"]] * 3
    assert time.monotonic() - began >= 1.0
    assert len(told.errors) == 1
    assert isinstance(told.errors[0], StoreUnavailable)
    assert told.sender.close(30)


def test_what_is_wrong_is_given_up_and_told(collector: Collector) -> None:
    collector.statuses = [(400, {})]
    told = Told(collector.url)
    told.put(2)
    assert told.sender.flush(5)
    assert told.sender.dropped == 2
    assert isinstance(told.errors[0], InputError)
    collector.rejected = [{"index": 0, "reason": "userId looks like an e-mail address"}]
    told.put(1)
    assert told.sender.close(5)
    assert "looks like an e-mail" in str(told.errors[1])


def test_a_page_of_a_proxy_is_no_receipt(collector: Collector) -> None:
    collector.statuses = [(200, {"content-type": "text/html"})]
    told = Told(collector.url)
    told.put(1)
    deadline = time.monotonic() + 5
    while not collector.rows and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(collector.rows) == 1
    assert "is the endpoint right, or a proxy between?" in str(told.errors[0])
    assert told.sender.close(5)


def test_a_batch_that_is_too_large_goes_in_halves(collector: Collector) -> None:
    collector.statuses = [(413, {})]
    told = Told(collector.url)
    told.put(4)
    assert told.sender.close(5)
    assert collector.sizes == [4, 2, 2]
    assert len(collector.rows) == 4


def test_a_refused_key_ends_the_sending(collector: Collector) -> None:
    collector.statuses = [(401, {})]
    told = Told(collector.url)
    told.put(2)
    assert told.sender.flush(5)
    told.put(2)
    assert (told.statuses, told.sender.dropped, len(collector.posts)) == ([401], 4, 1)
    told.sender.close(1)
    assert ProjectKeyRefused(401).status == 401


def test_what_comes_after_the_end_is_counted_once(collector: Collector) -> None:
    told = Told(collector.url)
    told.put(1)
    assert told.sender.close(5)
    told.put(3)
    assert (told.sender.dropped, told.sender.waiting) == (3, 0)
    assert told.sender.close(5)
    assert (told.sender.dropped, len(collector.rows)) == (3, 1)


def test_an_end_while_a_server_hangs_is_counted_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        told = Told(f"http://127.0.0.1:{hanging.getsockname()[1]}")
        told.put(2)
        assert not told.sender.close(1.0)
        assert not told.sender.close(1.0)
        assert told.sender.dropped == 2


def test_a_reason_of_the_server_s_is_one_line(collector: Collector) -> None:
    collector.rejected = [{"index": 0, "reason": "no\n2026 ERROR \x1b[31mforged"}]
    told = Told(collector.url)
    told.put(1)
    assert told.sender.close(5)
    assert str(told.errors[0]) == "1 calls were not logged: no 2026 ERROR [31mforged"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def test_a_server_that_is_away_costs_old_rows_and_nothing_else() -> None:
    told = Told(f"http://127.0.0.1:{free_port()}", queue=100)
    began = time.monotonic()
    told.put(1_000)
    assert time.monotonic() - began < 1
    deadline = time.monotonic() + 5
    while not told.errors and time.monotonic() < deadline:
        time.sleep(0.01)
    assert told.sender.dropped + told.sender.waiting == 1_000
    assert told.sender.dropped >= 900
    began = time.monotonic()
    assert not told.sender.close(1)
    assert time.monotonic() - began < 2


PROGRAM = """
import os, sys
from loopwatch import Tracker
from loopwatch.sdk.link import Link
tracker = Tracker(api_key="lw_key", endpoint=sys.argv[1])
tracker._sender.put(b'{"eventId": "parent"}')
if sys.argv[2] == "fork":
    if os.fork() == 0:
        tracker._sender.put(b'{"eventId": "child"}')
        sys.exit(0)
    os.wait()
"""


@pytest.mark.parametrize(("how", "ids"), [("plain", ["parent"]), ("fork", ["child", "parent"])])
def test_a_program_that_ends_sends_its_last_rows_and_a_child_its_own(
    collector: Collector, how: str, ids: list[str]
) -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, collector.url, how]
    subprocess.run(command, check=True, env=os.environ | {}, timeout=30)
    assert sorted(row["eventId"] for row in collector.rows) == ids
