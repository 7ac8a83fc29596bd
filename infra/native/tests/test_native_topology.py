"""The topology names every process, tells each what it needs, and gives no two of them one port."""

import traceback
from pathlib import Path

import pytest

from native.credentials import make_secrets
from native.errors import StackError
from native.layout import Layout
from native.settings import StackSettings
from native.topology import EDGES, KINDS, SERVICES, STORES, Topology


def topology(state: Path, **replicas: int) -> Topology:
    named = {name.replace("_", "-"): count for name, count in replicas.items()}
    return Topology(Layout(state), 29400, StackSettings(_env_file=None), named)


def test_every_kind_of_every_service_is_a_process_of_its_own(tmp_path: Path) -> None:
    names = [process.name for process in topology(tmp_path).processes()]

    assert set(names) == {*STORES, *EDGES, *(f"{service}-{kind}" for service in SERVICES for kind in KINDS)}
    assert len(names) == len(set(names))


def test_stores_start_before_the_edges_and_those_before_the_services(tmp_path: Path) -> None:
    tiers = [process.tier for process in topology(tmp_path).processes()]

    assert tiers == sorted(tiers)


def test_no_two_ports_are_the_same_and_each_has_an_owner(tmp_path: Path) -> None:
    suite = topology(tmp_path)
    owned = [port for process in suite.processes() for port in suite.ports_of(process.name)]

    assert sorted(owned) == sorted(suite.ports.values())
    assert len(owned) == len(set(owned))


def test_every_process_without_http_writes_a_heartbeat_of_its_own(tmp_path: Path) -> None:
    processes = topology(tmp_path, order_relay=3).processes()
    beats = [
        p.env["HEALTH_FILE"] for p in processes if p.role.partition("-")[0] in SERVICES and "HTTP_PORT" not in p.env
    ]

    assert len(beats) == len(SERVICES) * (len(KINDS) - 1) + 2
    assert len(set(beats)) == len(beats)


def test_a_scaled_role_has_that_many_processes(tmp_path: Path) -> None:
    names = [process.name for process in topology(tmp_path, order_relay=3, payment_worker=0).processes()]

    assert [name for name in names if name.startswith("order-relay")] == [
        "order-relay",
        "order-relay-2",
        "order-relay-3",
    ]
    assert not [name for name in names if name.startswith("payment-worker")]


@pytest.mark.parametrize("role", ["order-api", "kafka", "order-rely"])
def test_what_cannot_be_scaled_is_refused_with_what_can(tmp_path: Path, role: str) -> None:
    with pytest.raises(StackError) as refused:
        topology(tmp_path, **{role: 2})

    assert role in str(refused.value)
    assert "order-relay" in refused.value.mend


def test_a_service_without_a_port_is_told_where_it_gets_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("native.topology.SERVICES", (*SERVICES, "shop"))
    with pytest.raises(StackError) as refused:
        topology(tmp_path)

    assert str(refused.value) == "shop-api has no port"
    assert "PORT_OFFSETS in infra/native/topology.py" in refused.value.mend
    assert "PORT_OFFSETS" in "".join(traceback.format_exception(refused.value)), "make lint catches nothing"


def test_no_environment_and_no_command_line_holds_a_secret(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "state")
    layout.make()
    make_secrets(layout.secrets, SERVICES)
    secrets = {path.read_text() for path in layout.secrets.iterdir()}

    for process in topology(tmp_path / "state").processes():
        told = [*process.argv, *process.env.values()]
        assert not [text for text in told if any(secret in text for secret in secrets)], process.name


def test_secrets_are_made_once_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    make_secrets(tmp_path, SERVICES)
    first = {path.name: path.read_text() for path in tmp_path.iterdir()}
    make_secrets(tmp_path, SERVICES)

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == first
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_settings_of_the_database_server_come_on_top_of_the_usual_ones(tmp_path: Path) -> None:
    more = {"wal_level": "logical"}
    suite = Topology(Layout(tmp_path), 29400, StackSettings(_env_file=None), postgres_settings=more)
    usual, changed = topology(tmp_path).postgres.process().argv, suite.postgres.process().argv

    assert [new for old, new in zip(usual, changed, strict=True) if old != new] == ["wal_level=logical"]


def test_an_operators_command_runs_as_the_service_does_and_not_as_the_owner_of_its_tables(tmp_path: Path) -> None:
    suite = topology(tmp_path)
    for service in SERVICES:
        env = suite.ops_env(service)
        assert (env["DATABASE_NAME"], env["DATABASE_USER"]) == (f"{service}_db", f"{service}_app")
        assert not [name for name in env if "OWNER" in name]
    with pytest.raises(StackError) as refused:
        suite.ops_env("shop")
    assert "order, payment, billing" in refused.value.mend


def test_services_look_for_a_server_at_its_detour_and_all_others_at_its_own_port(tmp_path: Path) -> None:
    detours = {"postgres": 29632, "kafka": 29692}
    topology = Topology(Layout(tmp_path), 29400, StackSettings(_env_file=None), detours=detours)
    environment = {process.name: process.env for process in topology.processes()}

    assert environment["order-relay"]["DATABASE_PORT"] == "29632"
    assert environment["order-relay"]["KAFKA_BOOTSTRAP_SERVERS"] == "127.0.0.1:29692"
    assert environment["order-relay"]["REDIS_PORT"] == str(topology.ports["valkey"])
    assert topology.kafka_address == f"127.0.0.1:{topology.ports['kafka']}"
    assert topology.ports["kafka-detour"] in topology.ports_of("kafka")
