"""The ground that all contestants run on: one stack of stores, started fresh for a run, and its fresh topics."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

import asyncpg
import redis.asyncio
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from native import schema
from native.credentials import POSTGRES_PASSWORD, REDIS_PASSWORD, app_password
from native.leftovers import STATE_MARK
from native.stack import Stack
from service_platform.database import DatabaseAddress
from service_platform.event_bus import topic_of

from .peers import Peers
from .settings import BenchSettings
from .workload import PARTITIONS

# On top of what the stack runs with, and so for all alike: what the readers of the log need, and a count of statements.
_POSTGRES_SETTINGS = {
    "wal_level": "logical",
    "max_replication_slots": "8",
    "shared_preload_libraries": "pg_stat_statements",
}

_STATEMENTS = """
    SELECT coalesce(sum(s.calls), 0)::float8
    FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
    WHERE d.datname = $1 AND s.toplevel
"""

_TOPIC_SETTINGS = {
    "max.message.bytes": str(1024 * 1024),
    # The broker's own clock on every record: when it became visible, without anybody watching.
    "message.timestamp.type": "LogAppendTime",
}

Statement: TypeAlias = "asyncpg.prepared_stmt.PreparedStatement[asyncpg.Record]"
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


class Lab:
    """Postgres and Kafka with the suite's own configuration, in a state folder and on ports of their own."""

    def __init__(self, settings: BenchSettings, *, say: Callable[[str], None] = lambda _: None) -> None:
        self.settings = settings
        self.peers = Peers(settings, say=say)
        self._admin: AdminClient | None = None
        self.stack = Stack(
            settings.stack,
            settings.port_base,
            postgres_settings=_POSTGRES_SETTINGS,
            port_setting="FENCEPOST_BENCH_PORT_BASE",
            say=say,
        )

    def open(self) -> None:
        """Start from nothing: what an earlier run has left would be measured with this one."""
        self.settings.logs.mkdir(parents=True, exist_ok=True)
        self.stack.clean()
        self.stack.up(only_infrastructure=True)
        schema.migrate(self.stack.topology)

    def close(self) -> None:
        """Stop the stack and delete its data."""
        self._admin = None  # a client that is let go later would complain of a broker that is gone
        self.stack.clean()

    @property
    def kafka(self) -> str:
        """The broker's address."""
        return self.stack.topology.kafka_address

    def environment(self) -> dict[str, str]:
        """What every measured process starts from. It carries the stack's mark: whatever kills the bench, the stack's
        next cleaning ends what it has left running.
        """
        return {
            "PATH": os.defpath,
            "HOME": str(self.settings.state_dir),
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            STATE_MARK: str(self.stack.layout.state),
        }

    def log_of(self, process: str) -> Path:
        """Where a measured process writes."""
        return self.settings.logs / f"{process}.log"

    def superuser(self, database: str = "postgres") -> DatabaseAddress:
        """The server's superuser, in `database`."""
        password = (self.stack.layout.secrets / POSTGRES_PASSWORD).read_text(encoding="utf-8")
        return DatabaseAddress("127.0.0.1", self.stack.topology.ports["postgres"], database, "postgres", password)

    def order_app(self) -> DatabaseAddress:
        """The order service's own role in its own database."""
        password = (self.stack.layout.secrets / app_password("order")).read_text(encoding="utf-8")
        return DatabaseAddress("127.0.0.1", self.stack.topology.ports["postgres"], "order_db", "order_app", password)

    async def make_database(self, name: str) -> DatabaseAddress:
        """A database of a contestant's own, emptied, as superuser: what it costs can be told from the others' costs."""
        admin = await connect(self.superuser())
        try:
            await admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            await admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
        finally:
            await admin.close()
        return self.superuser(name)

    async def count_statements(self, database: str) -> float | None:
        """How many statements a client has sent in `database` so far; None when the server cannot count them."""
        admin = await connect(self.superuser())
        try:
            if not await admin.fetchval(
                "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'"
            ):
                return None
            await admin.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
            return float(await admin.fetchval(_STATEMENTS, database))
        finally:
            await admin.close()

    @property
    def broker_url(self) -> str:
        """Valkey's address for Celery, with the password."""
        return f"redis://:{self._broker_password}@127.0.0.1:{self.stack.topology.ports['valkey']}/0"

    async def empty_broker(self) -> None:
        """Have nothing in Valkey."""
        async with redis.asyncio.Redis(
            port=self.stack.topology.ports["valkey"], password=self._broker_password
        ) as client:
            await client.flushall()

    @property
    def _broker_password(self) -> str:
        return (self.stack.layout.secrets / REDIS_PASSWORD).read_text(encoding="utf-8")

    async def checkpoint(self) -> None:
        """Write out what was prepared, so that it is not written while something is measured."""
        admin = await connect(self.superuser())
        try:
            await admin.execute("CHECKPOINT")
        finally:
            await admin.close()

    def make_topic(self, partitions: int = PARTITIONS) -> str:
        """Make the topic of a publisher that nobody else has; returns the publisher's name."""
        source = f"bench-{uuid4().hex[:10]}"
        topic = NewTopic(topic_of(source), partitions, 1, config=_TOPIC_SETTINGS)
        self._kafka_admin().create_topics([topic], operation_timeout=15)[topic_of(source)].result()
        return source

    def drop_topic(self, source: str) -> None:
        """Delete what `make_topic` made."""
        self._kafka_admin().delete_topics([topic_of(source)])[topic_of(source)].result()

    def _kafka_admin(self) -> AdminClient:
        if self._admin is None:
            self._admin = AdminClient({"bootstrap.servers": self.kafka, "log_level": 3})
        return self._admin


async def connect(address: DatabaseAddress) -> Connection:
    """A plain connection, in autocommit."""
    return await asyncpg.connect(
        **address.driver_arguments(),
        timeout=20,
        command_timeout=600,
    )
