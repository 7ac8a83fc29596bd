"""What holds for the stack file, as `python -m stack` renders it from what is committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from native.topology import EDGES, KINDS, SERVICES
from rules import Breach
from stack import Lock
from stack.dialect import LEFT_OUT, TRANSLATED

from .compose_rules import every_process_is_there, secrets_come_as_files, stores_are_durable, stores_keep_their_data
from .connections import stack_connections, too_many
from .environment import environment_of
from .images import PIN_MEND, is_pinned

Stack = Mapping[str, Any]
Rule = Callable[[Stack, Lock], Iterator[Breach]]

INGRESS: Final = "ingress"
STORES: Final = ("postgres", "kafka", "redis")
OF_OTHERS: Final = ("kafka", "redis", INGRESS)
"""Whose images the project does not build."""

JOBS: Final = frozenset({"bootstrap", "topics", *(f"{service}-migrate" for service in SERVICES)})

_DECIDED: Final = {
    "ENVIRONMENT": "production",
    "DATABASE_SSLMODE": "verify-full",
    "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
    "REDIS_TLS": "true",
}


def stack_breaches(stack: Stack, lock: Lock) -> list[Breach]:
    """Every broken rule of a rendered stack."""
    return [breach for rule in RULES for breach in rule(stack, lock)]


def images_are_ours_by_digest_or_pinned(stack: Stack, lock: Lock) -> Iterator[Breach]:
    for name, service in stack["services"].items():
        image = str(service.get("image", ""))
        if name in OF_OTHERS:
            if not is_pinned(image):
                yield Breach(name, f"its image is {image or 'not named'}", PIN_MEND)
        elif image not in lock.images.values():
            yield Breach(
                name, f"it runs {image}, which is not in images.lock.yaml", "Let it name fencepost/..., or OF_OTHERS."
            )


def the_lock_has_the_images_of_the_stack(stack: Stack, lock: Lock) -> Iterator[Breach]:
    used = {service.get("image") for service in stack["services"].values()}
    for name, reference in lock.images.items():
        if reference not in used:
            yield Breach(f"images.lock.yaml {name}", "no service of the stack runs it", "Take the line away.")


def only_the_ingress_publishes(stack: Stack, _lock: Lock) -> Iterator[Breach]:
    for name, service in stack["services"].items():
        for port in service.get("ports", []):
            if name != INGRESS:
                yield Breach(
                    name, f"it publishes {port} on every node", "Route it in infra/stack/Caddyfile, or not at all."
                )
            elif not isinstance(port, Mapping) or not isinstance(port.get("published"), int):
                yield Breach(name, f"it publishes {port}", "Write {target: 443, published: 443}: Swarm wants numbers.")
    if not stack["services"].get(INGRESS, {}).get("ports"):
        yield Breach(INGRESS, "nobody can reach the stack", "Publish 80 and 443.")


def secrets_are_swarms(stack: Stack, _lock: Lock) -> Iterator[Breach]:
    yield from secrets_come_as_files(stack)
    for name, secret in stack["secrets"].items():
        if secret.get("external") is not True or "file" in secret:
            yield Breach(
                f"secrets.{name}", "it is read from a file at deploying", "Make it external: infra/stack/secrets.sh."
            )


def every_kind_runs(stack: Stack, _lock: Lock) -> Iterator[Breach]:
    yield from every_process_is_there(stack)
    for name in sorted({*STORES, *JOBS, INGRESS} - stack["services"].keys()):
        yield Breach(name, "it is not in the stack", "The overlay takes it away: let it stay.")


def stores_stay_where_their_data_are(stack: Stack, _lock: Lock) -> Iterator[Breach]:
    yield from stores_keep_their_data(stack)
    yield from stores_are_durable(stack)
    for name in STORES:
        deploy = stack["services"].get(name, {}).get("deploy", {})
        constraints = deploy.get("placement", {}).get("constraints", [])
        if not any(constraint.startswith("node.labels.") for constraint in constraints):
            yield Breach(name, "it may start on any node", "Constrain it to a node's label: its volume is on one node.")
        if deploy.get("replicas") != 1:
            yield Breach(name, "it does not say replicas: 1", "Two of it destroy each other's data: say replicas: 1.")
        if deploy.get("update_config", {}).get("order") != "stop-first":
            yield Breach(name, "its successor may start beside it", "Give it update_config with order: stop-first.")
        if deploy.get("endpoint_mode") != "dnsrr":
            yield Breach(name, "a virtual address forgets idle connections", "Give it endpoint_mode: dnsrr.")


def updates_keep_serving(stack: Stack, _lock: Lock) -> Iterator[Breach]:
    wanted = {"parallelism": 1, "order": "start-first", "failure_action": "rollback"}
    for name in (INGRESS, *(f"{service}-{kind}" for service in SERVICES for kind in KINDS)):
        deploy = stack["services"].get(name, {}).get("deploy", {})
        update = deploy.get("update_config", {})
        if any(update.get(key) != value for key, value in wanted.items()):
            yield Breach(name, "an update stops all of it, or stays when it fails", f"Give it update_config {wanted}.")
        if deploy.get("rollback_config", {}).get("order") != "start-first":
            yield Breach(name, "a rollback stops it before there is another", "Give its rollback_config start-first.")
        if name != INGRESS and int(deploy.get("replicas", 0)) < 2:
            yield Breach(name, "one of it is none while its node is away", "Give it replicas: 2 or more.")


def steps_run_once_a_deploy(stack: Stack, _lock: Lock) -> Iterator[Breach]:
    for name in sorted(JOBS & stack["services"].keys()):
        deploy = stack["services"][name].get("deploy", {})
        if deploy.get("mode") != "replicated-job":
            yield Breach(name, "it would be started again for ever", "Give it deploy.mode: replicated-job.")
        elif "update_config" in deploy or deploy.get("restart_policy", {}).get("condition") != "on-failure":
            yield Breach(
                name,
                "it is refused by Swarm, or not tried again",
                "A job has restart_policy on-failure, no update_config.",
            )


def nothing_is_of_development(stack: Stack, _lock: Lock) -> Iterator[Breach]:
    for name in EDGES:
        if name in stack["services"]:
            yield Breach(
                name, "a double of the outside world", "Take it away in the overlay; settings say the real address."
            )
    for service in SERVICES:
        for kind in (*KINDS, "migrate"):
            name = f"{service}-{kind}"
            told = environment_of(stack["services"].get(name, {}))
            for key, value in _DECIDED.items():
                if told.get(key) != value:
                    yield Breach(f"{name}.{key}", f"it is {told.get(key, 'not set')}", f"In a stack it is {value}.")
            for key, value in told.items():
                if value == "off" or "fencepost.local" in value or any(f"//{edge}:" in value for edge in EDGES):
                    yield Breach(
                        f"{name}.{key}", f"{value} is for development", "Give it its real value in the overlay."
                    )
                if key.endswith("_HOST") and value in EDGES:
                    yield Breach(f"{name}.{key}", f"{value} is a double", "Make it a setting: ${NAME:?what it is}.")


def swarm_knows_every_word(stack: Stack, _lock: Lock) -> Iterator[Breach]:
    for name, service in stack["services"].items():
        for key in sorted(service.keys() & ((TRANSLATED | LEFT_OUT.keys()) - {"ports"})):
            yield Breach(
                name, f"`docker stack deploy` refuses or leaves out {key}", "infra/stack/dialect.py has its words."
            )


def everything_is_bounded(stack: Stack, _lock: Lock) -> Iterator[Breach]:
    for name, service in stack["services"].items():
        deploy = service.get("deploy", {})
        if "memory" not in deploy.get("resources", {}).get("limits", {}):
            yield Breach(name, "it has no memory limit", "Give it deploy.resources.limits.memory.")
        if name not in STORES and (not service.get("read_only") or service.get("cap_drop") != ["ALL"]):
            yield Breach(name, "it may write its image or keeps capabilities", "Give it read_only and cap_drop: [ALL].")
        if service.get("healthcheck", {}).get("disable") and name not in JOBS:
            yield Breach(name, "its healthcheck is off", "An update takes what merely started for healthy: let it run.")


def connections_fit_while_updating(stack: Stack, _lock: Lock) -> Iterator[Breach]:
    yield from too_many(stack_connections(stack["services"]), stack["services"], "while all is updated at once,")


RULES: Final[tuple[Rule, ...]] = (
    images_are_ours_by_digest_or_pinned,
    the_lock_has_the_images_of_the_stack,
    only_the_ingress_publishes,
    secrets_are_swarms,
    every_kind_runs,
    stores_stay_where_their_data_are,
    updates_keep_serving,
    steps_run_once_a_deploy,
    nothing_is_of_development,
    swarm_knows_every_word,
    everything_is_bounded,
    connections_fit_while_updating,
)
