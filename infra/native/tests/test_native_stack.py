"""The stores of a real stack: started once, brought back whatever is killed, and holding what they had."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator

import psutil
import pytest
import redis

from native.credentials import REDIS_PASSWORD, app_password
from native.stack import Stack
from native.topology import EDGES, STORES
from topics import TOPICS, create_topics
from world.waiting import eventually

RESTART_SECONDS = 30


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack(tmp_path_factory.mktemp("native") / "state", 27400)
    stack.clean()  # a killed run before may have used the same folder's name, and left its database elsewhere
    try:
        stack.up(only_infrastructure=True)
        yield stack
    finally:
        stack.clean()


def pids(stack: Stack) -> dict[str, int | None]:
    return {state.name: state.pid for state in stack.processes()}


def kill_and_wait_for_another(stack: Stack, name: str) -> None:
    killed = stack.pid(name)
    os.kill(killed, signal.SIGKILL)
    asyncio.run(
        eventually(
            lambda: pids(stack)[name],
            until=lambda pid: pid not in (None, killed),
            what=f"{name} is started again",
            within=RESTART_SECONDS,
        )
    )
    stack.wait_until_ready(name)


def sql(stack: Stack, statement: str, **environment: str) -> str:
    done = stack.topology.postgres.psql(["--command", statement], environment=environment)
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()


def as_app(stack: Stack, service: str, database: str) -> dict[str, str]:
    password = (stack.layout.secrets / app_password(service)).read_text()
    return {"PGUSER": f"{service}_app", "PGPASSWORD": password, "PGDATABASE": database}


def broker(stack: Stack) -> redis.Redis:
    password = (stack.layout.secrets / REDIS_PASSWORD).read_text()
    return redis.Redis(port=stack.topology.ports["valkey"], password=password)


def test_a_second_up_leaves_everything_as_it_is(stack: Stack) -> None:
    before = pids(stack)
    stack.up(only_infrastructure=True)

    assert pids(stack) == before
    assert {name for name, pid in before.items() if pid} == {*STORES, *EDGES}


def test_up_starts_anew_only_what_was_started_by_another_declaration(stack: Stack) -> None:
    before = pids(stack)
    record = stack.layout.records / "mail.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"launch": "of an older version"}))

    stack.up(only_infrastructure=True)

    after = pids(stack)
    assert {name for name in after if after[name] != before[name]} == {"mail"}


def test_a_killed_postgres_comes_back_with_what_was_committed(stack: Stack) -> None:
    sql(stack, "CREATE TABLE kept (n integer); INSERT INTO kept VALUES (1)")
    for expected in ("1", "1"):
        kill_and_wait_for_another(stack, "postgres")
        assert sql(stack, "SELECT n FROM kept") == expected


def test_a_killed_valkey_comes_back_with_what_it_had_written(stack: Stack) -> None:
    with broker(stack) as client:
        client.set("kept", "1")
    kill_and_wait_for_another(stack, "valkey")

    with broker(stack) as client:
        assert client.get("kept") == b"1"


def test_a_killed_kafka_comes_back_with_its_topics(stack: Stack) -> None:
    kill_and_wait_for_another(stack, "kafka")

    assert create_topics(stack.topology.kafka_address, TOPICS) == []


def test_valkey_evicts_nothing_and_appends_to_disk(stack: Stack) -> None:
    with broker(stack) as client:
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert client.config_get("appendonly") == {"appendonly": "yes"}
        assert client.config_get("appendfsync") == {"appendfsync": "everysec"}


def test_a_killed_supervisor_is_replaced_and_leaves_nothing_behind(stack: Stack) -> None:
    old = [psutil.Process(pid) for pid in pids(stack).values() if pid]
    supervisor = int((stack.layout.run / "supervisord.pid").read_text())
    os.kill(supervisor, signal.SIGKILL)

    stack.up(only_infrastructure=True)

    assert not [process for process in old if process.is_running()]
    assert all(pids(stack)[name] for name in STORES)


def test_an_app_role_changes_no_schema_and_enters_no_other_database(stack: Stack) -> None:
    assert sql(stack, "SELECT 1", **as_app(stack, "order", "order_db")) == "1"
    assert "permission denied" in sql(stack, "CREATE TABLE mine ()", **as_app(stack, "order", "order_db"))
    for database in ("payment_db", "postgres"):
        assert "permission denied" in sql(stack, "SELECT 1", **as_app(stack, "order", database))


def test_the_server_ends_what_an_app_role_leaves_open(stack: Stack) -> None:
    limits = "SELECT name || '=' || setting FROM pg_settings WHERE name LIKE '%timeout' AND setting <> '0' ORDER BY 1"
    seen = sql(stack, limits, **as_app(stack, "billing", "billing_db")).split()

    assert {
        "statement_timeout=10000",
        "lock_timeout=5000",
        "idle_in_transaction_session_timeout=10000",
        "transaction_timeout=15000",
    } <= set(seen)


def test_a_process_that_is_stopped_stays_down_until_it_is_started(stack: Stack) -> None:
    stack.stop("mail")
    assert pids(stack)["mail"] is None

    stack.start("mail")
    assert pids(stack)["mail"]
