"""The payments table. Every arrow of the state machine is one compare-and-set statement here, and nowhere else.

Bounds of values, and which columns each state needs, are CHECK constraints of the migrations.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    DateTime,
    Enum,
    Index,
    MetaData,
    RowMapping,
    Table,
    Text,
    Uuid,
    and_,
    case,
    func,
    literal,
    null,
    or_,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction

from .errors import PaymentNotFound
from .models import Declined, NotDecidable, Outcome, Payment, PaymentStatus, Settled

metadata: Final = MetaData()

_STATUS: Final = Enum(PaymentStatus, native_enum=False, length=16, values_callable=lambda statuses: [*statuses])

payments: Final = Table(
    "payments",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("order_id", Uuid, nullable=False, unique=True),
    Column("status", _STATUS, nullable=False),
    Column("amount_minor", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("payment_method", Text, nullable=False),
    Column("intent_id", Text, unique=True),
    Column("reason", Text),
    Column("cancel_requested_at", DateTime(timezone=True)),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=text("platform_now()")),
    Column("concluded_at", DateTime(timezone=True)),
    Column("refund_reserved_minor", BigInteger, nullable=False, server_default=text("0")),
    Column("refunded_minor", BigInteger, nullable=False, server_default=text("0")),
    Column("concluded_as", _STATUS),
    Column("contested_intent", Text),
    Column("under_review_since", DateTime(timezone=True)),
    Column("resolved_at", DateTime(timezone=True)),
    Index("payments_by_age", "created_at", "id"),
    Index("payments_under_review", "created_at", "id", postgresql_where=text("status = 'needs_review'")),
    Index(
        "payments_open",
        "created_at",
        postgresql_where=text("status IN ('created', 'processing', 'confirming')"),
    ),
)

_OPEN: Final = payments.c.status.in_([PaymentStatus.CREATED, PaymentStatus.PROCESSING, PaymentStatus.CONFIRMING])
_CONCLUDED: Final = frozenset({PaymentStatus.SETTLED, PaymentStatus.DECLINED, PaymentStatus.CANCELLED})
_NEVER_CONFIRMED: Final = or_(
    payments.c.status.in_([PaymentStatus.CREATED, PaymentStatus.PROCESSING]),
    # What the provider refused before there was an intent.
    and_(
        payments.c.status == PaymentStatus.NEEDS_REVIEW,
        payments.c.intent_id.is_(None),
        payments.c.concluded_at.is_(None),
    ),
)

# ISO 4217 for "no currency": of an order that was cancelled before its payment was opened, nothing else is known.
_NO_CURRENCY: Final = "XXX"


class PaymentTable:
    """The transitions, and reads. A transition that finds another state than it needs changes nothing."""

    async def insert(
        self,
        payment_id: UUID,
        *,
        order_id: UUID,
        amount_minor: int,
        currency: str,
        payment_method: str,
        settled: bool,
        tx: Transaction,
    ) -> Payment | None:
        """A new payment, `settled` at once or `created`. None where the order has one already."""
        statement = (
            insert(payments)
            .values(
                id=payment_id,
                order_id=order_id,
                amount_minor=amount_minor,
                currency=currency,
                payment_method=payment_method,
                status=PaymentStatus.SETTLED if settled else PaymentStatus.CREATED,
                concluded_at=func.platform_now() if settled else None,
            )
            .on_conflict_do_nothing(index_elements=[payments.c.order_id])
            .returning(payments)
        )
        return _one((await tx.session.execute(statement)).mappings().one_or_none())

    async def start(self, payment_id: UUID, tx: Transaction) -> Payment:
        """created → processing. The payment as it stands afterwards, moved or not."""
        moved = await self._move(
            tx, payment_id, payments.c.status == PaymentStatus.CREATED, status=PaymentStatus.PROCESSING
        )
        return moved or await self._expect(payment_id, tx)

    async def keep_intent(self, payment_id: UUID, intent_id: str, tx: Transaction) -> None:
        """Make `intent_id` the payment's intent, for ever; nothing where it has one already."""
        await self._move(tx, payment_id, payments.c.intent_id.is_(None), intent_id=intent_id)

    async def enter_confirming(self, payment_id: UUID, tx: Transaction) -> tuple[Payment, bool]:
        """processing → confirming where an intent is stored and no cancel is recorded.

        The payment as it stands afterwards, and whether this call moved it. After the commit of a move money may
        move, so a cancel takes the same row first or comes too late.
        """
        ready = (
            (payments.c.status == PaymentStatus.PROCESSING)
            & payments.c.intent_id.is_not(None)
            & payments.c.cancel_requested_at.is_(None)
        )
        moved = await self._move(tx, payment_id, ready, status=PaymentStatus.CONFIRMING)
        return (moved, True) if moved else (await self._expect(payment_id, tx), False)

    async def cancel(self, order_id: UUID, tx: Transaction) -> Payment | None:
        """Record that the order is cancelled. Where nothing was ever confirmed, that makes its payment cancelled.

        The payment as it stands afterwards; None where a cancel had been recorded before. An order that has no payment
        yet gets one of no amount, cancelled: whoever opens it later finds it. The unique order id lets the two wait
        for each other.
        """
        return (
            await self._record_cancel(order_id, tx)
            or await self._insert_cancelled(order_id, tx)
            or await self._record_cancel(order_id, tx)
        )

    async def _record_cancel(self, order_id: UUID, tx: Transaction) -> Payment | None:
        statement = (
            update(payments)
            .where(payments.c.order_id == order_id, payments.c.cancel_requested_at.is_(None))
            .values(
                cancel_requested_at=func.platform_now(),
                status=case((_NEVER_CONFIRMED, _status(PaymentStatus.CANCELLED)), else_=payments.c.status),
                reason=case((_NEVER_CONFIRMED, null()), else_=payments.c.reason),
                concluded_at=case((_NEVER_CONFIRMED, func.platform_now()), else_=payments.c.concluded_at),
            )
            .returning(payments)
        )
        return _one((await tx.session.execute(statement)).mappings().one_or_none())

    async def _insert_cancelled(self, order_id: UUID, tx: Transaction) -> Payment | None:
        statement = (
            insert(payments)
            .values(
                id=uuid4(),
                order_id=order_id,
                amount_minor=0,
                currency=_NO_CURRENCY,
                payment_method="none",
                status=PaymentStatus.CANCELLED,
                cancel_requested_at=func.platform_now(),
                concluded_at=func.platform_now(),
            )
            .on_conflict_do_nothing(index_elements=[payments.c.order_id])
            .returning(payments)
        )
        return _one((await tx.session.execute(statement)).mappings().one_or_none())

    async def conclude(
        self,
        payment_id: UUID,
        outcome: Outcome,
        *,
        intent_id: str | None,
        tx: Transaction,
        from_review: bool = False,
    ) -> Payment | None:
        """confirming → the outcome's state, by a final answer for the stored intent `intent_id`.

        With `intent_id` None: from processing while no intent is stored, for what ended before anything could be
        confirmed. `from_review`: also from needs_review, if it was never concluded. What was declined where a cancel is
        recorded is cancelled. None where the payment is not (any more) in that state: someone else concluded it.
        """
        if intent_id is None:
            open_for_it = (payments.c.status == PaymentStatus.PROCESSING) & payments.c.intent_id.is_(None)
        else:
            undecided = payments.c.status == PaymentStatus.CONFIRMING
            if from_review:
                reviewed = (payments.c.status == PaymentStatus.NEEDS_REVIEW) & payments.c.concluded_at.is_(None)
                undecided = or_(undecided, reviewed)
            open_for_it = undecided & (payments.c.intent_id == intent_id)
        values: dict[str, Any]
        match outcome:
            case Settled():
                values = {"status": PaymentStatus.SETTLED, "reason": None, "concluded_at": func.platform_now()}
            case Declined(reason):
                cancelled = payments.c.cancel_requested_at.is_not(None)
                values = {
                    "status": case(
                        (cancelled, _status(PaymentStatus.CANCELLED)), else_=_status(PaymentStatus.DECLINED)
                    ),
                    "reason": case((cancelled, null()), else_=literal(reason)),
                    "concluded_at": func.platform_now(),
                }
            case NotDecidable(reason):
                values = _under_review(reason)
        return await self._move(tx, payment_id, open_for_it, **values)

    async def put_under_review(
        self,
        payment_id: UUID,
        reason: str,
        *,
        expected: PaymentStatus,
        tx: Transaction,
        contested_intent: str | None = None,
    ) -> Payment | None:
        """`expected` → needs_review, for what the provider's ledger says otherwise than this table.

        `contested_intent`: the intent that captured and is not the payment's own.
        """
        values = _under_review(reason) | {"concluded_as": expected if expected in _CONCLUDED else None}
        if contested_intent is not None:
            values["contested_intent"] = contested_intent
        return await self._move(tx, payment_id, payments.c.status == expected, **values)

    async def resolve(self, seen: Payment, *, settled: bool, reason: str, tx: Transaction) -> Payment | None:
        """needs_review → what a person decided: settled, or else what it had been concluded as, or declined.

        `seen` is the payment by which the ledger was judged: where anything of that is another by now, nothing changes
        and None comes back. A cancel may have been recorded meanwhile; a payment that was never concluded is cancelled
        by it. `reason` is that of a declined one.
        """
        unchanged = and_(
            payments.c.status == PaymentStatus.NEEDS_REVIEW,
            payments.c.reason == seen.reason,
            payments.c.under_review_since == seen.under_review_since,
            payments.c.intent_id.is_not_distinct_from(seen.intent_id),
            payments.c.concluded_as.is_not_distinct_from(seen.concluded_as),
            payments.c.contested_intent.is_not_distinct_from(seen.contested_intent),
        )
        by_cancel = payments.c.cancel_requested_at.is_not(None)
        to: dict[str, Any]
        if settled:
            to = {"status": PaymentStatus.SETTLED, "reason": None}
        elif seen.concluded_as is not None:
            to = {
                "status": seen.concluded_as,
                "reason": reason if seen.concluded_as is PaymentStatus.DECLINED else None,
            }
        else:
            to = {
                "status": case((by_cancel, _status(PaymentStatus.CANCELLED)), else_=_status(PaymentStatus.DECLINED)),
                "reason": case((by_cancel, null()), else_=literal(reason)),
            }
        return await self._move(
            tx,
            seen.id,
            unchanged,
            **to,
            concluded_at=func.coalesce(payments.c.concluded_at, func.platform_now()),
            concluded_as=None,
            resolved_at=func.platform_now(),
        )

    async def give_up(self, open_for: timedelta, reason: str, tx: Transaction) -> list[Payment]:
        """created | processing | confirming → needs_review for those that have been open longer than `open_for`."""
        statement = (
            update(payments)
            .where(_OPEN, payments.c.created_at < func.platform_now() - open_for)
            .values(**_under_review(reason))
            .returning(payments)
        )
        return [Payment(**row) for row in (await tx.session.execute(statement)).mappings()]

    async def lock(self, payment_id: UUID, tx: Transaction) -> Payment | None:
        """The payment, with its row locked until `tx` ends."""
        statement = select(payments).where(payments.c.id == payment_id).with_for_update()
        return _one((await tx.session.execute(statement)).mappings().one_or_none())

    async def of_intents(
        self, intent_ids: Collection[str], payment_ids: Collection[UUID], session: AsyncSession
    ) -> list[Payment]:
        """The payments that have stored one of the intents, or have one of the ids."""
        known = or_(payments.c.intent_id.in_(intent_ids), payments.c.id.in_(payment_ids))
        return [Payment(**row) for row in (await session.execute(select(payments).where(known))).mappings()]

    async def to_look_at(self, session: AsyncSession, *, open_for: timedelta, at_most: int) -> list[str]:
        """The stored intents of the oldest payments that have been open for longer than `open_for`, or need review
        without ever having been concluded.
        """
        overdue = _OPEN & (payments.c.created_at < func.platform_now() - open_for)
        reviewed = (payments.c.status == PaymentStatus.NEEDS_REVIEW) & payments.c.concluded_at.is_(None)
        statement = select(payments.c.intent_id).where(payments.c.intent_id.is_not(None), or_(overdue, reviewed))
        rows = await session.execute(statement.order_by(payments.c.created_at).limit(at_most))
        return [str(intent_id) for intent_id in rows.scalars()]

    async def stored_between(self, session: AsyncSession, *, since: datetime, until: datetime) -> list[str]:
        """The stored intents of the payments that were made in that time."""
        made = payments.c.created_at.between(since, until)
        rows = await session.execute(select(payments.c.intent_id).where(made, payments.c.intent_id.is_not(None)))
        return [str(intent_id) for intent_id in rows.scalars()]

    async def find(self, payment_id: UUID, session: AsyncSession) -> Payment | None:
        """The payment as `session` sees it, unlocked."""
        statement = select(payments).where(payments.c.id == payment_id)
        return _one((await session.execute(statement)).mappings().one_or_none())

    async def under_review(
        self, after: tuple[datetime, UUID] | None, limit: int, session: AsyncSession
    ) -> list[Payment]:
        """Up to `limit` payments that need review, the oldest first, from after the position (created at, id)."""
        statement = select(payments).where(payments.c.status == PaymentStatus.NEEDS_REVIEW)
        statement = statement.order_by(payments.c.created_at, payments.c.id).limit(limit)
        if after is not None:
            statement = statement.where(tuple_(payments.c.created_at, payments.c.id) > tuple_(*after))
        return [Payment(**row) for row in (await session.execute(statement)).mappings()]

    async def newest(self, before: tuple[datetime, UUID] | None, limit: int, session: AsyncSession) -> list[Payment]:
        """Up to `limit` payments, newest first, from before the position (created at, id)."""
        statement = select(payments).order_by(payments.c.created_at.desc(), payments.c.id.desc()).limit(limit)
        if before is not None:
            statement = statement.where(tuple_(payments.c.created_at, payments.c.id) < tuple_(*before))
        return [Payment(**row) for row in (await session.execute(statement)).mappings()]

    async def _move(
        self, tx: Transaction, payment_id: UUID, expected: ColumnElement[bool], **values: Any
    ) -> Payment | None:
        statement = update(payments).where(payments.c.id == payment_id, expected).values(**values).returning(payments)
        return _one((await tx.session.execute(statement)).mappings().one_or_none())

    async def _expect(self, payment_id: UUID, tx: Transaction) -> Payment:
        payment = await self.find(payment_id, tx.session)
        if payment is None:
            raise PaymentNotFound(payment_id)
        return payment


def _under_review(reason: str) -> dict[str, Any]:
    return {"status": PaymentStatus.NEEDS_REVIEW, "reason": reason, "under_review_since": func.platform_now()}


def _status(status: PaymentStatus) -> ColumnElement[Any]:
    return literal(status, payments.c.status.type)


def _one(row: RowMapping | None) -> Payment | None:
    return Payment(**row) if row is not None else None
