"""stripe-mock: a server that checks each request against the card provider's published API and answers with fixtures.

It knows no state, unlike the provider double: it says whether a request is well-formed there, not what comes of it.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from native.go_tools import GoTool
from native.standalone import free_port

STRIPE_MOCK = GoTool("stripe-mock", "github.com/stripe/stripe-mock", "v0.203.0")

_START_SECONDS = 60.0


@contextlib.contextmanager
def running(executable: Path, log: Path) -> Iterator[str]:
    """The address at which it serves on loopback."""
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen([executable, "-http-addr", f"127.0.0.1:{port}"], stdout=output, stderr=output)
    try:
        _wait_until_it_listens(process, port, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"stripe-mock does not serve: {log.read_text(errors='replace')[-500:]}")
        time.sleep(0.05)
