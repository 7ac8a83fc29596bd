"""One service of docker-compose.yaml in the words of Docker Swarm.

`docker stack deploy` refuses some of what Compose knows and leaves out other parts with a warning or without a word
(`tmpfs` is one: the container would find nothing writable), so every key is either kept, translated, or left out here
for a reason that is written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from native.errors import StackError

Service = dict[str, Any]

KEPT: Final = frozenset(
    {
        "cap_drop", "command", "entrypoint", "environment", "healthcheck", "image", "init", "logging", "read_only",
        "secrets", "stop_grace_period", "stop_signal", "user", "volumes",
    }
)  # fmt: skip
"""What means the same in both."""

TRANSLATED: Final = frozenset({"mem_limit", "restart", "shm_size", "tmpfs"})

LEFT_OUT: Final = {
    "build": "the stack runs what was published",
    "depends_on": "Swarm starts everything at once: what is not there yet is tried again (infra/stack/README.md)",
    "ports": "they are for people at this machine; the ingress is the only door",
    "security_opt": "Swarm has it for a whole engine alone: no-new-privileges in daemon.json (infra/stack/README.md)",
}

_UNITS = {"k": 1024, "m": 1024**2, "g": 1024**3}


def to_swarm(name: str, service: Mapping[str, Any]) -> Service:
    """`service` as the stack file has it. Raises StackError for a key that nobody has decided about."""
    if unknown := service.keys() - KEPT - TRANSLATED - LEFT_OUT.keys():
        raise StackError(
            f"docker-compose.yaml: {name} has {', '.join(sorted(unknown))}, and nothing says what that is in a stack",
            "Decide in infra/stack/dialect.py: kept, translated or left out. `docker stack config` says what it takes.",
        )
    swarm: Service = {key: value for key, value in service.items() if key in KEPT}
    swarm["deploy"] = _deploy(service)
    if mounts := [*service.get("volumes", []), *_memory_folders(service)]:
        swarm["volumes"] = mounts
    return swarm


def is_one_shot(service: Mapping[str, Any]) -> bool:
    """Whether a service of docker-compose.yaml is a step that ends."""
    return service.get("restart") == "no"


def _deploy(service: Mapping[str, Any]) -> Service:
    deploy: Service = {"resources": {"limits": {"memory": service["mem_limit"]}}} if "mem_limit" in service else {}
    if is_one_shot(service):
        # A job: run to its end at each deploy, tried again until what it needs is there.
        return deploy | {"mode": "replicated-job", "restart_policy": {"condition": "on-failure", "delay": "5s"}}
    return deploy | {"replicas": 1, "restart_policy": {"condition": "any", "delay": "5s"}}


def _memory_folders(service: Mapping[str, Any]) -> list[Service]:
    folders: list[Service] = [{"type": "tmpfs", "target": target} for target in service.get("tmpfs", [])]
    if size := str(service.get("shm_size", "")):
        size_bytes = int(size[:-1]) * _UNITS[size[-1]]
        folders.append({"type": "tmpfs", "target": "/dev/shm", "tmpfs": {"size": size_bytes}})
    return folders
