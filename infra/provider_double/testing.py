"""The double as a process of its own, for tests that talk to it over the network."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

API_KEY = "sk_test_double"
WEBHOOK_SECRET = "whsec_double"

_START_SECONDS = 60.0
_STOP_SECONDS = 5.0


class ProviderProcess:
    """Owns the process between `start` and `stop` or `kill`; `state_dir` and port stay the same over restarts."""

    def __init__(self, state_dir: Path, *, webhook_url: str = "") -> None:
        self._state_dir = state_dir
        self._webhook_url = webhook_url
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Return when it is ready.

        Raises:
            RuntimeError: it ended, or was not ready in 60 s.
        """
        environment = {
            **os.environ,
            "PROVIDER_PORT": str(self._port),
            "PROVIDER_STATE_DIR": str(self._state_dir),
            "PROVIDER_API_KEY": API_KEY,
            "PROVIDER_WEBHOOK_URL": self._webhook_url,
            "PROVIDER_WEBHOOK_SECRET": WEBHOOK_SECRET,
        }
        self._process = subprocess.Popen([sys.executable, "-m", "provider_double"], env=environment)
        deadline = time.monotonic() + _START_SECONDS
        while not self._ready():
            if self._process.poll() is not None:
                raise RuntimeError(f"the provider double ended with {self._process.returncode} instead of serving")
            if time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the provider double was not ready on {self.url} in {_START_SECONDS:.0f} s")
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
            raise RuntimeError("the provider double was not started")
        return self._process

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health/ready", timeout=1):
                return True
        except (urllib.error.URLError, OSError):
            return False


def free_port() -> int:
    """A loopback port that nobody listened on a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
