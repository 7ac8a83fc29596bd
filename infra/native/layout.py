"""Where a stack keeps what on disk."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from .errors import StackError

ROOT = Path(__file__).resolve().parents[2]
DOWNLOADS = ROOT / ".fencepost" / "kafka"

# A socket address holds 108 bytes on Linux and 104 on macOS, its end mark included.
_SOCKET_PATH_LIMIT = 100


@dataclass(frozen=True)
class Layout:
    """The folders of one stack. Everything lies in `state`, but for `outside` (see there)."""

    state: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", self.state.resolve())

    @property
    def mark(self) -> Path:
        """The file that says that this folder is a stack's and may be deleted."""
        return self.state / ".fencepost-stack"

    @property
    def runner(self) -> Path:
        """What runs the suite of this folder, in a word: `infra/runner.sh` reads it."""
        return self.state / "runner"

    @property
    def secrets(self) -> Path:
        return self.state / "secrets"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def run(self) -> Path:
        """What only means something while the stack runs: launch specifications, records, heartbeats."""
        return self.state / "run"

    @property
    def launches(self) -> Path:
        return self.run / "launch"

    @property
    def records(self) -> Path:
        return self.run / "records"

    @property
    def heartbeats(self) -> Path:
        return self.run / "health"

    @property
    def outside(self) -> Path:
        """A folder under /var/tmp that only this state folder uses.

        For what cannot lie in `state`: a server that must not run as root cannot be let into a root user's home,
        and a socket's path is short.
        """
        name = hashlib.sha256(os.fsencode(self.state)).hexdigest()[:12]
        return Path("/var/tmp") / f"fencepost-{name}"

    @property
    def postgres(self) -> Path:
        return (self.outside if os.geteuid() == 0 else self.state) / "postgres"

    @property
    def control_socket(self) -> Path:
        inside = self.run / "supervisor.sock"
        if len(os.fsencode(inside)) < _SOCKET_PATH_LIMIT:
            return inside
        return self.outside / "supervisor.sock"

    def make(self) -> None:
        """Create the folders, closed to everyone else.

        Raises:
            StackError: `state` holds other things or has a % in its path, or the folder outside it is somebody else's.
        """
        if "%" in str(self.state):
            raise StackError(
                f"{self.state} has a % in it, which the process runner takes for one of its own marks",
                "Choose another folder with --state, or move the project.",
            )
        if self.state.exists() and not self.mark.exists() and any(self.state.iterdir()):
            raise StackError(f"{self.state} is not a stack's folder", "Choose an empty or a new one with --state.")
        for folder in (self.state, self.secrets, self.logs, self.run, self.launches, self.records, self.heartbeats):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.mark.touch()
        if self.outside in (self.control_socket.parent, self.postgres.parent):
            self._make_outside()

    def _make_outside(self) -> None:
        self.outside.mkdir(mode=0o700, exist_ok=True)
        if self.outside.is_symlink() or self.outside.lstat().st_uid != os.geteuid():
            raise StackError(
                f"{self.outside} is not a folder of this user",
                "Look at who made it and remove it, or choose another state folder with --state.",
            )
        if os.geteuid() == 0:
            self.outside.chmod(0o711)  # the database's user passes through it and sees nothing else
