"""Each rule for deploying, with a violation planted as somebody in a hurry would make it."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from deploy_lint import (
    compose_breaches,
    compose_rules,
    dockerfile_breaches,
    dockerfile_rules,
    settings_breaches,
    settings_of,
)
from deploy_lint.connections import compose_connections, places
from native.layout import ROOT
from native.topology import SERVICES
from service_platform.settings import ServiceSettings

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yaml").read_text())
DOCKERFILES = {
    path: (ROOT / path).read_text()
    for path in ("infra/Dockerfile", "infra/db/Dockerfile", "services/order/Dockerfile", "services/payment/Dockerfile")
}
Services = dict[str, dict[str, Any]]


def after(plant: Callable[[Services], object]) -> list[str]:
    """What the rules say of the real compose file with one thing changed."""
    compose = copy.deepcopy(COMPOSE)
    plant(compose["services"])
    return [str(breach) for breach in compose_breaches(compose)]


COMPOSE_PLANTS: dict[str, tuple[Callable[[Services], object], str]] = {
    "images_are_pinned": (lambda s: s["kafka"].update(image="apache/kafka:latest"), "its image is apache/kafka:latest"),
    "own_images_are_built_once": (lambda s: s["order-api"].update(build="."), "built by order-migrate, order-api"),
    "the_database_is_our_own_image": (
        lambda s: s.update(reports=s["redis"] | {"image": "postgis/postgis:17@sha256:" + "0" * 64}),
        "Run fencepost/db",
    ),
    "ports_are_for_people_and_on_loopback": (
        lambda s: s["order-api"].update(ports=["18001:8000"]),
        "to every network of the machine",
    ),
    "secrets_come_as_files": (
        lambda s: s["payment-worker"]["environment"].update(STRIPE_API_KEY="sk_test_51"),
        "STRIPE_API_KEY_FILE: /run/secrets/",
    ),
    "stores_keep_their_data": (lambda s: s["redis"].pop("volumes"), "/data is on no named volume"),
    "stores_are_durable": (
        lambda s: s["postgres"].update(command=s["postgres"]["command"] + " -c fsync=off"),
        "loses commits",
    ),
    "every_process_is_there": (lambda s: s.pop("billing-scheduler"), "this kind of process does not run"),
    "processes_are_told_what_they_are_natively": (
        lambda s: s["payment-api"]["environment"].pop("STRIPE_WEBHOOK_SECRET_FILE"),
        "payment-api.STRIPE_WEBHOOK_SECRET_FILE: the native stack tells it this",
    ),
    "what_runs_on_is_watched": (lambda s: s["order-relay"].update(healthcheck={"disable": True}), "healthcheck is off"),
    "our_processes_are_confined": (lambda s: s["order-api"].update(read_only=False), "may write its image"),
    "connections_fit": (
        lambda s: s["payment-api"]["environment"].update(DATABASE_POOL_SIZE="30"),
        "open up to 203 connections, and it lets 197 in",
    ),
}
MORE_COMPOSE_PLANTS: list[tuple[Callable[[Services], object], str]] = [
    (lambda s: s["postgres"].update(ports=["127.0.0.1:5432:5432"]), "take the port away"),
    (
        lambda s: s["order-api"].update(environment=["DATABASE_URL=postgresql://order:pw@postgres/order_db"]),
        "plain text",
    ),
    (lambda s: s["kafka"].update(volumes=["./data:/var/lib/kafka/data"]), "no named volume"),
    (lambda s: s["redis"].update(deploy={"replicas": 2}), "destroy each other's data"),
    (lambda s: s["redis"].update(command="redis-server --appendonly yes"), "noeviction"),
    (lambda s: s["postgres"].update(command="postgres -c synchronous_commit=off"), "commits that were answered"),
    (lambda s: s["payment-relay"].update(command=["python", "-m", "payment_service.main.worker"]), "payment-relay"),
    (lambda s: s["order-api"]["environment"].update(DATABASE_POOL_SIZE="99"), "it is 99 here and 10"),
    (lambda s: s["order-migrate"]["environment"].update(TRACE="on"), "order-migrate.TRACE: the compose file tells it"),
    (lambda s: s["mail"].pop("mem_limit"), "no mem_limit"),
    (lambda s: s["kafka"].pop("restart"), "not started again"),
    (lambda s: s["order-worker"].pop("security_opt"), "gain privileges"),
    (lambda s: s["order-worker"].update(cap_drop=["NET_RAW"]), "keeps capabilities"),
    (lambda s: s["order-worker"]["environment"].update(WORKER_CONCURRENCY="4"), "open up to 199 connections"),
    (lambda s: s["postgres"].update(command="postgres"), "lets 97 in"),
    (lambda s: s["topics"].update(image="fencepost/tools"), "fencepost/tools: it is built by nobody"),
]


def test_the_compose_file_keeps_every_rule() -> None:
    assert after(lambda _: None) == []


def test_the_readme_says_what_memory_the_containers_may_take() -> None:
    mib = {"m": 1, "g": 1024}
    kept = [service["mem_limit"] for service in COMPOSE["services"].values() if service["restart"] != "no"]
    total = sum(int(limit[:-1]) * mib[limit[-1]] for limit in kept) / 1024
    for text in ("README.md", "docker-compose.yaml"):
        assert f"add up to {total:g} GiB" in (ROOT / text).read_text()


def test_the_readme_says_how_many_connections_the_containers_open() -> None:
    services = COMPOSE["services"]
    once, scaled = compose_connections(services), compose_connections(services, times=compose_rules.SCALED)
    assert f"{once} of the {places(services)} connections" in (ROOT / "README.md").read_text()
    assert f"at most {scaled}" in (ROOT / "README.md").read_text()


def test_every_rule_has_its_planted_violation() -> None:
    assert {rule.__name__ for rule in compose_rules.RULES} == COMPOSE_PLANTS.keys()
    assert {rule.__name__ for rule in dockerfile_rules.RULES} == DOCKERFILE_PLANTS.keys()


@pytest.mark.parametrize("rule", COMPOSE_PLANTS)
def test_a_planted_violation_is_caught_by_its_rule(rule: str) -> None:
    plant, said = COMPOSE_PLANTS[rule]
    compose = copy.deepcopy(COMPOSE)
    plant(compose["services"])
    caught = [str(breach) for breach in getattr(compose_rules, rule)(compose)]
    assert any(said in breach for breach in caught), caught


@pytest.mark.parametrize(("plant", "said"), MORE_COMPOSE_PLANTS, ids=[said for _, said in MORE_COMPOSE_PLANTS])
def test_other_ways_to_break_a_rule_are_caught_too(plant: Callable[[Services], object], said: str) -> None:
    caught = after(plant)
    assert any(said in breach for breach in caught), caught


def test_a_secret_in_the_compose_file_itself_is_caught() -> None:
    compose = copy.deepcopy(COMPOSE)
    compose["secrets"]["redis-password"] = {"environment": "REDIS_PASSWORD"}
    assert [breach.where for breach in compose_breaches(compose)] == ["secrets.redis-password"]


ORDER = "services/order/Dockerfile"
DOCKERFILE_PLANTS = {
    "bases_are_pinned": ("python:3.13.15-slim-trixie@sha256:", "python:3.13-slim # sha256:", "it begins from"),
    "it_does_not_run_as_root": ("USER 10001", "USER root", "run as root"),
    "it_says_how_it_is": ("HEALTHCHECK", "LABEL", "no HEALTHCHECK"),
    "no_build_tools_are_left": ("RUN useradd", "RUN apt-get install -y gcc && useradd", "gcc is in the finished image"),
    "packages_come_by_hash": ("--require-hashes --no-deps -r run.txt", "-r run.txt", "whatever the index gives"),
    "nothing_secret_is_baked_in": ("USER 10001", "ENV REDIS_PASSWORD=hunter2\nUSER 10001", "in the image for ever"),
}


def test_the_dockerfiles_keep_every_rule() -> None:
    assert dockerfile_breaches(DOCKERFILES) == []


@pytest.mark.parametrize("rule", DOCKERFILE_PLANTS)
def test_a_planted_violation_in_a_dockerfile_is_caught(rule: str) -> None:
    found, planted, said = DOCKERFILE_PLANTS[rule]
    assert found in DOCKERFILES[ORDER]
    file = dockerfile_rules.Dockerfile.read(ORDER, DOCKERFILES[ORDER].replace(found, planted))
    caught = [str(breach) for breach in getattr(dockerfile_rules, rule)(file)]
    assert any(said in breach for breach in caught), caught


def test_a_service_whose_image_is_made_in_another_way_is_caught() -> None:
    changed = DOCKERFILES | {ORDER: DOCKERFILES[ORDER].replace("WORKDIR /app", "WORKDIR /srv")}
    assert any("differs from its siblings" in str(breach) for breach in dockerfile_breaches(changed))


def test_settings_that_hold_a_secret_in_the_open_are_caught() -> None:
    class Careless(ServiceSettings):
        smtp_password: str
        webhook_secret: SecretStr = SecretStr("changeme-changeme")
        signing_key: SecretStr | None = None

    assert [breach.where for breach in settings_breaches([Careless])] == [
        "Careless.smtp_password",
        "Careless.webhook_secret",
    ]


def test_the_settings_of_every_service_are_checked_and_a_new_ones_are_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {settings.__module__ for settings in settings_of(ROOT)} == {f"{name}_service.settings" for name in SERVICES}
    package = tmp_path / "services" / "shop" / "src" / "shop_service"
    package.mkdir(parents=True)
    (package / "settings.py").write_text(
        "from service_platform.settings import ServiceSettings\n"
        "class ShopSettings(ServiceSettings):\n    api_token: str\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    assert [breach.where for breach in settings_breaches(settings_of(tmp_path))] == ["ShopSettings.api_token"]


def test_the_command_holds_on_this_checkout() -> None:
    done = subprocess.run([sys.executable, "-m", "deploy_lint"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
