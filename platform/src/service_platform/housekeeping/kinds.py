"""The job kinds of housekeeping, one a purge and service."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from service_platform.jobs import JobKind

from .purges import Purge


class PurgePayload(BaseModel):
    """Nothing: what is to be deleted shows in the database."""

    model_config = ConfigDict(frozen=True)


def purge_kind(service: str, purge: Purge) -> JobKind[PurgePayload]:
    """The kind of the jobs that run `purge` in `service`. One that fails is tried a few times: the next tick comes."""
    return JobKind(name=f"{service}.{purge.name}", payload=PurgePayload, max_claims=3, backoff_limit_seconds=30)
