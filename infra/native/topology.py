"""The whole stack in one place: which processes there are, on which ports, and what each is told.

Everything else (the supervisor's configuration, the readiness checks, the preflight, `make ps`) is derived from it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from . import credentials
from .errors import StackError
from .kafka import Kafka
from .layout import ROOT, Layout
from .leftovers import PROCESS_MARK, STATE_MARK
from .postgres import Postgres
from .probes import heartbeat, http_ready
from .process import Process, Tier
from .settings import StackSettings
from .valkey import Valkey

SERVICES = ("order", "payment", "billing")
KINDS = ("api", "relay", "consumer", "worker", "scheduler")
STORES = ("postgres", "valkey", "kafka")
EDGES = ("provider", "mail")

PORT_OFFSETS = {
    "order-api": 1,
    "payment-api": 2,
    "billing-api": 3,
    "provider": 10,
    "mail": 20,
    "mail-smtp": 25,
    "postgres": 32,
    "valkey": 79,
    "kafka": 92,
    "kafka-controller": 93,
    "kafka-detour": 94,
}
_SECOND_PORTS = {"mail-smtp": "mail", "kafka-controller": "kafka", "kafka-detour": "kafka"}

JWT_ISSUER = "https://fencepost.local/"
JWT_AUDIENCE = "fencepost"

_LOCK = ROOT / "requirements.lock"

# Connections a process keeps at most. All processes together stay far below the server's 200, also when scaled.
_POOL_SIZES = {"api": 10, "relay": 4, "consumer": 6, "worker": 4, "scheduler": 2}


class Topology:
    """What one stack consists of, for a state folder, a port base and a number of replicas a role.

    `detours` are the ports at which the services look for a server where that is not its own: those of a proxy that can
    cut and slow the connection. What comes that way to Kafka must be passed on to its port `kafka-detour`.

    Raises:
        StackError: an API has no port, or `replicas` asks for what cannot be.
    """

    def __init__(
        self,
        layout: Layout,
        port_base: int,
        settings: StackSettings,
        replicas: Mapping[str, int] | None = None,
        *,
        postgres_settings: Mapping[str, str] | None = None,
        detours: Mapping[str, int] | None = None,
    ) -> None:
        self.layout = layout
        self._settings = settings
        _check_ports()
        self.ports = {name: port_base + offset for name, offset in PORT_OFFSETS.items()}
        detours = dict(detours or {})
        self._reached_at = self.ports | detours
        self.replicas = dict(replicas or {})
        self._check_replicas()
        self.postgres = Postgres(layout, self.ports["postgres"], postgres_settings)
        self.valkey = Valkey(layout, self.ports["valkey"])
        detour = (self.ports["kafka-detour"], detours["kafka"]) if "kafka" in detours else None
        self.kafka = Kafka(layout, self.ports["kafka"], self.ports["kafka-controller"], detour)

    def processes(self) -> list[Process]:
        """Every process, in the order of starting."""
        stores = [self.postgres.process(), self.valkey.process(), self.kafka.process()]
        services = [
            self._service(service, kind, replica)
            for service in SERVICES
            for kind in KINDS
            for replica in range(1, self.replicas.get(f"{service}-{kind}", 1) + 1)
        ]
        return [self._marked(process) for process in [*stores, self._provider(), self._mail(), *services]]

    def ports_of(self, name: str) -> list[int]:
        """The ports that process `name` listens on."""
        return [port for key, port in self.ports.items() if _SECOND_PORTS.get(key, key) == name]

    @property
    def kafka_address(self) -> str:
        return f"127.0.0.1:{self.ports['kafka']}"

    def urls(self) -> dict[str, str]:
        """What a person can open, by process."""
        http = [f"{service}-api" for service in SERVICES] + ["provider", "mail"]
        return {name: f"http://127.0.0.1:{self.ports[name]}" for name in http}

    def migration_env(self, service: str) -> dict[str, str]:
        """The environment that `service` migrates in: its ordinary one and the owner's password."""
        return (
            self._base_env()
            | self._service_env(service, "migration")
            | {
                "DATABASE_OWNER_USER": f"{service}_owner",
                "DATABASE_OWNER_PASSWORD_FILE": self._secret(credentials.owner_password(service)),
            }
        )

    def ops_env(self, service: str) -> dict[str, str]:
        """The environment that an operator's command for `service` runs in.

        Raises:
            StackError: there is no such service.
        """
        if service not in SERVICES:
            raise StackError(f"there is no service {service!r}", f"There are: {', '.join(SERVICES)}.")
        return self._base_env() | self._service_env(service, "ops")

    def bootstrap_env(self) -> dict[str, str]:
        """The passwords that `infra/db/bootstrap.sql` gives to the roles."""
        env = {}
        for service in SERVICES:
            for role, secret in (("OWNER", credentials.owner_password), ("APP", credentials.app_password)):
                path = self.layout.secrets / secret(service)
                env[f"{service.upper()}_{role}_PASSWORD"] = path.read_text(encoding="utf-8")
        return env

    def _check_replicas(self) -> None:
        scalable = [f"{service}-{kind}" for service in SERVICES for kind in KINDS if kind != "api"]
        for role, count in self.replicas.items():
            if role not in scalable:
                raise StackError(
                    f"{role} cannot be scaled (an API has one port, and there is one of each store)",
                    f"These can: {', '.join(scalable)}.",
                )
            if count < 0:
                raise StackError(f"{role}={count} makes no sense", "Give a number from 0.")

    def _service(self, service: str, kind: str, replica: int) -> Process:
        role = f"{service}-{kind}"
        name = role if replica == 1 else f"{role}-{replica}"
        env = self._service_env(service, kind)
        if kind == "api":
            port = self.ports[role]
            env |= {"HTTP_HOST": "127.0.0.1", "HTTP_PORT": str(port)}
            probe = http_ready(f"http://127.0.0.1:{port}/health/ready")
        else:
            beat = self.layout.heartbeats / f"{name}.json"
            env |= {"HEALTH_FILE": str(beat)}
            probe = heartbeat(beat)
        return Process(
            name=name,
            role=role,
            tier=Tier.SERVICE,
            argv=_python(f"{service}_service.main.{kind}"),
            cwd=ROOT / "services" / service,
            probe=probe,
            env=env,
            sources=(ROOT / "services" / service / "src", ROOT / "platform" / "src", _LOCK),
            stop_seconds=45 if kind == "worker" else 30,
            stale_files=(Path(env["HEALTH_FILE"]),) if "HEALTH_FILE" in env else (),
        )

    def _service_env(self, service: str, kind: str) -> dict[str, str]:
        env = {
            "ENVIRONMENT": "development",
            "SERVICE_NAME": service,
            "LOG_LEVEL": self._settings.log_level,
            "DATABASE_HOST": "127.0.0.1",
            "DATABASE_PORT": str(self._reached_at["postgres"]),
            "DATABASE_NAME": f"{service}_db",
            "DATABASE_USER": f"{service}_app",
            "DATABASE_PASSWORD_FILE": self._secret(credentials.app_password(service)),
            "DATABASE_POOL_SIZE": str(_POOL_SIZES.get(kind, 2)),
            "KAFKA_BOOTSTRAP_SERVERS": f"127.0.0.1:{self._reached_at['kafka']}",
            "REDIS_HOST": "127.0.0.1",
            "REDIS_PORT": str(self._reached_at["valkey"]),
            "REDIS_PASSWORD_FILE": self._secret(credentials.REDIS_PASSWORD),
            "JWT_ISSUER": JWT_ISSUER,
            "JWT_AUDIENCE": JWT_AUDIENCE,
            "RATE_LIMIT": "off",  # one machine plays all customers, and measures
            "JWT_JWKS_URL": (self.layout.secrets / credentials.JWKS).as_uri(),
            "WORKER_CONCURRENCY": str(self._settings.worker_concurrency),
        }
        if service == "payment":
            key = self._settings.stripe_api_key_file
            env["STRIPE_API_BASE"] = self._settings.stripe_api_base or self._reached_url("provider")
            env["STRIPE_API_KEY_FILE"] = str(key) if key else self._secret(credentials.STRIPE_API_KEY)
            endpoint_secret = self._settings.stripe_webhook_secret_file
            env["STRIPE_WEBHOOK_SECRET_FILE"] = (
                str(endpoint_secret) if endpoint_secret else self._secret(credentials.STRIPE_WEBHOOK_SECRET)
            )
        if service == "billing":
            env["SMTP_HOST"] = "127.0.0.1"
            env["SMTP_PORT"] = str(self._reached_at["mail-smtp"])
            env["MAILBOX_API_URL"] = self._reached_url("mail")
            env["MAIL_FROM"] = "Fencepost <billing@fencepost.example>"
        return env | self._settings.service_settings

    def _reached_url(self, name: str) -> str:
        return f"http://127.0.0.1:{self._reached_at[name]}"

    def _provider(self) -> Process:
        port = self.ports["provider"]
        return Process(
            name="provider",
            role="provider",
            tier=Tier.EDGE,
            argv=_python("provider_double"),
            sources=(ROOT / "infra" / "provider_double", _LOCK),
            cwd=self.layout.state,
            probe=http_ready(f"http://127.0.0.1:{port}/health/ready"),
            env={
                "PROVIDER_HOST": "127.0.0.1",
                "PROVIDER_PORT": str(port),
                "PROVIDER_STATE_DIR": str(self.layout.state / "provider"),
                "PROVIDER_API_KEY_FILE": self._secret(credentials.STRIPE_API_KEY),
                "PROVIDER_WEBHOOK_URL": f"{self.urls()['payment-api']}/webhooks/card-provider",
                "PROVIDER_WEBHOOK_SECRET_FILE": self._secret(credentials.STRIPE_WEBHOOK_SECRET),
            },
        )

    def _mail(self) -> Process:
        http_port, smtp_port = self.ports["mail"], self.ports["mail-smtp"]
        return Process(
            name="mail",
            role="mail",
            tier=Tier.EDGE,
            argv=_python("mail_catcher"),
            sources=(ROOT / "infra" / "mail_catcher", _LOCK),
            cwd=self.layout.state,
            probe=http_ready(f"http://127.0.0.1:{http_port}/health/ready"),
            env={
                "MAIL_HOST": "127.0.0.1",
                "MAIL_HTTP_PORT": str(http_port),
                "MAIL_SMTP_PORT": str(smtp_port),
                "MAIL_STATE_DIR": str(self.layout.state / "mail"),
            },
        )

    def _marked(self, process: Process) -> Process:
        marks = {STATE_MARK: str(self.layout.state), PROCESS_MARK: process.name}
        return replace(process, env=self._base_env() | marks | dict(process.env))

    def _base_env(self) -> dict[str, str]:
        # Nothing of the caller's shell: the same stack is the same from whichever it is started.
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"
        home = str(self.layout.state)
        return {"PATH": path, "HOME": home, "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONUNBUFFERED": "1"}

    def _secret(self, name: str) -> str:
        return str(self.layout.secrets / name)


def _check_ports() -> None:
    for api in (f"{service}-api" for service in SERVICES):
        if api not in PORT_OFFSETS:
            raise StackError(
                f"{api} has no port", "Give it an offset that no other has: PORT_OFFSETS in infra/native/topology.py."
            )


def _python(module: str) -> tuple[str, ...]:
    return (sys.executable, "-m", module)
