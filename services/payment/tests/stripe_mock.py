"""stripe-mock: a server that checks each request against the card provider's published API and answers with fixtures.

It knows no state, unlike the provider double: it says whether a request is well-formed there, not what comes of it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from native.layout import ROOT
from native.standalone import free_port

_VERSION = "v0.203.0"
_MODULE = f"github.com/stripe/stripe-mock@{_VERSION}"
_PROGRAM = ROOT / ".fencepost" / "tools" / f"stripe-mock-{_VERSION}"
_BUILD_SECONDS = 600
_START_SECONDS = 60.0


class NoStripeMock(Exception):
    """There is no Go, which builds it."""


def program() -> Path:
    """The server's program, built once with Go into the project's folder of tools; half a minute on two cores.

    Raises:
        NoStripeMock: there is no Go.
        RuntimeError: Go could not build it.
    """
    if _PROGRAM.exists():
        return _PROGRAM
    go = shutil.which("go")
    if go is None:
        raise NoStripeMock("Go is not installed, which builds stripe-mock: requests are checked by the double only")
    draft = _PROGRAM.parent / f"build-stripe-mock-{os.getpid()}"
    draft.mkdir(parents=True)
    try:
        built = subprocess.run(
            [go, "install", _MODULE],
            env=os.environ | {"GOBIN": str(draft)},
            capture_output=True,
            text=True,
            timeout=_BUILD_SECONDS,
            check=False,
        )
        if built.returncode != 0:
            raise RuntimeError(f"`go install {_MODULE}` failed: {built.stderr.strip()[-500:]}")
        (draft / "stripe-mock").replace(_PROGRAM)
    finally:
        shutil.rmtree(draft)
    return _PROGRAM


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
