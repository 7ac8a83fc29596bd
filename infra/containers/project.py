"""docker-compose.yaml as this machine runs it: its secrets, its ports, and the commands on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from native.credentials import STRIPE_API_KEY, STRIPE_WEBHOOK_SECRET, make_secrets
from native.errors import StackError
from native.layout import ROOT, Layout
from native.settings import StackSettings
from native.topology import KINDS, PORT_OFFSETS, SERVICES

# What a person opens from this machine; everything else is reached within the network of the project alone.
_PUBLISHED = {
    "order-api": "FENCEPOST_ORDER_PORT",
    "payment-api": "FENCEPOST_PAYMENT_PORT",
    "billing-api": "FENCEPOST_BILLING_PORT",
    "provider": "FENCEPOST_PROVIDER_PORT",
    "mail": "FENCEPOST_MAIL_PORT",
}


class Project:
    """The containers of one state folder. Everything that cannot go on raises StackError."""

    def __init__(self, settings: StackSettings) -> None:
        self.layout = Layout(settings.state_dir)
        self._settings = settings

    def ports(self) -> dict[str, int]:
        """The ports on this machine's loopback, by process."""
        return {name: self._settings.port_base + PORT_OFFSETS[name] for name in _PUBLISHED}

    def environment(self) -> dict[str, str]:
        """What docker-compose.yaml is filled in with."""
        ports = {_PUBLISHED[name]: str(port) for name, port in self.ports().items()}
        filled = {
            **ports,
            "FENCEPOST_STATE_DIR": str(self.layout.state),
            "FENCEPOST_LOG_LEVEL": self._settings.log_level,
            "FENCEPOST_WORKER_CONCURRENCY": str(self._settings.worker_concurrency),
        }
        if self._settings.stripe_api_base:
            filled["FENCEPOST_STRIPE_API_BASE"] = self._settings.stripe_api_base
        return filled

    def prepare(self) -> None:
        """Write the secrets that docker-compose.yaml names; those that are there stay."""
        self.layout.make()
        secrets = self.layout.secrets
        make_secrets(secrets, SERVICES)
        # Payment's own two: the real provider's when settings name them, else the double's.
        for name, given, of_the_double in (
            ("card-provider-key", self._settings.stripe_api_key_file, STRIPE_API_KEY),
            ("card-provider-webhook-secret", self._settings.stripe_webhook_secret_file, STRIPE_WEBHOOK_SECRET),
        ):
            (secrets / name).write_text(_read(given or secrets / of_the_double), encoding="utf-8")
        # A container's user is none of this machine's: the files are open to all, in a folder that only we may enter.
        for secret in secrets.iterdir():
            secret.chmod(0o644)

    def up(self, replicas: Mapping[str, int]) -> None:
        """Build what changed, start what is down, and wait until all is healthy."""
        self.prepare()
        scales = [word for role, count in replicas.items() for word in ("--scale", f"{role}={count}")]
        further = self._further_settings()
        self._run("up", "--build", "--detach", "--wait", "--remove-orphans", *scales, files=further)
        self.layout.runner.write_text("containers\n", encoding="utf-8")

    def down(self) -> None:
        """Stop and remove the containers; the volumes stay."""
        self._run("down", "--remove-orphans")

    def clean(self) -> None:
        """Delete containers, volumes and secrets."""
        self._run("down", "--volumes", "--remove-orphans")
        shutil.rmtree(self.layout.state, ignore_errors=True)

    def show(self) -> None:
        """Print the containers and how they are."""
        self._run("ps")

    def names(self) -> list[str]:
        """The services of docker-compose.yaml."""
        return self._output("config", "--services").split()

    def follow(self, names: Sequence[str]) -> None:
        """Print the logs of these services, all when there are none; does not return."""
        self._become("logs", "--follow", "--tail", "100", *names)

    def execute(self, name: str, argv: Sequence[str], *, terminal: Sequence[str]) -> None:
        """Become a command in the running container `name`; `terminal` are variables of this shell that go with it."""
        handed_on = [word for variable in terminal if variable in os.environ for word in ("--env", variable)]
        self._become("exec", *([] if os.isatty(0) else ["--no-TTY"]), *handed_on, name, *argv)

    def _further_settings(self) -> list[Path]:
        """A compose file of FENCEPOST_SERVICE_SETTINGS, when there are any: they win over what the services have."""
        if not self._settings.service_settings:
            return []
        literal = {name: value.replace("$", "$$") for name, value in self._settings.service_settings.items()}
        told = {"environment": literal}
        names = [f"{service}-{kind}" for service in SERVICES for kind in (*KINDS, "migrate")]
        file = self.layout.state / "further-settings.yaml"
        file.write_text(json.dumps({"services": dict.fromkeys(names, told)}, indent=2), encoding="utf-8")
        return [file]

    def _run(self, *words: str, files: Sequence[Path] = ()) -> None:
        done = subprocess.run(self._command(*words, files=files), cwd=ROOT, env=self._full_environment(), check=False)
        if done.returncode != 0:
            raise StackError(
                f"docker compose {words[0]} ended with {done.returncode}",
                "Its own message stands above; `make logs S=order-api` shows what a container says. "
                "FENCEPOST_RUNNER=native runs the suite without containers.",
            )

    def _output(self, *words: str) -> str:
        done = subprocess.run(
            self._command(*words), cwd=ROOT, env=self._full_environment(), capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise StackError(f"docker compose {words[0]}: {done.stderr.strip()}", "Is the Docker engine up?")
        return done.stdout

    def _become(self, *words: str) -> None:
        command = self._command(*words)
        os.chdir(ROOT)
        os.execvpe(command[0], command, self._full_environment())

    def _command(self, *words: str, files: Sequence[Path] = ()) -> list[str]:
        named = [word for file in (ROOT / "docker-compose.yaml", *files) for word in ("--file", str(file))]
        return ["docker", "compose", *named, *words]

    def _full_environment(self) -> dict[str, str]:
        return os.environ | self.environment()


def _read(secret: Path) -> str:
    try:
        return secret.read_text(encoding="utf-8")
    except OSError as error:
        raise StackError(f"{secret} cannot be read ({error.strerror})", "See .env.example.") from error
