"""Becomes one process of the stack: `python -m native.launch <launch specification>`.

The supervisor runs this instead of the program itself, so that a program killed with -9 starts clean: what it left
running (children, half a database server) is ended first, the start is written down, and the program gets exactly
the environment, folder and user of its specification, whatever shell the supervisor was started from.
"""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from . import leftovers
from .process import Process
from .sources import fingerprint


@dataclass(frozen=True)
class Launch:
    """A launch specification, as it lies on disk."""

    name: str
    state: str
    record: str
    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    code: str
    run_as: str | None
    own_folder: str | None
    stale_files: Sequence[str]

    @classmethod
    def of(cls, process: Process, *, state: Path, record: Path) -> Launch:
        """The specification of `process` in the stack at `state`; its start will be written to `record`."""
        return cls(
            name=process.name,
            state=str(state),
            record=str(record),
            argv=process.argv,
            cwd=str(process.cwd),
            env=dict(process.env),
            code=fingerprint(process.sources),
            run_as=process.run_as,
            own_folder=str(process.own_folder.resolve()) if process.own_folder else None,
            stale_files=[str(path) for path in process.stale_files],
        )

    def text(self) -> str:
        """The content of the specification's file; equal for equal processes."""
        return json.dumps(asdict(self), indent=2, sort_keys=True)


def digest(specification: str) -> str:
    """What tells one specification's text from another's."""
    return hashlib.sha256(specification.encode()).hexdigest()


def main(specification: Path) -> None:
    """Replace this process by the one that `specification` describes."""
    text = specification.read_text(encoding="utf-8")
    launch = Launch(**json.loads(text))
    record = Path(launch.record)
    if record.exists() or any(Path(stale).exists() for stale in launch.stale_files):
        _end_last_run(launch, record)
    leftovers.write_record(record, os.getpid(), digest(text))
    if launch.run_as is not None:
        _become(launch.run_as)
    os.chdir(launch.cwd)
    os.execve(launch.argv[0], list(launch.argv), dict(launch.env))


def _end_last_run(launch: Launch, record: Path) -> None:
    at_work = [leftovers.AtWork(Path(launch.argv[0]).name, launch.own_folder)] if launch.own_folder else []
    left = leftovers.find(Path(launch.state), name=launch.name, records=[record], at_work=at_work)
    if remaining := leftovers.end(left):
        # Two database servers on one data folder would destroy it: rather be started again in a moment.
        raise SystemExit(f"{launch.name}: not even SIGKILL ended {[process.pid for process in remaining]} yet")
    for stale in launch.stale_files:
        Path(stale).unlink(missing_ok=True)


def _become(user: str) -> None:
    account = pwd.getpwnam(user)
    os.initgroups(user, account.pw_gid)
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
