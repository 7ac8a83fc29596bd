"""The process runner: it stops when asked, within its bound, and dies loudly when its work does."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PROLOGUE = """
import asyncio, sys, time
from service_platform.process import run_process, run_together
from service_platform.settings import ServiceSettings
settings = ServiceSettings(
    environment="development", service_name="order", database_host="h", database_name="n", database_user="u",
    database_password="p", kafka_bootstrap_servers="k", redis_host="r", redis_password="p", jwt_issuer="i",
    jwt_audience="a", jwt_jwks_url="file:///x",
)
"""


@contextlib.contextmanager
def running(code: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROLOGUE + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def end(process: subprocess.Popen[str]) -> list[dict[str, object]]:
    """What it said after what was read so far. Not `communicate`, which does not see what `readline` read ahead."""
    assert process.stdout is not None
    assert process.stderr is not None
    process.wait(timeout=10)
    lines = [json.loads(line) for line in process.stdout]
    assert lines, process.stderr.read()
    return lines


def started(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["event"] == "process.started"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_body_finish_and_exits_0(number: signal.Signals) -> None:
    code = """
async def body(stop):
    await stop.wait()
    await asyncio.sleep(0.1)
    print('{"event": "handed back"}', flush=True)
run_process("relay", settings, body)
"""
    with running(code) as process:
        started(process)
        process.send_signal(number)
        assert [line["event"] for line in end(process)] == ["process.stopping", "handed back", "process.stopped"]
    assert process.returncode == 0


def test_it_runs_on_uvloop() -> None:
    code = """
async def body(stop):
    print('{"event": "%s"}' % type(asyncio.get_running_loop()).__module__, flush=True)
    await stop.wait()
run_process("relay", settings, body)
"""
    with running(code) as process:
        started(process)
        process.terminate()
        assert any("uvloop" in str(line["event"]) for line in end(process))


def test_what_start_up_made_is_not_walked_over_by_the_collector() -> None:
    code = """
import gc
async def body(stop):
    print(gc.get_freeze_count() > 10_000, gc.get_threshold()[0] > 10_000, flush=True)
    await stop.wait()
run_process("relay", settings, body)
"""
    with running(code) as process:
        started(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "True True\n"


def test_a_failing_body_is_logged_and_exits_1() -> None:
    with running(
        "async def body(stop): raise ValueError('broken part')\nrun_process('relay', settings, body)"
    ) as process:
        last = end(process)[-1]
    assert process.returncode == 1
    assert last["event"] == "process.failed"
    assert "broken part" in str(last["exception"])


def test_a_body_that_ends_by_itself_exits_1_so_that_it_is_started_again() -> None:
    with running("async def body(stop): pass\nrun_process('relay', settings, body)") as process:
        assert "nobody asked it to stop" in str(end(process)[-1]["exception"])
    assert process.returncode == 1


def test_the_first_failure_stops_the_other_parts() -> None:
    code = """
async def failing(stop): raise ValueError("broken part")
async def other(stop):
    try:
        await asyncio.sleep(60)
    finally:
        print('{"event": "other cancelled"}', flush=True)
async def body(stop): await run_together(stop, other, failing)
run_process("relay", settings, body)
"""
    with running(code) as process:
        assert "other cancelled" in [line["event"] for line in end(process)]
    assert process.returncode == 1


@pytest.mark.parametrize(
    "stubborn",
    [
        "await asyncio.sleep(60)",
        "time.sleep(60)",
        "\n    while True:\n        try: await asyncio.sleep(60)\n        except asyncio.CancelledError: pass",
    ],
    ids=["does not return", "blocks the loop", "swallows its cancellation"],
)
def test_a_body_that_does_not_stop_is_ended_at_its_bound(stubborn: str) -> None:
    code = f"""
async def body(stop):
    await stop.wait()
    {stubborn}
import service_platform.process.runner as runner
runner._CANCEL_SECONDS = 0.1
run_process("relay", settings, body, stop_within_seconds=0.2)
"""
    with running(code) as process:
        started(process)
        asked = time.monotonic()
        process.terminate()
        process.wait(timeout=10)
        assert time.monotonic() - asked < 3
    assert process.returncode == 70


def test_it_beats_while_the_body_lives(tmp_path: Path) -> None:
    file = tmp_path / "beat.json"
    code = """
async def body(stop): await stop.wait()
run_process("relay", settings, body, ready=lambda: True)
"""
    with running(code, HEALTH_FILE=str(file)) as process:
        deadline = time.monotonic() + 10
        while not file.exists():
            assert time.monotonic() < deadline, "no heartbeat within 10 s"
            assert process.poll() is None
            time.sleep(0.02)
        assert json.loads(file.read_text()) | {"at": 0} == {"pid": process.pid, "ready": True, "at": 0}
        process.terminate()
        process.wait(timeout=10)
    assert not file.exists()
