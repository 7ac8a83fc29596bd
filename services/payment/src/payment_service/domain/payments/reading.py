"""Lists of payments and refunds, unlocked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import func, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from .models import Payment, PaymentStatus
from .payment_table import OPEN
from .refund_models import Refund, RefundStatus
from .tables import payments, refunds


async def newest_payments(before: tuple[datetime, UUID] | None, limit: int, session: AsyncSession) -> list[Payment]:
    """Up to `limit` payments, newest first, from before the position (created at, id)."""
    statement = select(payments).order_by(payments.c.created_at.desc(), payments.c.id.desc()).limit(limit)
    if before is not None:
        statement = statement.where(tuple_(payments.c.created_at, payments.c.id) < tuple_(*before))
    return [Payment(**row) for row in (await session.execute(statement)).mappings()]


async def payments_under_review(
    after: tuple[datetime, UUID] | None, limit: int, session: AsyncSession
) -> list[Payment]:
    """Up to `limit` payments that need review, the oldest first, from after the position (created at, id)."""
    statement = select(payments).where(payments.c.status == PaymentStatus.NEEDS_REVIEW)
    statement = statement.order_by(payments.c.created_at, payments.c.id).limit(limit)
    if after is not None:
        statement = statement.where(tuple_(payments.c.created_at, payments.c.id) > tuple_(*after))
    return [Payment(**row) for row in (await session.execute(statement)).mappings()]


async def payments_of_intents(
    intent_ids: Collection[str], payment_ids: Collection[UUID], session: AsyncSession
) -> list[Payment]:
    """The payments that have stored one of the intents, or have one of the ids."""
    known = or_(payments.c.intent_id.in_(intent_ids), payments.c.id.in_(payment_ids))
    return [Payment(**row) for row in (await session.execute(select(payments).where(known))).mappings()]


async def intents_to_look_at(session: AsyncSession, *, open_for: timedelta, at_most: int) -> list[str]:
    """The stored intents of the oldest payments that have been open for longer than `open_for`, or need review
    without ever having been concluded.
    """
    overdue = OPEN & (payments.c.created_at < func.platform_now() - open_for)
    reviewed = (payments.c.status == PaymentStatus.NEEDS_REVIEW) & payments.c.concluded_at.is_(None)
    statement = select(payments.c.intent_id).where(payments.c.intent_id.is_not(None), or_(overdue, reviewed))
    rows = await session.execute(statement.order_by(payments.c.created_at).limit(at_most))
    return [str(intent_id) for intent_id in rows.scalars()]


async def intents_stored_between(session: AsyncSession, *, since: datetime, until: datetime) -> list[str]:
    """The stored intents of the payments that were made in that time."""
    made = payments.c.created_at.between(since, until)
    rows = await session.execute(select(payments.c.intent_id).where(made, payments.c.intent_id.is_not(None)))
    return [str(intent_id) for intent_id in rows.scalars()]


async def newest_refunds(
    payment_id: UUID, before: tuple[datetime, UUID] | None, limit: int, session: AsyncSession
) -> list[Refund]:
    """Up to `limit` refunds of a payment, newest first, from before the position (created at, id)."""
    statement = select(refunds).where(refunds.c.payment_id == payment_id)
    statement = statement.order_by(refunds.c.created_at.desc(), refunds.c.id.desc()).limit(limit)
    if before is not None:
        statement = statement.where(tuple_(refunds.c.created_at, refunds.c.id) < tuple_(*before))
    return [Refund(**row) for row in (await session.execute(statement)).mappings()]


async def refunds_under_review(
    after: tuple[datetime, UUID] | None, limit: int, session: AsyncSession
) -> list[tuple[Refund, str]]:
    """Up to `limit` refunds that need review, each with its currency, the oldest first, after the position."""
    statement = select(refunds, payments.c.currency).join(payments, refunds.c.payment_id == payments.c.id)
    statement = statement.where(refunds.c.status == RefundStatus.NEEDS_REVIEW)
    statement = statement.order_by(refunds.c.created_at, refunds.c.id).limit(limit)
    if after is not None:
        statement = statement.where(tuple_(refunds.c.created_at, refunds.c.id) > tuple_(*after))
    rows = [dict(row) for row in (await session.execute(statement)).mappings()]
    return [(Refund(**{name: row[name] for name in row if name != "currency"}), row["currency"]) for row in rows]


async def refunds_by_reference(references: Sequence[str], session: AsyncSession) -> dict[str, Refund]:
    """Those that have one of the provider's `references`, by it."""
    statement = select(refunds).where(refunds.c.provider_reference.in_(references))
    found = [Refund(**row) for row in (await session.execute(statement)).mappings()]
    return {refund.provider_reference: refund for refund in found if refund.provider_reference is not None}


async def intents_of_waiting_refunds(session: AsyncSession, *, longer_than: timedelta, at_most: int) -> list[str]:
    """The intents of the payments whose refunds have waited longest, above `longer_than`, for a final answer."""
    since = func.min(refunds.c.created_at)
    statement = (
        select(payments.c.intent_id)
        .join(refunds, refunds.c.payment_id == payments.c.id)
        .where(refunds.c.status == RefundStatus.RESERVED, refunds.c.created_at < func.platform_now() - longer_than)
        .group_by(payments.c.intent_id)
        .order_by(since)
        .limit(at_most)
    )
    return [str(intent_id) for intent_id in (await session.execute(statement)).scalars()]
