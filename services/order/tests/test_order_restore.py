"""A backup of the order service's database is worth something: restored into a fresh server, it goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import orjson
import pytest
from confluent_kafka import Consumer, TopicPartition
from order_lab import placed, shown
from tenacity import AsyncRetrying, retry_if_result, stop_after_delay, wait_fixed

from native.credentials import app_password
from native.postgres import Postgres
from native.stack import Stack
from order_service.domain.orders import EXPIRE_ORDERS, ExpireOrdersPayload
from service_platform.database import Database, DatabaseAddress
from topics import TOPICS

TOPIC = "events.order"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Servers that have just been set up: roles and empty databases, topics, no tables and no secrets of old."""
    stack = Stack(tmp_path_factory.mktemp("restored") / "state", 27700)
    stack.clean()
    try:
        stack.up(only_infrastructure=True)
        yield stack
    finally:
        stack.clean()


@pytest.fixture
async def restored(fresh: Stack) -> AsyncIterator[Database]:
    """The order service's database there."""
    password = (fresh.layout.secrets / app_password("order")).read_text()
    address = DatabaseAddress("127.0.0.1", fresh.topology.ports["postgres"], "order_db", "order_app", password)
    database = Database(address, application_name="test", pool_size=2)
    yield database
    await database.close()


async def test_unsent_events_leave_and_pending_jobs_run_from_a_restored_database(
    service_databases: Any, fresh: Stack, restored: Database, tmp_path: Path
) -> None:
    backup = tmp_path / "order.dump"
    async with service_databases.migrated("order") as made, made.opened() as database:
        order = await placed(database)
        async with database.transaction() as tx:
            job_id = await EXPIRE_ORDERS.enqueue(ExpireOrdersPayload(), tx, key="expire:by-hand")
        dump = ["--format=custom", f"--file={backup}", made.app.name]
        done(service_databases.postgres, "pg_dump", dump)
        owner = {"PGUSER": made.owner.user, "PGPASSWORD": made.owner.password}
        refused = service_databases.postgres.client("pg_dump", [made.app.name], environment=owner)
        assert "row-level security" in refused.stderr, "a dump by anybody else would lack rows"

    done(
        fresh.topology.postgres,
        "pg_restore",
        ["--dbname=order_db", "--exit-on-error", "--single-transaction", str(backup)],
    )
    assert await shown(restored, order.id) == order
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with restored.autocommit() as connection:
            await connection.execute("UPDATE job SET status = 'done'")  # rights came with the dump

    fresh.start("order-relay")
    fresh.start("order-worker")

    async def status() -> str:
        async with restored.autocommit() as connection:
            return str(await connection.fetchval("SELECT status FROM job WHERE id = $1", job_id))

    assert await until(status, lambda status: status == "done") == "done"
    assert [message["order_id"] for message in sent(fresh)] == [str(order.id)]

    another = await placed(restored)
    assert (await shown(restored, another.id)).status == "pending_payment", "numbers go on where they were"


def done(postgres: Postgres, program: str, arguments: list[str]) -> None:
    """Run a client program, which must succeed."""
    ended = postgres.client(program, arguments)
    assert ended.returncode == 0, ended.stderr


async def until(ask: Callable[[], Awaitable[str]], fits: Callable[[str], bool], *, within: float = 60) -> str:
    """The first answer that fits, or the last one when none did in time."""
    patience = AsyncRetrying(
        retry=retry_if_result(lambda answer: not fits(answer)),
        wait=wait_fixed(0.1),
        stop=stop_after_delay(within),
        retry_error_callback=lambda attempt: attempt.outcome and attempt.outcome.result(),
    )
    return str(await patience(ask))


def sent(stack: Stack) -> list[dict[str, Any]]:
    """What is in the order service's topic, once the relay is idle: it sends in the order of the outbox."""
    consumer = Consumer(
        {"bootstrap.servers": stack.topology.kafka_address, "group.id": "onlooker", "enable.auto.commit": False}
    )
    partitions = next(topic.partitions for topic in TOPICS if topic.name == TOPIC)
    consumer.assign([TopicPartition(TOPIC, number, 0) for number in range(partitions)])
    try:
        first = consumer.poll(30)
        assert first is not None, f"nothing came to {TOPIC} in 30 s"
        messages = [first, *consumer.consume(100, timeout=1)]
    finally:
        consumer.close()
    return [orjson.loads(message.value() or b"") for message in messages]
