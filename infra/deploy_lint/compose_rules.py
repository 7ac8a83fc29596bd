"""What holds for docker-compose.yaml."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from native.topology import KINDS, SERVICES
from rules import Breach

from .connections import compose_connections, too_many
from .environment import environment_of
from .images import DATABASE, PIN_MEND, is_foreign_database, is_own, is_pinned
from .native_rules import processes_are_told_what_they_are_natively

Compose = Mapping[str, Any]
Rule = Callable[[Compose], Iterator[Breach]]

PUBLISHED: Final = frozenset({"order-api", "payment-api", "billing-api", "provider", "mail"})
"""What a person opens from this machine."""

STORES: Final = {"postgres": "/var/lib/postgresql/data", "kafka": "/var/lib/kafka/data", "redis": "/data"}
"""Each store and where its data lies."""

SCALED: Final = 2
"""So many of each process but the APIs must fit into the database server at once."""

_SECRET_NAME = re.compile(r"(PASSWORD|SECRET|TOKEN|API_KEY|PRIVATE_KEY)$")
_ADDRESS_WITH_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]+@")
_DURABLE = {
    "fsync=off": "a crash of the machine then loses commits",
    "synchronous_commit=off": "a crash of the server then loses commits that were answered",
    "full_page_writes=off": "a torn page then damages the database",
}


def compose_breaches(compose: Compose) -> list[Breach]:
    """Every broken rule of a parsed compose file."""
    return [breach for rule in RULES for breach in rule(compose)]


def images_are_pinned(compose: Compose) -> Iterator[Breach]:
    for name, service in _services(compose):
        image = str(service.get("image", ""))
        if not is_own(image) and not is_pinned(image):
            yield Breach(name, f"its image is {image or 'not named'}", PIN_MEND)


def own_images_are_built_once(compose: Compose) -> Iterator[Breach]:
    builders: dict[str, list[str]] = {}
    for name, service in _services(compose):
        if is_own(image := str(service.get("image", ""))):
            builders.setdefault(image, [])
            if "build" in service:
                builders[image].append(name)
    for image, names in builders.items():
        if len(names) != 1:
            yield Breach(
                image,
                f"it is built by {', '.join(names) or 'nobody'}",
                "Let one service build it and all others name it.",
            )


def the_database_is_our_own_image(compose: Compose) -> Iterator[Breach]:
    for name, service in _services(compose):
        if is_foreign_database(image := str(service.get("image", ""))):
            yield Breach(
                name, f"it runs {image}", f"Run {DATABASE}, which has the extensions and the bootstrap (infra/db)."
            )


def ports_are_for_people_and_on_loopback(compose: Compose) -> Iterator[Breach]:
    for name, service in _services(compose):
        for port in service.get("ports", []):
            if name not in PUBLISHED:
                yield Breach(
                    name,
                    f"it publishes {port}",
                    "Containers reach it by its name; take the port away, or add it to PUBLISHED.",
                )
            elif not str(port).startswith("127.0.0.1:"):
                yield Breach(
                    name,
                    f"it publishes {port} to every network of the machine",
                    'Begin it with the loopback address: "127.0.0.1:18001:8000".',
                )


def secrets_come_as_files(compose: Compose) -> Iterator[Breach]:
    for name, service in _services(compose):
        for variable, value in environment_of(service).items():
            if _SECRET_NAME.search(variable) or _ADDRESS_WITH_PASSWORD.search(value):
                yield Breach(
                    f"{name}.{variable}",
                    "a secret in plain text, readable by who may inspect the container",
                    f"Declare it under secrets: and name its file: {variable}_FILE: /run/secrets/...",
                )
    for name, secret in compose.get("secrets", {}).items():
        if "file" not in secret and not secret.get("external"):
            yield Breach(f"secrets.{name}", "its value is not in a file", "Give file:, or external: true in a stack.")


def stores_keep_their_data(compose: Compose) -> Iterator[Breach]:
    volumes = compose.get("volumes") or {}
    for name, folder in STORES.items():
        service = compose["services"].get(name, {})
        mounts = [str(mount).split(":") for mount in service.get("volumes", [])]
        if not any(mount[0] in volumes and mount[1:2] == [folder] for mount in mounts):
            yield Breach(name, f"{folder} is on no named volume", "Without one, its data go with the container.")
        if int(service.get("deploy", {}).get("replicas", 1)) > 1 or int(service.get("scale", 1)) > 1:
            yield Breach(name, "it has replicas", "Two of it on one volume destroy each other's data.")


def stores_are_durable(compose: Compose) -> Iterator[Breach]:
    text = _command(compose["services"].get("postgres", {}))
    for setting, consequence in _DURABLE.items():
        if setting in text.replace(" ", ""):
            yield Breach("postgres", f"{setting}: {consequence}", "Leave it on: every guarantee stands on it.")
    text = _command(compose["services"].get("redis", {}))
    for wanted, consequence in {
        "appendonly yes": "a restart forgets all jobs' hints",
        "maxmemory-policy noeviction": "a full server throws hints away without a word",
    }.items():
        if wanted not in text:
            yield Breach("redis", f"it lacks `{wanted}`: {consequence}", f"Put `{wanted}` into its configuration.")


def every_process_is_there(compose: Compose) -> Iterator[Breach]:
    for service in SERVICES:
        for kind in KINDS:
            wanted = ["python", "-m", f"{service}_service.main.{kind}"]
            if compose["services"].get(f"{service}-{kind}", {}).get("command") != wanted:
                yield Breach(
                    f"{service}-{kind}",
                    "this kind of process does not run",
                    f"Add the service with command: [{', '.join(wanted)}].",
                )


def what_runs_on_is_watched(compose: Compose) -> Iterator[Breach]:
    for name, service in _services(compose):
        if "mem_limit" not in service:
            yield Breach(name, "it has no mem_limit", "One leak then takes the whole machine down: give it a limit.")
        if _is_one_shot(service):
            continue
        if service.get("healthcheck", {}).get("disable"):
            yield Breach(name, "its healthcheck is off", "Nobody would see that it hangs: let the image's check run.")
        if service.get("restart") != "unless-stopped":
            yield Breach(name, "it is not started again after a crash", "Give it restart: unless-stopped.")


def our_processes_are_confined(compose: Compose) -> Iterator[Breach]:
    for name, service in _services(compose):
        if not is_own(str(service.get("image", ""))) or name == "postgres":
            continue
        if not service.get("read_only") or service.get("cap_drop") != ["ALL"]:
            yield Breach(
                name, "it may write its image or keeps capabilities", "Give it read_only: true and cap_drop: [ALL]."
            )
        if "no-new-privileges:true" not in service.get("security_opt", []):
            yield Breach(name, "it may gain privileges", 'Give it security_opt: ["no-new-privileges:true"].')


def connections_fit(compose: Compose) -> Iterator[Breach]:
    """Also with SCALED of everything that `make up SCALE=` can multiply: README.md says so."""
    services = compose["services"]
    opened = compose_connections(services, times=SCALED)
    yield from too_many(opened, services, f"scaled to {SCALED} of each,")


RULES: Final[tuple[Rule, ...]] = (
    images_are_pinned,
    own_images_are_built_once,
    the_database_is_our_own_image,
    ports_are_for_people_and_on_loopback,
    secrets_come_as_files,
    stores_keep_their_data,
    stores_are_durable,
    every_process_is_there,
    processes_are_told_what_they_are_natively,
    what_runs_on_is_watched,
    our_processes_are_confined,
    connections_fit,
)


def _services(compose: Compose) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from compose["services"].items()


def _command(service: Mapping[str, Any]) -> str:
    command = service.get("command", "")
    return command if isinstance(command, str) else " ".join(map(str, command))


def _is_one_shot(service: Mapping[str, Any]) -> bool:
    return service.get("restart") == "no"
