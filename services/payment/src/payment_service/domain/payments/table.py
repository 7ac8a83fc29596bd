"""The payments table. Every arrow of the state machine is one compare-and-set statement here, and nowhere else.

Bounds of values, and which columns each state needs, are CHECK constraints of the migrations.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

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
    func,
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

payments: Final = Table(
    "payments",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("order_id", Uuid, nullable=False, unique=True),
    Column(
        "status",
        Enum(PaymentStatus, native_enum=False, length=16, values_callable=lambda statuses: [*statuses]),
        nullable=False,
    ),
    Column("amount_minor", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("payment_method", Text, nullable=False),
    Column("intent_id", Text, unique=True),
    Column("reason", Text),
    Column("cancel_requested_at", DateTime(timezone=True)),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=text("platform_now()")),
    Column("concluded_at", DateTime(timezone=True)),
    Index("payments_by_age", "created_at", "id"),
)


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

    async def conclude(
        self, payment_id: UUID, outcome: Outcome, *, intent_id: str | None, tx: Transaction
    ) -> Payment | None:
        """confirming → the outcome's state, by a final answer for the stored intent `intent_id`.

        With `intent_id` None: from processing while no intent is stored, for what ended before anything could be
        confirmed. None where the payment is not (any more) in that state: someone else concluded it.
        """
        if intent_id is None:
            open_for_it = (payments.c.status == PaymentStatus.PROCESSING) & payments.c.intent_id.is_(None)
        else:
            open_for_it = (payments.c.status == PaymentStatus.CONFIRMING) & (payments.c.intent_id == intent_id)
        values: dict[str, Any]
        match outcome:
            case Settled():
                values = {"status": PaymentStatus.SETTLED, "concluded_at": func.platform_now()}
            case Declined(reason):
                values = {"status": PaymentStatus.DECLINED, "reason": reason, "concluded_at": func.platform_now()}
            case NotDecidable(reason):
                values = {"status": PaymentStatus.NEEDS_REVIEW, "reason": reason}
        return await self._move(tx, payment_id, open_for_it, **values)

    async def find(self, payment_id: UUID, session: AsyncSession) -> Payment | None:
        """The payment as `session` sees it, unlocked."""
        statement = select(payments).where(payments.c.id == payment_id)
        return _one((await session.execute(statement)).mappings().one_or_none())

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


def _one(row: RowMapping | None) -> Payment | None:
    return Payment(**row) if row is not None else None
