"""Who called what, with which input, and what came of it: one row a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

import orjson
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction
from service_platform.errors import storable
from service_platform.pagination import PageRequest

from .operator import Operator, Via

Outcome = Literal["done", "refused", "failed"]

_INSERT = text(
    """
    INSERT INTO operator_audit (id, at, actor, via, action, input, outcome, detail, correlation_id)
    VALUES (
        :id, platform_now(), :actor, :via, :action, CAST(:input AS jsonb), :outcome, :detail, :correlation_id
    )
    ON CONFLICT (id) DO NOTHING
    """
)
_NEWEST = text(
    """
    SELECT id, at, actor, via, action, input, outcome, detail, correlation_id FROM operator_audit
    WHERE (CAST(:actor AS text) IS NULL OR actor = :actor)
      AND (CAST(:action AS text) IS NULL OR action = :action)
      AND (CAST(:outcome AS text) IS NULL OR outcome = :outcome)
      AND (CAST(:at AS timestamptz) IS NULL OR (at, id) < (:at, CAST(:id AS uuid)))
    ORDER BY at DESC, id DESC
    LIMIT :rows
    """
)


class AuditEntry(BaseModel):
    """One call of an operator action. `detail` says what came of it: a count, the refusal, the error."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    id: Annotated[UUID, Field(examples=["0b9b8f0e-7d0c-4b53-9c1e-0f7f6d0b5a11"])]
    at: Annotated[datetime, Field(examples=["2026-03-01T09:30:00Z"])]
    actor: Annotated[str, Field(examples=["jane"])]
    via: Annotated[Via, Field(examples=["command"])]
    action: Annotated[str, Field(examples=["audit list"])]
    outcome: Annotated[Outcome, Field(examples=["done"])]
    detail: Annotated[str, Field(examples=["20 items"])]
    input: Annotated[dict[str, Any], Field(examples=[{"limit": 20}])]
    correlation_id: Annotated[str, Field(examples=["9d4c6f5d0f0b4c0c8a1f3f0a9f1e2d3c"])]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an action. Its id is the id of its audit row, so that it has one row, whatever becomes of it."""

    operator: Operator
    action: str
    input: Mapping[str, Any]
    correlation_id: str
    id: UUID = field(default_factory=uuid4)


async def record(call: Call, outcome: Outcome, detail: str, tx: Transaction) -> None:
    """Write the call's audit row in `tx`. One that is there already stays as it is."""
    await tx.session.execute(
        _INSERT,
        {
            "id": call.id,
            "actor": call.operator.actor,
            "via": call.operator.via,
            "action": call.action,
            "input": orjson.dumps(call.input).decode(),
            "outcome": outcome,
            "detail": storable(detail),
            "correlation_id": call.correlation_id,
        },
    )


async def audit_entries(
    session: AsyncSession,
    page: PageRequest,
    *,
    actor: str | None = None,
    action: str | None = None,
    outcome: Outcome | None = None,
) -> Sequence[AuditEntry]:
    """The newest calls, after the page's position: up to `rows_to_read` of them."""
    at, last = page.after or (None, None)
    rows = await session.execute(
        _NEWEST,
        {
            "actor": actor,
            "action": action,
            "outcome": outcome,
            "at": at,
            "id": last,
            "rows": page.rows_to_read,
        },
    )
    return [AuditEntry.model_validate(row) for row in rows]
