"""What the stack tells the services is a production configuration that starts, with secrets that its script makes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from billing_service.settings import BillingSettings
from native.testing import command_or_skip
from native.topology import KINDS, SERVICES
from order_service.settings import OrderSettings
from payment_service.settings import PaymentSettings
from service_platform.settings import Environment
from stack.render import HERE
from topics.__main__ import kafka_security

SETTINGS = {"order": OrderSettings, "payment": PaymentSettings, "billing": BillingSettings}
GIVEN = {"card-provider-key": "sk_live_" + "0" * 24, "card-provider-webhook-secret": "whsec_" + "0" * 24}
DOCKER = """#!/bin/sh
[ "$2" = inspect ] && exec grep -qx "$3" "$FAKE_SWARM"
[ "$2" = create ] && echo "$3" >> "$FAKE_SWARM"
"""


class Manager:
    """A manager node: a folder of secrets, and a docker client that remembers the names of those that were made."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "secrets"
        self.folder.mkdir()
        self._swarm = home / "swarm"
        self._swarm.touch()
        (home / "docker").write_text(DOCKER)
        (home / "docker").chmod(0o755)
        self._path = f"{home}:/usr/bin:/bin"

    def make_secrets(self) -> subprocess.CompletedProcess[str]:
        command = ["bash", str(HERE / "secrets.sh"), str(self.folder)]
        environment = {"PATH": self._path, "FAKE_SWARM": str(self._swarm)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def secrets(self) -> list[str]:
        return self._swarm.read_text().split()


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Manager:
    command_or_skip("openssl")
    manager = Manager(tmp_path_factory.mktemp("manager"))
    for name, value in GIVEN.items():
        (manager.folder / name).write_text(value)
    assert manager.make_secrets().returncode == 0
    return manager


def test_the_script_makes_every_secret_of_the_stack_and_none_twice(manager: Manager, stack: dict[str, Any]) -> None:
    assert sorted(manager.secrets()) == sorted(secret["name"] for secret in stack["secrets"].values())
    before = {path.name: path.read_bytes() for path in manager.folder.iterdir()}
    again = manager.make_secrets()
    assert (again.returncode, "made the secret" in again.stdout) == (0, False)
    assert {path.name: path.read_bytes() for path in manager.folder.iterdir()} == before


def test_the_script_says_which_secret_only_a_person_has(tmp_path: Path) -> None:
    manager = Manager(tmp_path)
    refused = manager.make_secrets()
    assert (refused.returncode, manager.secrets()) == (1, [])
    assert "card-provider-key" in refused.stderr


@pytest.mark.parametrize("store", ["postgres", "kafka", "redis"])
def test_a_stores_certificate_is_for_its_name_and_by_the_stacks_authority(manager: Manager, store: str) -> None:
    command = ["openssl", "verify", "-CAfile", "ca.pem", "-verify_hostname", store, f"{store}.crt"]
    assert subprocess.run(command, cwd=manager.folder, capture_output=True, check=False).returncode == 0


@pytest.fixture
def told(stack: dict[str, Any], filled_in: dict[str, str], tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """The environment of a service's container. Its secrets are files here; what it does not mount is not there."""

    def environment_of(name: str) -> dict[str, str]:
        service = stack["services"][name]
        for entry in service["secrets"]:
            (tmp_path / entry).write_text(f"{entry}: long enough for a secret")
        return {
            variable: re.sub(r"\$\{(\w+)[^}]*\}", lambda match: filled_in[match[1]], text).replace(
                "/run/secrets", str(tmp_path)
            )
            for variable, text in service["environment"].items()
        }

    return environment_of


@pytest.mark.parametrize("kind", [*KINDS, "migrate"])
@pytest.mark.parametrize("service", SERVICES)
def test_each_process_starts_on_what_it_is_told(
    service: str, kind: str, told: Callable[[str], dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**told(f"{service}-{kind}"), "SERVICE_NAME": service}.items():
        monkeypatch.setenv(name, value)
    settings = SETTINGS[service]()
    assert settings.environment is Environment.PRODUCTION
    assert settings.rate_limit != "off"
    assert settings.database_address().sslmode == "verify-full"
    assert settings.kafka_security()["security.protocol"] == "SASL_SSL"
    assert settings.redis_url().startswith("rediss://")
    assert (settings.database_owner_password is not None) is (kind == "migrate")


def test_the_step_that_makes_topics_logs_in_as_the_services_do(told: Callable[[str], dict[str, str]]) -> None:
    of_topics, of_a_service = told("topics"), told("order-relay")
    names = {name for name in of_a_service if name.startswith("KAFKA_")}
    assert names == of_topics.keys()
    assert {name: of_topics[name] for name in names} == {name: of_a_service[name] for name in names}
    security = kafka_security(of_topics)
    assert (security["security.protocol"], security["sasl.mechanisms"]) == ("SASL_SSL", "PLAIN")


def test_kafka_lets_in_who_has_the_secret(manager: Manager, told: Callable[[str], dict[str, str]]) -> None:
    password = (manager.folder / "kafka-password").read_text()
    user = f'user_{told("topics")["KAFKA_SASL_USERNAME"]}="{password}"'
    assert user in (manager.folder / "kafka-jaas").read_text()
