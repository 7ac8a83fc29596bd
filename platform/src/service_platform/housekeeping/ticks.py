"""When housekeeping is done."""

from __future__ import annotations

from service_platform.ticks import JobTicks, Tick

from .kinds import PurgePayload, purge_kind
from .purges import PURGES


def housekeeping_ticks(service: str) -> JobTicks:
    """The ticks that every service has."""
    return tuple(
        Tick(
            name=purge.name,
            cron=purge.cron,
            kind=purge_kind(service, purge),
            payload=PurgePayload(),
            missed=purge.missed,
        )
        for purge in PURGES
    )
