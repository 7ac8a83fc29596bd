"""Processes that a killed run left behind: found by what the stack wrote down about them, never by their name.

A process is this stack's when its environment carries the stack's marks (children inherit them), when its id and
start time stand in a record, or when it is the program of an own folder (a database server's data) and works there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

STATE_MARK = "FENCEPOST_SUPERVISED_STATE"
PROCESS_MARK = "FENCEPOST_SUPERVISED_PROCESS"

# Start times are read with the clock's granularity and shift with clock corrections.
_START_TOLERANCE_SECONDS = 2.0


@dataclass(frozen=True)
class Record:
    """A process that was started: its id means nothing without the time it started.

    `launch` is the digest of the specification it was started by; empty for the supervisor, which has none.
    """

    pid: int
    started: float
    launch: str = ""

    def process(self) -> psutil.Process | None:
        """The process itself, or None when it is gone (its id may be another one's by now)."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) < _START_TOLERANCE_SECONDS
            return process if same and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None


@dataclass(frozen=True)
class AtWork:
    """A program by the name of its file, and the folder it works in."""

    program: str
    folder: str


def write_record(path: Path, pid: int, launch: str = "") -> None:
    """Write down process `pid`, which must be running."""
    record = Record(pid, psutil.Process(pid).create_time(), launch)
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(asdict(record)), encoding="utf-8")
    draft.replace(path)


def read_record(path: Path) -> Record | None:
    """The record in `path`, or None where there is none."""
    try:
        return Record(**json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, json.JSONDecodeError, TypeError):
        return None


def find(
    state: Path, *, name: str | None = None, records: Iterable[Path] = (), at_work: Iterable[AtWork] = ()
) -> list[psutil.Process]:
    """Every running process of the stack in `state` (only those of process `name`, if given), but the caller."""
    recorded = {record.pid for path in records if (record := read_record(path)) and record.process()}
    places = set(at_work)
    me = psutil.Process().pid
    return [
        process
        for process in psutil.process_iter()
        if process.pid != me
        and (
            process.pid in recorded
            or _is_marked(process, str(state), name)
            or (bool(places) and _works_at(process, places))
        )
    ]


def end(processes: list[psutil.Process], *, grace_seconds: float = 0.0) -> list[psutil.Process]:
    """Ask `processes` to stop, wait `grace_seconds`, then kill what is left. Returns what not even that ended."""
    if grace_seconds > 0:
        for process in processes:
            _signal(process, kill=False)
        _, processes = psutil.wait_procs(processes, timeout=grace_seconds)
    for process in processes:
        _signal(process, kill=True)
    _, remaining = psutil.wait_procs(processes, timeout=10)
    return list(remaining)


def _signal(process: psutil.Process, *, kill: bool) -> None:
    try:
        if kill:
            process.kill()
        else:
            process.terminate()
    except psutil.NoSuchProcess:
        pass


def _is_marked(process: psutil.Process, state: str, name: str | None) -> bool:
    try:
        environment = process.environ()
    except (psutil.Error, OSError):
        return False  # gone by now, or another user's: not ours
    if environment.get(STATE_MARK) != state:
        return False
    return name is None or environment.get(PROCESS_MARK) == name


def _works_at(process: psutil.Process, places: set[AtWork]) -> bool:
    try:
        return AtWork(process.name(), process.cwd()) in places
    except (psutil.Error, OSError):
        return False
