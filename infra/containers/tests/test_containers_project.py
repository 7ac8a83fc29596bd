"""What the commands of the containers ask Docker for, and what they leave on this machine."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from native.layout import ROOT
from native.topology import KINDS, SERVICES

_RECORD = """#!{python}
import json, os, sys
with open(os.environ["RECORD"], "a") as file:
    kept = {{name: value for name, value in os.environ.items() if name.startswith("FENCEPOST_")}}
    file.write(json.dumps([sys.argv[1:], kept]) + "\\n")
if sys.argv[-1] == "--services":
    print("order-api order-relay kafka")
sys.exit(int(os.environ.get("EXIT", "0")))
"""
Call = tuple[list[str], dict[str, str]]


class Machine:
    """A machine whose `docker` writes down how it was called."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.state = folder / "state"
        docker = folder / "docker"
        docker.write_text(_RECORD.format(python=sys.executable))
        docker.chmod(0o755)

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """One command of the module."""
        settings = {
            "PATH": f"{self._folder}:{os.environ['PATH']}",
            "RECORD": str(self._folder / "calls"),
            "FENCEPOST_STATE_DIR": str(self.state),
            "FENCEPOST_PORT_BASE": "21500",
        }
        return subprocess.run(
            [sys.executable, "-m", "containers", *words],
            env=settings | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self) -> list[Call]:
        return [tuple(json.loads(line)) for line in (self._folder / "calls").read_text().splitlines()]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_up_builds_waits_and_publishes_where_the_port_base_says(machine: Machine) -> None:
    done = machine.run("up", "--no-journey", "--scale", "order-relay=3")
    assert done.returncode == 0, done.stderr
    ((words, environment),) = machine.calls()
    assert words[:3] == ["compose", "--file", str(ROOT / "docker-compose.yaml")]
    assert words[3:] == ["up", "--build", "--detach", "--wait", "--remove-orphans", "--scale", "order-relay=3"]
    assert (environment["FENCEPOST_ORDER_PORT"], environment["FENCEPOST_MAIL_PORT"]) == ("21501", "21520")


def test_secrets_are_open_to_a_containers_user_and_to_nobody_here(machine: Machine) -> None:
    machine.run("up", "--no-journey")
    secrets = machine.state / "secrets"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
    assert {stat.S_IMODE(secret.stat().st_mode) for secret in secrets.iterdir()} == {0o644}
    compose = yaml.safe_load((ROOT / "docker-compose.yaml").read_text())
    assert compose["secrets"].keys() <= {secret.name for secret in secrets.iterdir()}


def test_payment_has_the_keys_of_the_provider_that_settings_name_and_else_the_doubles(machine: Machine) -> None:
    key = machine.state.parent / "key"
    key.write_text("sk_test_of_a_real_account")
    secrets = machine.state / "secrets"
    machine.run("prepare", FENCEPOST_STRIPE_API_KEY_FILE=str(key))
    assert (secrets / "card-provider-key").read_text() == "sk_test_of_a_real_account"
    assert (secrets / "stripe-api-key").read_text() != "sk_test_of_a_real_account"
    assert (secrets / "card-provider-webhook-secret").read_text() == (secrets / "stripe-webhook-secret").read_text()
    machine.run("prepare")
    assert (secrets / "card-provider-key").read_text() == (secrets / "stripe-api-key").read_text()

    refused = machine.run("prepare", FENCEPOST_STRIPE_API_KEY_FILE=str(key.with_name("gone")))
    assert (refused.returncode, "gone cannot be read" in refused.stderr.replace("\n", "")) == (1, True)


def test_further_settings_reach_every_process_of_the_services(machine: Machine) -> None:
    machine.run("up", "--no-journey", FENCEPOST_SERVICE_SETTINGS='{"EVENT_RETRY_FIRST_SECONDS": "0.2", "NOTE": "a $b"}')
    ((words, _),) = machine.calls()
    assert words[:5] == ["compose", "--file", str(ROOT / "docker-compose.yaml"), "--file", words[4]]
    told = yaml.safe_load(Path(words[4]).read_text())["services"]
    assert told["payment-worker"]["environment"] == {"EVENT_RETRY_FIRST_SECONDS": "0.2", "NOTE": "a $$b"}
    assert told.keys() >= {f"{service}-{kind}" for service in SERVICES for kind in (*KINDS, "migrate")}


def test_a_second_up_keeps_the_secrets(machine: Machine) -> None:
    machine.run("up", "--no-journey")
    before = {secret.name: secret.read_text() for secret in (machine.state / "secrets").iterdir()}
    machine.run("up", "--no-journey")
    assert {secret.name: secret.read_text() for secret in (machine.state / "secrets").iterdir()} == before


def test_down_keeps_the_volumes_and_clean_deletes_them_with_the_secrets(machine: Machine) -> None:
    machine.run("up", "--no-journey")
    machine.run("down")
    assert machine.state.exists()
    machine.run("clean")
    assert not machine.state.exists()
    assert [words[3:] for words, _ in machine.calls()][1:] == [
        ["down", "--remove-orphans"],
        ["down", "--volumes", "--remove-orphans"],
    ]


def test_logs_of_a_service_are_those_of_all_its_processes(machine: Machine) -> None:
    machine.run("logs", "order")
    assert machine.calls()[-1][0][3:] == ["logs", "--follow", "--tail", "100", "order-api", "order-relay"]
    refused = machine.run("logs", "shipping")
    assert (refused.returncode, "There are: kafka, order-api, order-relay" in refused.stderr) == (1, True)


def test_an_operators_action_runs_in_the_services_own_container(machine: Machine) -> None:
    machine.run("ops", "billing", "outbox", "--json", LOGNAME="ada")
    words = machine.calls()[-1][0][3:]
    assert words == [
        *("exec", "--no-TTY", "--env", "LOGNAME", "billing-api"),
        *("python", "-m", "billing_service.main.ops", "outbox", "--json"),
    ]


def test_what_docker_refuses_ends_the_command_with_the_mend(machine: Machine) -> None:
    refused = machine.run("up", "--no-journey", EXIT="17")
    assert refused.returncode == 1
    assert "FENCEPOST_RUNNER=native" in refused.stderr


def test_every_process_of_every_service_is_in_the_compose_file() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yaml").read_text())["services"]
    for service in SERVICES:
        for kind in KINDS:
            assert services[f"{service}-{kind}"]["command"] == ["python", "-m", f"{service}_service.main.{kind}"]
