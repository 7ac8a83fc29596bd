"""One whole stack: the API behind `make up` and behind the tests' world."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from topics import TopicsRefused, create_topics

from . import leftovers, preflight, schema
from .credentials import make_secrets
from .errors import StackError
from .kafka_jars import KAFKA_JARS
from .layout import DOWNLOADS, Layout
from .process import Process, Tier
from .readiness import wait_until_ready
from .settings import StackSettings
from .supervision import ProcessState, Supervision
from .topology import EDGES, SERVICES, STORES, Topology

_READY_SECONDS = 300.0  # fifteen interpreters and a JVM, on a machine that may be busy with other things
_LEFTOVER_GRACE_SECONDS = 5.0


class Stack:
    """The processes of one state folder.

    A second stack needs another state folder and another port base, and knows nothing of the first. `replicas` says
    how many of a role run where it is not one; `postgres_settings` come on top of the database server's usual ones;
    `detours` is explained at `Topology`; `say` is told what happens. Everything that cannot go on raises StackError.
    """

    def __init__(
        self,
        state: Path,
        port_base: int,
        *,
        settings: StackSettings | None = None,
        replicas: Mapping[str, int] | None = None,
        postgres_settings: Mapping[str, str] | None = None,
        detours: Mapping[str, int] | None = None,
        port_setting: str = "FENCEPOST_PORT_BASE",
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.layout = Layout(state)
        self.port_base = port_base
        self._port_setting = port_setting
        self._settings = settings or StackSettings()
        self._postgres_settings = dict(postgres_settings or {})
        self._detours = dict(detours or {})
        self._say = say
        self.topology = self._topology(replicas)
        self._supervision = Supervision(self.layout)

    def up(self, *, only_infrastructure: bool = False) -> None:
        """Start what is down, make databases, tables and topics, and wait until all is ready.

        What is up stays untouched, unless its configuration or its code has changed: then it is started anew. With
        `only_infrastructure` the services and their migrations are left out.
        """
        with self._alone():
            self._prepare()
            self._supervise()
            self._stop_outdated()
            infrastructure = self._tiers(Tier.STORE, Tier.EDGE)
            self._supervision.start(process.name for process in infrastructure)
            with ThreadPoolExecutor(max_workers=3) as pool:
                steps = [
                    pool.submit(self._database, migrations=not only_infrastructure),
                    pool.submit(self._broker),
                    pool.submit(self._wait, [p for p in infrastructure if p.name not in ("postgres", "kafka")]),
                ]
            for step in steps:
                step.result()
            if not only_infrastructure:
                services = self._tiers(Tier.SERVICE)
                self._supervision.start(process.name for process in services)
                self._wait(services)

    def down(self) -> None:
        """Stop everything, services first, and end what a killed run has left behind."""
        if not self.layout.mark.exists():
            return
        with self._alone():
            names = [state.name for state in self._supervision.states()]
            if names:
                self._supervision.stop(name for name in names if name not in (*STORES, *EDGES))
                self._say("services stopped")
                self._supervision.stop([*STORES, *EDGES])
                self._say("stores stopped")
                self._supervision.shut_down()
            self._end_leftovers()

    def clean(self) -> None:
        """Stop everything and delete the stack's folders (the downloads, which stacks share, stay).

        Raises:
            StackError: the state folder was not made by a stack.
        """
        if self.layout.state.exists() and not self.layout.mark.exists():
            raise StackError(f"{self.layout.state} is not a stack's folder", "Nothing was deleted.")
        self.down()
        shutil.rmtree(self.layout.state, ignore_errors=True)
        shutil.rmtree(self.layout.outside, ignore_errors=True)

    def processes(self) -> list[ProcessState]:
        """Every process of the running stack; none when it is down."""
        return self._supervision.states()

    def pid(self, name: str) -> int:
        """The id of process `name`.

        Raises:
            StackError: it does not run at the moment.
        """
        pid = self._supervision.state(name).pid
        if pid is None:
            raise StackError(f"{name} does not run", "Start it, or wait until it is restarted.")
        return pid

    def start(self, name: str, *, wait: bool = True) -> None:
        """Start process `name`, and wait until it is ready."""
        self._supervision.start([name])
        if wait:
            self.wait_until_ready(name)

    def stop(self, name: str) -> None:
        """Stop process `name` in order; it stays down until it is started."""
        self._supervision.stop([name])

    def restart(self, name: str) -> None:
        """Stop process `name` in order, start it, and wait until it is ready."""
        self.stop(name)
        self.start(name)

    def scale(self, role: str, replicas: int, *, wait: bool = True) -> None:
        """Run that many of `role`: start what is missing and wait for it, stop the rest."""
        self.topology = self._topology({**self.topology.replicas, role: replicas})
        self._supervise()
        processes = [process for process in self.topology.processes() if process.role == role]
        self._supervision.start(process.name for process in processes)
        if wait:
            self._wait(processes)

    def wait_until_ready(self, *names: str) -> None:
        """Wait until the processes of these names are ready, or all that are up when none is given."""
        wanted = names or [state.name for state in self.processes() if state.is_up]
        self._wait([process for process in self.topology.processes() if process.name in wanted])

    def env(self, name: str) -> dict[str, str]:
        """The environment that process `name` runs in: for tools that look at the stack as it does."""
        for process in self.topology.processes():
            if process.name == name:
                return dict(process.env)
        raise StackError(f"there is no process {name!r}", "`make ps` lists the names.")

    def url(self, name: str) -> str:
        """The HTTP address of process `name`."""
        return self.topology.urls()[name]

    def log(self, name: str) -> Path:
        """The file that process `name` logs to."""
        return self.layout.logs / f"{name}.log"

    def _topology(self, replicas: Mapping[str, int] | None) -> Topology:
        return Topology(
            self.layout,
            self.port_base,
            self._settings,
            replicas,
            postgres_settings=self._postgres_settings,
            detours=self._detours,
        )

    def _prepare(self) -> None:
        preflight.check_disk({self.layout.state, self.layout.postgres.parent})
        if not self._supervision.answers():
            self._end_leftovers()
        running = {state.name for state in self._supervision.states() if state.pid}
        names = {*STORES, *EDGES, *(f"{service}-api" for service in SERVICES)}
        wanted = {port: name for name in names - running for port in self.topology.ports_of(name)}
        preflight.check_ports(wanted, self._port_setting, self.port_base)
        make_secrets(self.layout.secrets, SERVICES)
        if KAFKA_JARS.missing(DOWNLOADS):
            self._say("fetching Kafka (45 MB, once)")
        topology = self.topology
        with ThreadPoolExecutor(max_workers=3) as pool:
            stores = (topology.postgres, topology.valkey, topology.kafka)
            for step in [pool.submit(store.prepare) for store in stores]:
                step.result()

    def _supervise(self) -> None:
        self._supervision.configure(self.topology.processes())
        self._supervision.run()

    def _stop_outdated(self) -> None:
        if outdated := self._supervision.outdated():
            self._say(f"{', '.join(outdated)} changed since the start, restarting")
            self._supervision.stop(outdated)

    def _database(self, *, migrations: bool) -> None:
        self._wait(process for process in self._tiers(Tier.STORE) if process.name == "postgres")
        schema.bootstrap(self.topology)
        if migrations and (migrated := schema.migrate(self.topology)):
            self._say(f"databases migrated: {', '.join(migrated)}")

    def _broker(self) -> None:
        self._wait(process for process in self._tiers(Tier.STORE) if process.name == "kafka")
        try:
            made = create_topics(self.topology.kafka_address)
        except TopicsRefused as refused:
            raise StackError(str(refused), refused.mend) from refused
        if made:
            self._say(f"topics made: {', '.join(made)}")

    def _tiers(self, *tiers: Tier) -> list[Process]:
        return [process for process in self.topology.processes() if process.tier in tiers]

    def _wait(self, processes: Iterable[Process]) -> None:
        wait_until_ready(processes, self._supervision, self.layout.logs, seconds=_READY_SECONDS, say=self._say)

    def _end_leftovers(self) -> None:
        supervisor = leftovers.read_record(self._supervision.record)
        if supervisor and (process := supervisor.process()):
            # First, and by itself: it would start again what is ended before it.
            leftovers.end([process], grace_seconds=_LEFTOVER_GRACE_SECONDS)
        records = list(self.layout.records.glob("*.json"))
        leftovers.end(leftovers.find(self.layout.state, records=records), grace_seconds=_LEFTOVER_GRACE_SECONDS)
        for path in records:
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the stack's lock: two commands at once on one stack take turns."""
        self.layout.make()
        with (self.layout.state / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._say("another command is at work on this stack, waiting for it")
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
