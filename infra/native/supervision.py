"""The process runner: one supervisord a stack, told what to do over its socket."""

from __future__ import annotations

import contextlib
import http.client
import os
import shlex
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supervisor.xmlrpc import Faults, SupervisorTransport  # type: ignore[import-untyped]

from .errors import StackError
from .launch import Launch, digest
from .layout import Layout
from .leftovers import read_record, write_record
from .process import Process

_START_DEADLINE_SECONDS = 15.0
_STOP_DEADLINE_SECONDS = 75.0
_UP = ("RUNNING", "STARTING", "BACKOFF")


@dataclass(frozen=True)
class ProcessState:
    """What the supervisor says of one process. `state` is supervisor's word for it, RUNNING when it is up."""

    name: str
    state: str
    pid: int | None
    up_seconds: int | None
    detail: str

    @property
    def is_up(self) -> bool:
        """Running, or about to be started again without anybody's doing."""
        return self.state in _UP


class Supervision:
    """One stack's supervisord."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._configuration = layout.run / "supervisord.conf"

    @property
    def record(self) -> Path:
        """Where the supervisor's own id and start are written down."""
        return self._layout.records / "supervisord.json"

    def answers(self) -> bool:
        """Whether the supervisor is there and listens."""
        if not self._layout.control_socket.exists():
            return False
        try:
            with self._server() as server:
                server.supervisor.getState()
        except (OSError, http.client.HTTPException, xmlrpc.client.Error):
            return False
        return True

    def configure(self, processes: Iterable[Process]) -> None:
        """Write what shall run."""
        sections = [self._own_sections()]
        for process in processes:
            specification = self._layout.launches / f"{process.name}.json"
            launch = Launch.of(process, state=self._layout.state, record=self._layout.records / f"{process.name}.json")
            draft = specification.with_suffix(".draft")
            draft.write_text(launch.text(), encoding="utf-8")
            draft.replace(specification)  # never half of it: a process may be restarting at this moment
            sections.append(self._program(process, specification))
        self._configuration.write_text("\n".join(sections), encoding="utf-8")

    def outdated(self) -> list[str]:
        """The processes that are up and were started by another specification than the one that is now written."""
        names = []
        for state in self.states():
            specification = self._layout.launches / f"{state.name}.json"
            record = read_record(self._layout.records / f"{state.name}.json")
            if state.is_up and (record is None or record.launch != digest(specification.read_text(encoding="utf-8"))):
                names.append(state.name)
        return names

    def run(self) -> None:
        """Start the supervisor, or have the running one take up the new configuration.

        A process that is no longer configured is stopped. Nothing else is started or stopped by this.
        """
        if self.answers():
            self._update()
            return
        self._layout.control_socket.unlink(missing_ok=True)
        command = [sys.executable, "-m", "supervisor.supervisord", "--configuration", str(self._configuration)]
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.environ.get("HOME", "/")}
        started = subprocess.run(
            command, env=environment, cwd=self._layout.state, capture_output=True, text=True, check=False
        )
        deadline = time.monotonic() + _START_DEADLINE_SECONDS
        while started.returncode != 0 or not self.answers():
            if started.returncode != 0 or time.monotonic() > deadline:
                raise StackError(
                    f"the process runner did not start: {started.stderr.strip() or started.stdout.strip()}",
                    f"Read {self._layout.logs / 'supervisord.log'}.",
                )
            time.sleep(0.05)
        with self._server() as server:
            write_record(self.record, server.supervisor.getPID())

    def states(self) -> list[ProcessState]:
        """Every configured process, in the order of starting; none when the supervisor is not there."""
        if not self.answers():
            return []
        with self._server() as server:
            return [_state(info) for info in server.supervisor.getAllProcessInfo()]

    def state(self, name: str) -> ProcessState:
        """One process.

        Raises:
            StackError: there is none of that name.
        """
        for state in self.states():
            if state.name == name:
                return state
        raise StackError(f"no process {name!r} is configured", "`make ps` lists the names.")

    def start(self, names: Iterable[str]) -> None:
        """Have `names` started, where they are not, and kept up. Does not wait."""
        with self._server() as server:
            for name in names:
                with _allowing(Faults.ALREADY_STARTED):
                    server.supervisor.startProcess(name, False)

    def stop(self, names: Iterable[str]) -> None:
        """Stop `names`, all at once, and wait until they are gone.

        Raises:
            StackError: one is still there after the time that the longest-lived one has to stop.
        """
        waiting = set(names)
        with self._server() as server:
            for name in waiting:
                with _allowing(Faults.NOT_RUNNING):
                    server.supervisor.signalProcess(name, "CONT")  # a paused process would not hear what follows
                    server.supervisor.stopProcess(name, False)
        deadline = time.monotonic() + _STOP_DEADLINE_SECONDS
        while stopping := [s.name for s in self.states() if s.name in waiting and s.pid is not None]:
            if time.monotonic() > deadline:
                raise StackError(f"{', '.join(stopping)} did not stop", "`make down` again kills what is left.")
            time.sleep(0.05)

    def shut_down(self) -> None:
        """End the supervisor and whatever still runs under it."""
        if self.answers():
            with self._server() as server:
                server.supervisor.shutdown()
        deadline = time.monotonic() + _STOP_DEADLINE_SECONDS
        while self.answers():
            if time.monotonic() > deadline:
                raise StackError("the process runner did not stop", "`make down` again kills what is left.")
            time.sleep(0.05)

    def _update(self) -> None:
        with self._server() as server:
            added, changed, removed = server.supervisor.reloadConfig()[0]
            for group in [*changed, *removed]:
                server.supervisor.stopProcessGroup(group, True)
                server.supervisor.removeProcessGroup(group)
            for group in [*changed, *added]:
                server.supervisor.addProcessGroup(group)

    @contextlib.contextmanager
    def _server(self) -> Iterator[Any]:
        transport = SupervisorTransport(None, None, f"unix://{self._layout.control_socket}")
        try:
            yield xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport)
        finally:
            transport.close()

    def _own_sections(self) -> str:
        layout = self._layout
        user = "user=root" if os.geteuid() == 0 else ""
        return f"""\
; Written by the stack at every start; what runs is declared in infra/native/topology.py.
[supervisord]
logfile={_escape(layout.logs / "supervisord.log")}
logfile_maxbytes=5MB
logfile_backups=2
pidfile={_escape(layout.run / "supervisord.pid")}
childlogdir={_escape(layout.logs)}
nocleanup=true
umask=077
{user}
[unix_http_server]
file={_escape(layout.control_socket)}
chmod=0600
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
"""

    def _program(self, process: Process, specification: Path) -> str:
        command = shlex.join([sys.executable, "-m", "native.launch", str(specification)])
        return f"""\
[program:{process.name}]
command={_escape(command)}
priority={int(process.tier)}
autostart=false
autorestart=true
startsecs=1
startretries=100
stopsignal={process.stop_signal}
stopwaitsecs={process.stop_seconds}
killasgroup=true
redirect_stderr=true
stdout_logfile={_escape(self._layout.logs / f"{process.name}.log")}
stdout_logfile_maxbytes=10MB
stdout_logfile_backups=2
"""


@contextlib.contextmanager
def _allowing(fault: int) -> Iterator[None]:
    try:
        yield
    except xmlrpc.client.Fault as error:
        if error.faultCode != fault:
            raise


def _escape(value: object) -> str:
    return str(value).replace("%", "%%")


def _state(info: dict[str, Any]) -> ProcessState:
    up = info["now"] - info["start"] if info["pid"] else None
    return ProcessState(
        name=info["name"],
        state=info["statename"],
        pid=info["pid"] or None,
        up_seconds=up,
        detail=info["spawnerr"] if info["statename"] in ("BACKOFF", "FATAL") else "",
    )
