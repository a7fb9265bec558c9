"""The API's document: complete, valid, and no request made from it brings a 5xx."""

import asyncio
import subprocess
import sys
from pathlib import Path

from loopwatch.server.app import ROUTES
from loopwatch.server.openapi import document
from tests.server.house import House


def test_it_names_every_route_and_no_other() -> None:
    renamed = {"{project_id}": "{projectId}", "{user_id:whole}": "{userId}"}
    routes: set[tuple[str, str]] = set()
    for route in ROUTES:
        path = route.path
        if path.startswith("/dashboard/"):
            continue  # a page for people
        for name, other in renamed.items():
            path = path.replace(name, other)
        routes |= {(path, method.lower()) for method in (route.methods or set()) - {"HEAD"}}
    documented = {
        (path, method)
        for path, item in document()["paths"].items()
        for method in item
        if method != "parameters"
    }
    assert documented == routes


async def test_it_is_served_to_whoever_asks(house: House) -> None:
    found = await house.get("/openapi.json", key="")
    assert found["openapi"].startswith("3.1")
    assert found["components"]["schemas"]["Settings"]["properties"]["tokenThreshold"]["default"] == 50_000


async def test_no_request_made_from_it_brings_a_5xx(house: House, tmp_path: Path) -> None:
    command = [
        str(Path(sys.executable).parent / "schemathesis"),
        *("run", f"{house.url}/openapi.json", "--checks", "not_a_server_error", "--max-examples", "5"),
        *("--mode", "all", "--phases", "examples,coverage,fuzzing", "--header", f"x-api-key: {house.admin}"),
        *("--seed", "1", "--no-color", "--request-timeout", "20"),
    ]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False
    )
    server_errors = [status for status in house.server.answers if status >= 500]
    assert server_errors == [], done.stdout[-4_000:]
    assert done.returncode == 0, done.stdout[-4_000:]
    assert sum(house.server.answers.values()) > 500
