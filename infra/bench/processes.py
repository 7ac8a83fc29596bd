"""The processes that are measured: started, held still, let go, killed, and what they cost."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from native.layout import ROOT
from native.process import Probe

_STOP_SECONDS = 15.0
_TAIL_BYTES = 2_000


@dataclass(frozen=True)
class Program:
    """How to start a process. `ready`, when there is one, says None once it can work."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path = ROOT
    ready: Probe | None = None


class ProcessEnded(Exception):
    """A process that is measured ended by itself."""


class Running:
    """A started program, in a process group of its own."""

    def __init__(self, program: Program, log: Path) -> None:
        self._program = program
        self._log = log
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                program.argv,
                env=dict(program.env),
                cwd=program.cwd,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    @property
    def is_ready(self) -> bool:
        return self._program.ready is None or self._program.ready() is None

    def check(self) -> None:
        """Raises `ProcessEnded`, with the end of its log, when it has ended."""
        if (code := self._process.poll()) is not None:
            text = self._log.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").strip()
            raise ProcessEnded(f"ended with {code}; {self._log.name} says: {text}")

    def cpu_seconds(self) -> float:
        """Processor time used so far, that of living children included."""
        return tree_cpu_seconds(self._process.pid)

    def resident_bytes(self) -> int:
        """Memory that is its own now, that of living children included."""
        parent = psutil.Process(self._process.pid)
        return sum(int(process.memory_info().rss) for process in [parent, *parent.children(recursive=True)])

    def pause(self) -> None:
        """SIGSTOP."""
        os.killpg(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        os.killpg(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL to all of it. Harmless when it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """SIGTERM, and SIGKILL when that is not enough."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGCONT)
            self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_SECONDS)
        self.kill()


def tree_cpu_seconds(pid: int) -> float:
    """Processor time of process `pid` and its children, of those too that have ended and were waited for."""
    seconds = 0.0
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        times = parent.cpu_times()
        seconds += times.user + times.system + times.children_user + times.children_system
        for child in parent.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                times = child.cpu_times()
                seconds += times.user + times.system
    return seconds
