"""The stack file: docker-compose.yaml translated, overlays on top, own images by the lock's digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from native.errors import StackError
from native.layout import ROOT

from .dialect import to_swarm
from .images import Lock
from .overlay import laid_over, services_with

OWN: Final = "fencepost/"
HERE: Final = ROOT / "infra" / "stack"
LOCK: Final = HERE / "images.lock.yaml"
OVERLAY: Final = HERE / "overlay.yaml"
INGRESS: Final = HERE / "Caddyfile"

_SECRETS_BEGIN_WITH = "fencepost-"


def render_stack(
    lock: Lock, *, compose: Mapping[str, Any] | None = None, overlays: Sequence[Path] = (OVERLAY,)
) -> dict[str, Any]:
    """The stack, complete but for the `${SETTINGS}` that `docker stack deploy` fills in.

    Raises:
        StackError: the parts do not fit each other.
    """
    compose = compose or _read(ROOT / "docker-compose.yaml")
    services: dict[str, Any] = {name: to_swarm(name, service) for name, service in compose["services"].items()}
    top: dict[str, Any] = {"volumes": compose.get("volumes", {})}
    for overlay in map(_read, overlays):
        services = services_with(services, overlay.get("services", {}))
        top = laid_over(top, {key: value for key, value in overlay.items() if key[:2] != "x-" and key != "services"})
    for service in services.values():
        if service["image"].startswith(OWN):
            service["image"] = lock.reference(service["image"])
    return {
        "services": services,
        "networks": top.get("networks", {}),
        "volumes": {name: (top["volumes"].get(name) or {}) for name in sorted(_named_volumes(services))},
        "configs": {"caddyfile": {"name": f"fencepost-caddyfile-{_digest(INGRESS)}", "file": "./Caddyfile"}},
        "secrets": _external(services, top.get("secrets", {})),
    }


def first_part(stack: Mapping[str, Any]) -> dict[str, Any]:
    """What has to be through before a new release's processes start: the stores and the one-shot steps."""
    services = {name: service for name, service in stack["services"].items() if _comes_first(service)}
    return {**stack, "services": services}


def as_text(stack: Mapping[str, Any]) -> str:
    """The file that `docker stack deploy -c` reads."""
    text: str = yaml.dump({"version": "3.13", **stack}, Dumper=_NoAliases, sort_keys=False, width=120)
    return text


class _NoAliases(yaml.SafeDumper):
    """Says things twice instead of naming them: the file is read by people."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _read(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StackError(f"{path} cannot be read ({error.strerror})", "Name a file that is there.") from error


def _digest(path: Path) -> str:
    # A config of Swarm never changes: another text is another config, and its service is updated to it.
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _comes_first(service: Mapping[str, Any]) -> bool:
    deploy = service["deploy"]
    return "replicated-job" in deploy.get("mode", "") or "stop-first" in deploy.get("update_config", {}).get(
        "order", ""
    )


def _source(entry: Any) -> str:
    return str(entry["source"] if isinstance(entry, Mapping) else entry)


def _named_volumes(services: Mapping[str, Any]) -> set[str]:
    mounts = [mount for service in services.values() for mount in service.get("volumes", [])]
    return {mount.split(":")[0] for mount in mounts if isinstance(mount, str)}


def _external(services: Mapping[str, Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """All secrets that the services mount; the overlay gives another name to one that was rotated."""
    used = {_source(secret) for service in services.values() for secret in service.get("secrets", [])}
    if unknown := named.keys() - used:
        unused = ", ".join(sorted(unknown))
        raise StackError(f"the overlay names the secrets {unused}, which no service uses", "Take them away.")
    return {
        name: {"external": True, "name": f"{_SECRETS_BEGIN_WITH}{name}"} | (named.get(name) or {})
        for name in sorted(used)
    }
