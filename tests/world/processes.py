"""Stopping, resuming and killing processes of a stack as a machine would: by signal, with all their children."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator

import psutil

from native.stack import Stack

_FREEZE_SECONDS = 10.0


def family(stack: Stack, name: str) -> list[psutil.Process]:
    """Process `name` and everything below it."""
    head = psutil.Process(stack.pid(name))
    return [head, *head.children(recursive=True)]


def send(processes: list[psutil.Process], number: signal.Signals) -> None:
    """Send the signal to each that is still there."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def freeze(processes: list[psutil.Process]) -> None:
    """SIGSTOP, and wait until each stands still: on a busy machine its threads go on for a while."""
    send(processes, signal.SIGSTOP)
    deadline = time.monotonic() + _FREEZE_SECONDS
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            while process.status() not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE):
                assert time.monotonic() < deadline, (
                    f"{process} does not stand still {_FREEZE_SECONDS:g} s after SIGSTOP"
                )
                time.sleep(0.001)


@contextlib.contextmanager
def stopped(processes: list[psutil.Process]) -> Iterator[None]:
    """The processes are frozen (SIGSTOP) within the block and go on after it."""
    freeze(processes)
    try:
        yield
    finally:
        send(processes, signal.SIGCONT)


def kill(stack: Stack, name: str) -> int:
    """kill -9 of process `name` alone, not of its children; the id that it had."""
    pid = stack.pid(name)
    psutil.Process(pid).kill()
    return pid
