"""The jobs of this capability."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict

from service_platform.jobs import JobKind


class ExpireOrdersPayload(BaseModel):
    """Nothing: which orders are overdue shows when the job runs."""

    model_config = ConfigDict(frozen=True)


EXPIRE_ORDERS: Final = JobKind(
    name="order.expire-orders",
    payload=ExpireOrdersPayload,
    lease_seconds=15,
    deadline_seconds=120,
    # The next tick does the same work, so this one need not try for long.
    max_claims=5,
)
