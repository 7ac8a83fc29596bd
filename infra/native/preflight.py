"""What is checked before anything is started, so that a failure names its cause and its mend."""

from __future__ import annotations

import contextlib
import errno
import shutil
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil

from .errors import StackError

_NEEDED_BYTES = 2 * 1024**3
_EPHEMERAL_PORTS = 32_000  # above it the kernel hands ports out to clients


def check_disk(folders: Iterable[Path]) -> None:
    """Raises StackError where a folder's disk has less than 2 GiB left."""
    for folder in folders:
        free = shutil.disk_usage(folder).free
        if free < _NEEDED_BYTES:
            raise StackError(
                f"the disk of {folder} has {free / 1024**3:.1f} GiB left, the stack needs 2",
                "Free some space, or put the stack's state elsewhere with --state.",
            )


def check_ports(wanted: Mapping[int, str], setting: str, port_base: int) -> None:
    """Raises StackError when somebody holds a port of `wanted` (port: the process that needs it).

    It names who, and the one setting that moves all ports, with a value that would do.
    """
    taken = {port: name for port, name in wanted.items() if not _is_free(port)}
    if not taken:
        return
    others = (other for other in range(port_base + 1000, _EPHEMERAL_PORTS, 1000))
    free = (o for o in others if all(_is_free(port - port_base + o) for port in wanted))
    raise StackError(
        "; ".join(f"port {port} ({name}) is held by {_holder(port)}" for port, name in taken.items()),
        f"Stop it, or move all ports of the stack: {setting}={next(free, '<another base>')}",
    )


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def _holder(port: int) -> str:
    # Other users' sockets cannot be seen without privileges, and on macOS none at all.
    with contextlib.suppress(psutil.AccessDenied, psutil.NoSuchProcess):
        for connection in psutil.net_connections(kind="tcp"):
            listens = connection.status == psutil.CONN_LISTEN and tuple(connection.laddr)[1:] == (port,)
            if listens and connection.pid is not None:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
    return "a process that cannot be seen from here"
