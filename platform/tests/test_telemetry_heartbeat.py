"""The heartbeat: alive and ready is fresh and true; a blocked loop or a stopped process is neither."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from service_platform.telemetry import Heartbeat, healthcheck, write_heartbeat
from service_platform.telemetry.healthcheck import check_file as check
from world.waiting import eventually


def beat_in(file: Path) -> dict[str, object]:
    return json.loads(file.read_text()) if file.exists() else {}


async def until(file: Path, ready: bool) -> dict[str, object]:
    return await eventually(
        lambda: beat_in(file), until=lambda beat: beat.get("ready") is ready, within=20, what=f"a beat says {ready=}"
    )


async def test_it_says_who_is_alive_and_whether_it_is_ready_until_it_stops(tmp_path: Path) -> None:
    file, stop, state = tmp_path / "new" / "relay.json", asyncio.Event(), {"ready": False}
    beating = asyncio.create_task(Heartbeat(file, lambda: state["ready"]).run(stop))
    beat = await until(file, ready=False)
    assert beat["pid"] == os.getpid()
    assert check(file, time.time()) == "the process is alive and not ready"
    state["ready"] = True
    await until(file, ready=True)
    assert check(file, time.time()) is None
    stop.set()
    await beating
    assert not file.exists(), "a stopped process must not look alive"
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize("content", ["", "{}", '{"at": "x", "ready": true}', "[]"])
def test_what_is_no_heartbeat_is_not_healthy(tmp_path: Path, content: str) -> None:
    file = tmp_path / "beat"
    file.write_text(content)
    assert check(file, time.time()) is not None


def test_an_old_heartbeat_is_not_healthy(tmp_path: Path) -> None:
    write_heartbeat(tmp_path / "beat", ready=True)
    assert check(tmp_path / "beat", time.time() + 9) is None
    assert "11 s old" in str(check(tmp_path / "beat", time.time() + 11))


def container_check(**settings: str) -> subprocess.CompletedProcess[str]:
    """The healthcheck as an image runs it: the file alone, without the platform around it."""
    command = [sys.executable, "-I", healthcheck.__file__]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("ready", "code"), [(True, 0), (False, 1)])
def test_the_command_of_the_container_exits_with_the_state(tmp_path: Path, ready: bool, code: int) -> None:
    write_heartbeat(tmp_path / "beat", ready=ready)
    run = container_check(HEALTH_FILE=str(tmp_path / "beat"))
    assert run.returncode == code, run.stderr


@pytest.mark.parametrize(("status", "problem"), [(200, ""), (503, "503: the database is away"), (None, "not answer")])
def test_a_process_with_a_port_is_asked_there(status: int | None, problem: str) -> None:
    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status or 0)
            self.end_headers()
            self.wfile.write(b"the database is away")

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Health) as server:
        address = f"http://127.0.0.1:{server.server_port}/health/ready"
        if status is None:
            server.server_close()
        else:
            threading.Thread(target=server.handle_request, daemon=True).start()
        run = container_check(HEALTH_URL=address)
    assert run.returncode == (1 if problem else 0)
    assert problem in run.stderr


def test_a_container_that_says_nothing_of_its_health_is_not_healthy() -> None:
    run = container_check()
    assert (run.returncode, "HEALTH_URL nor HEALTH_FILE" in run.stderr) == (1, True)


def test_a_check_that_hangs_ends_by_itself_since_no_engine_ends_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "beat")  # reading it waits for a writer, who never comes
    hurried = f"import runpy; run = runpy.run_path({healthcheck.__file__!r}); g = run['main'].__globals__"
    script = f"{hurried}; g['_LONGEST_SECONDS'] = 1; run['main']()"
    command = [sys.executable, "-I", "-c", script]
    run = subprocess.run(command, env={"HEALTH_FILE": str(tmp_path / "beat")}, timeout=60, check=False)
    assert run.returncode == -signal.SIGALRM
