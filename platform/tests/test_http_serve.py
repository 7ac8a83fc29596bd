"""The API as a process: it serves, ends what it has begun, and says in its logs why it could not."""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from native.standalone import free_port

TESTS = Path(__file__).parent

CODE = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from fastapi import APIRouter
from http_lab import RSA_KEY, public_jwk, settings_for, write_keys
from service_platform.http import create_app, public, run_api
router = APIRouter(dependencies=[public("a test")])
begun = asyncio.Event()
@router.get("/slow")
async def slow():
    print('{"event": "begun"}', flush=True)
    await asyncio.sleep(0.5)
    return "whole"
async def close():
    print('{"event": "closed"}', flush=True)
async def failing(stop):
    raise RuntimeError("the loop beside broke")
settings = settings_for(write_keys(Path(sys.argv[2]), public_jwk(RSA_KEY, "rsa-1")), http_port=int(sys.argv[3]))
beside = [failing] if "failing" in sys.argv else []
run_api(create_app(settings, title="Things", routers=[router], closing=[close]), settings, beside=beside)
"""


@contextlib.contextmanager
def api(folder: Path, port: int, *more: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, str(TESTS), str(folder), str(port), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_until(process: subprocess.Popen[str], word: str) -> list[dict[str, object]]:
    """The log lines up to the first whose event holds `word`; the process's end fails it."""
    assert process.stdout is not None
    lines: list[dict[str, object]] = []
    for line in process.stdout:
        lines.append(json.loads(line))
        if word in str(lines[-1]["event"]):
            return lines
    raise AssertionError(f"it ended before logging {word!r}: {lines} {process.stderr.read() if process.stderr else ''}")


def test_a_request_is_one_line_in_the_log(tmp_path: Path) -> None:
    port = free_port()
    with api(tmp_path, port) as process:
        read_until(process, "Uvicorn running")
        assert httpx.get(f"http://127.0.0.1:{port}/slow?cursor=private").status_code == 200
        process.terminate()
        lines = read_until(process, "process.stopped")
    assert [line["route"] for line in lines if "route" in line] == ["/slow"]
    assert [line for line in lines if "private" in str(line) or line.get("logger") == "uvicorn.access"] == []


def test_a_stop_lets_the_request_in_flight_end_and_closes_what_is_open(tmp_path: Path) -> None:
    port = free_port()
    with (
        api(tmp_path, port) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}") as idle,
        ThreadPoolExecutor(1) as pool,
    ):
        read_until(process, "Uvicorn running")
        answer = idle.get("/health/live")  # leaves an idle connection, which must not hold up the stop
        assert answer.status_code == 200
        assert "server" not in answer.headers
        slow = pool.submit(httpx.get, f"http://127.0.0.1:{port}/slow")
        read_until(process, "begun")
        process.terminate()
        assert slow.result(timeout=10).json() == "whole"
        events = [line["event"] for line in read_until(process, "process.stopped")]
        assert process.wait(timeout=10) == 0
    assert events.index("process.stopping") < events.index("http.request.finished") < events.index("closed")


def test_a_taken_port_ends_the_start_with_a_line_that_says_so(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with api(tmp_path, taken.getsockname()[1]) as process:
            lines = read_until(process, "process.failed")
            assert process.wait(timeout=10) == 1
    assert any("address already in use" in str(line["event"]) for line in lines)


@pytest.mark.parametrize("part", ["failing"])
def test_a_loop_beside_the_server_that_fails_ends_the_process(tmp_path: Path, part: str) -> None:
    with api(tmp_path, free_port(), part) as process:
        lines = read_until(process, "process.failed")
        assert process.wait(timeout=15) == 1
    assert "the loop beside broke" in str(lines[-1]["exception"])
