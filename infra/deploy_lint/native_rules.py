"""What containers and the native stack must agree on: each process is told the same by both.

A setting that is added to `infra/native/topology.py` alone would leave the containers without it, and the other way
round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from native.layout import Layout
from native.leftovers import PROCESS_MARK, STATE_MARK
from native.process import Tier
from native.settings import StackSettings
from native.topology import SERVICES, Topology
from rules import Breach

from .environment import environment_of, filled_in

OF_THE_IMAGE: Final = frozenset({"SERVICE_NAME", "HTTP_HOST", "HTTP_PORT", "DATABASE_PORT", "REDIS_PORT"})
"""What a container has from its image, or by default since no two containers share a port."""

OF_THE_HEALTHCHECK: Final = frozenset({"HEALTH_URL", "HEALTH_FILE"})
"""What only a container's healthcheck reads; natively, an API is asked from outside."""

_OF_THE_MACHINE = frozenset({"PATH", "HOME", "LANG", "TZ", "PYTHONUNBUFFERED", STATE_MARK, PROCESS_MARK})
_DIFFERS = re.compile(r"_(HOST|PORT|URL|BASE|SERVERS|DIR|FILE)$")


def processes_are_told_what_they_are_natively(compose: Mapping[str, Any]) -> Iterator[Breach]:
    """Names in both; values too, where they are no address and no path."""
    for name, native in _native_environments().items():
        service = compose["services"].get(name)
        if service is None:
            continue  # another rule says so
        there = environment_of(service)
        for missing in sorted(native.keys() - there.keys() - OF_THE_IMAGE - OF_THE_HEALTHCHECK):
            yield Breach(
                f"{name}.{missing}",
                "the native stack tells it this, the compose file does not",
                "Add it to the service's environment.",
            )
        for unknown in sorted(there.keys() - native.keys() - OF_THE_HEALTHCHECK):
            yield Breach(
                f"{name}.{unknown}",
                "the compose file tells it this, the native stack does not",
                "Add it to infra/native/topology.py, or take it away here.",
            )
        for key in sorted(native.keys() & there.keys()):
            if not _DIFFERS.search(key) and filled_in(there[key]) != native[key]:
                yield Breach(
                    f"{name}.{key}",
                    f"it is {filled_in(there[key])} here and {native[key]} in the native stack",
                    "Let both say the same.",
                )


def _native_environments() -> dict[str, dict[str, str]]:
    # Defaults, whatever this shell or .env says; nothing is read from the folder.
    topology = Topology(Layout(Path("/nowhere")), 18000, StackSettings.model_construct())
    environments = {
        process.name: dict(process.env) for process in topology.processes() if process.tier is not Tier.STORE
    }
    environments |= {f"{service}-migrate": topology.migration_env(service) for service in SERVICES}
    return {
        name: {key: value for key, value in environment.items() if key not in _OF_THE_MACHINE}
        for name, environment in environments.items()
    }
