"""The heartbeat: alive and ready is fresh and true; a blocked loop or a stopped process is neither."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from service_platform.telemetry import Heartbeat, write_heartbeat
from service_platform.telemetry.healthcheck import check


def beat_in(file: Path) -> dict[str, object]:
    return json.loads(file.read_text()) if file.exists() else {}


async def until(file: Path, ready: bool) -> dict[str, object]:
    async with asyncio.timeout(5):
        while True:
            beat = beat_in(file)
            if beat.get("ready") is ready:
                return beat
            await asyncio.sleep(0.01)


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


@pytest.mark.parametrize(("ready", "code"), [(True, 0), (False, 1)])
def test_the_command_of_the_container_exits_with_the_state(tmp_path: Path, ready: bool, code: int) -> None:
    write_heartbeat(tmp_path / "beat", ready=ready)
    run = subprocess.run(
        [sys.executable, "-m", "service_platform.telemetry.healthcheck"],
        env=os.environ | {"HEALTH_FILE": str(tmp_path / "beat")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == code, run.stderr
