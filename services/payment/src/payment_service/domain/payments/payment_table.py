"""Payments as rows. Every arrow of the state machine is one compare-and-set statement here, and nowhere else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, RowMapping, and_, case, func, literal, null, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service_platform.database import Transaction

from .errors import PaymentNotFound
from .models import Declined, NotDecidable, Outcome, Payment, PaymentStatus, Settled
from .tables import payments

OPEN: Final = payments.c.status.in_([PaymentStatus.CREATED, PaymentStatus.PROCESSING, PaymentStatus.CONFIRMING])
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
    """The transitions. A transition that finds another state than it needs changes nothing."""

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
            .where(OPEN, payments.c.created_at < func.platform_now() - open_for)
            .values(**_under_review(reason))
            .returning(payments)
        )
        return [Payment(**row) for row in (await tx.session.execute(statement)).mappings()]

    async def lock(self, payment_id: UUID, tx: Transaction) -> Payment | None:
        """The payment, with its row locked until `tx` ends."""
        statement = select(payments).where(payments.c.id == payment_id).with_for_update()
        return _one((await tx.session.execute(statement)).mappings().one_or_none())

    async def find(self, payment_id: UUID, session: AsyncSession) -> Payment | None:
        """The payment as `session` sees it, unlocked."""
        statement = select(payments).where(payments.c.id == payment_id)
        return _one((await session.execute(statement)).mappings().one_or_none())

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
