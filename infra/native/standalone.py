"""One Python server as a process of its own, outside of any stack: for tests that talk to it over the network."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping

_START_SECONDS = 60.0
_STOP_SECONDS = 5.0


class StandaloneProcess:
    """Owns the process between `start` and `stop` or `kill`; settings and ports stay the same over restarts."""

    def __init__(self, module: str, *, url: str, ready_path: str, settings: Mapping[str, str]) -> None:
        self.url = url
        self._module = module
        self._ready_url = f"{url}{ready_path}"
        self._settings = dict(settings)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return when it is ready.

        Raises:
            RuntimeError: it ended, or was not ready in 60 s.
        """
        environment = {**os.environ, **self._settings}
        self._process = subprocess.Popen([sys.executable, "-m", self._module], env=environment)
        deadline = time.monotonic() + _START_SECONDS
        while not self._ready():
            if self._process.poll() is not None:
                raise RuntimeError(f"{self._module} ended with {self._process.returncode} instead of serving")
            if time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"{self._module} was not ready on {self.url} in {_START_SECONDS:.0f} s")
            time.sleep(0.05)

    def stop(self) -> int:
        """SIGTERM; the exit code.

        Raises:
            subprocess.TimeoutExpired: it did not end in 5 s; it is killed then.
        """
        process = self._running()
        process.terminate()
        try:
            return process.wait(_STOP_SECONDS)
        finally:
            self.kill()

    def kill(self) -> None:
        """SIGKILL, as a crash. Harmless when it has ended."""
        process = self._running()
        process.send_signal(signal.SIGKILL)
        process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError(f"{self._module} was not started")
        return self._process

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(self._ready_url, timeout=1):
                return True
        except (urllib.error.URLError, OSError):
            return False


def free_port() -> int:
    """A loopback port that nobody listened on a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
