"""Debezium: its embedded engine with the outbox event router, a reader of the write-ahead log in Java."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from bench.debezium_jars import compile_relay, java
from bench.peers import PeerMissing
from bench.processes import Program

from .log_reader import LogReader


class Debezium(LogReader):
    """See `programs/DebeziumRelay.java`."""

    name: ClassVar[str] = "debezium"
    relay: ClassVar[str] = "DebeziumRelay"
    rounds: ClassVar[int] = 2
    warm_up_rows: ClassVar[int] = 50_000
    also_cold: ClassVar[bool] = True
    slot: ClassVar[str] = "bench_debezium"
    publication: ClassVar[str] = "bench_debezium"
    table: ClassVar[str] = "outbox"
    create: ClassVar[str] = """
        CREATE TABLE outbox (
            id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
            aggregatetype text NOT NULL,
            aggregateid text NOT NULL,
            type text NOT NULL,
            payload text NOT NULL
        )
    """
    insert: ClassVar[str] = """
        INSERT INTO outbox (aggregatetype, aggregateid, type, payload) VALUES ('aggregate', $1, 'Measured', $2)
    """

    def missing(self) -> str | None:
        try:
            compile_relay(self._classes)
        except PeerMissing as missing:
            return str(missing)
        return None

    async def prepare(self) -> None:
        await super().prepare()
        self._offsets.unlink(missing_ok=True)  # of a slot that is gone

    def program(self, source: str, replica: int) -> Program:
        del replica
        address = self.lab.superuser(self.database)
        environment = self.environment(source) | {
            "OFFSETS": str(self._offsets),
            "DATABASE_HOST": address.host,
            "DATABASE_PORT": str(address.port),
            "DATABASE_USER": address.user,
            "DATABASE_PASSWORD": address.password,
            "DATABASE_NAME": address.name,
        }
        return Program(argv=(*java("-Xmx512m", classes=self._classes), self.relay), env=environment)

    @property
    def _classes(self) -> Path:
        return self._folder / "classes"

    @property
    def _offsets(self) -> Path:
        return self._folder / "offsets"

    @property
    def _folder(self) -> Path:
        folder = self.lab.settings.state_dir / "debezium"
        folder.mkdir(parents=True, exist_ok=True)
        return folder
