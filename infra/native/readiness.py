"""Waiting until processes are ready, with a deadline that says who is not, why, and what its log says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .errors import StackError
from .process import Process
from .supervision import Supervision

_LOG_LINES = 15
_FUTILE_STARTS = 4  # a process that ended this often while it was waited for will not come up by waiting


def wait_until_ready(
    processes: Iterable[Process],
    supervision: Supervision,
    logs: Path,
    *,
    seconds: float,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Wait until every one of `processes` is ready; `say` is told of each.

    Raises:
        StackError: one is not within `seconds`, or ends again and again.
    """
    waiting = list(processes)
    if not waiting:
        return
    deadline = time.monotonic() + seconds
    starts: dict[str, set[int]] = {process.name: set() for process in waiting}
    with ThreadPoolExecutor(max_workers=len(waiting)) as pool:
        while True:
            answers = pool.map(lambda process: process.probe(), waiting)
            unready = {
                process.name: missing for process, missing in zip(waiting, answers, strict=True) if missing is not None
            }
            if ready := [process.name for process in waiting if process.name not in unready]:
                say(f"{', '.join(ready)} ready")
            if not unready:
                return
            for state in supervision.states():
                if state.pid is not None and state.name in unready:
                    starts[state.name].add(state.pid)
            hopeless = {name: missing for name, missing in unready.items() if len(starts[name]) > _FUTILE_STARTS}
            if hopeless or time.monotonic() > deadline:
                raise _failure(hopeless or unready, logs)
            waiting = [process for process in waiting if process.name in unready]
            time.sleep(0.1)


def _failure(unready: dict[str, str], logs: Path) -> StackError:
    first, *others = unready
    report = f"{first} does not become ready: {unready[first]}\n{_tail(logs / f'{first}.log')}"
    if others:
        report += f"\nNor do {', '.join(others)}."
    return StackError(report, f"All of its log: make logs S={first}")


def _tail(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
    except FileNotFoundError:
        return "  (it has logged nothing)"
    return "\n".join(f"  | {line}" for line in lines) or "  (it has logged nothing)"
